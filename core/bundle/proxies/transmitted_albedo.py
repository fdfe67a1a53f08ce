"""The transmitted albedo: the mean share of light from below that passes, as one small texture.

It is integrated as the albedo is, over mirrored directions (core/material/sides.py): there the
learned frames have the highlights of the transmitted side.
"""

from __future__ import annotations

import numpy as np

from verdigris.core.base.array_types import Doubles, Floats
from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.proxies.lobes import learned_frames, light_counts
from verdigris.core.bundle.proxies.make_proxies import (
    AlbedoError,
    RespondAt,
    choose_size,
    compare_albedo,
    find_own_shares,
    level_centres,
    level_sizes,
    numpy_respond_at,
    own_sums,
)
from verdigris.core.bundle.proxies.proxy_texture import OPAQUE, TransmittedAlbedo, encode_srgb
from verdigris.core.bundle.proxies.quadrature import LightTask, Respond, polar
from verdigris.core.material.sides import density_of_passed, passed, passes
from verdigris.core.network.parameters import Parameters

# Views of a place and lights of each view: when the texture is made, and when it is checked.
_VIEWS, _LIGHTS = 16, 32
_CHECKED_PLACES, _CHECKED_VIEWS, _CHECKED_LIGHTS = 32, 32, 64
# numpy draws the lights, also for devices: some tenths of a second.
_MOST_EVALUATIONS = 1 << 20
_GOLDEN = (5**0.5 - 1) / 2
_LEAST_DENSITY = 1e-6
_SEED = 5_103


@profiled("make transmitted albedo")
def make_transmitted_albedo(
    parameters: Parameters, respond_at: RespondAt, evaluations: int
) -> TransmittedAlbedo:
    """The texture, as fine as this number of evaluations allows. `respond_at` answers for light
    from both sides."""
    most = min(evaluations, _MOST_EVALUATIONS) // (_VIEWS * _LIGHTS)
    coarser = choose_size(parameters.layout, most)
    random, levels = np.random.default_rng(_SEED), []
    for number, (height, width) in enumerate(level_sizes(parameters.layout, coarser)):
        lod, centres = float(np.log2(coarser)) + number, level_centres(height, width)
        share = passing_share(parameters, respond_at(lod), centres, lod, random)
        texels = np.full((height, width, 4), OPAQUE, np.uint8)
        texels[..., :3] = encode_srgb(share).reshape(height, width, 3)
        levels.append(texels)
    return TransmittedAlbedo(levels, coarser)


@profiled("check transmitted albedo")
def check_transmitted_albedo(parameters: Parameters, stored: TransmittedAlbedo) -> AlbedoError:
    """Compares the texture with the numpy decoder, at the same places on every machine: centres of
    texels of the finest level and, for a quarter, of any level."""
    random, count = np.random.default_rng(_SEED + 1), _CHECKED_PLACES
    levels = random.integers(0, len(stored.levels), count)
    levels[: 3 * count // 4] = 0
    sizes = np.array([level.shape[1::-1] for level in stored.levels])[levels]
    uv = ((np.floor(random.random((count, 2)) * sizes) + 0.5) / sizes).astype(np.float32)
    lods = np.log2(stored.texels_a_proxy) + levels
    wanted, respond_at = np.empty((count, 3)), numpy_respond_at(parameters)
    for lod in map(float, np.unique(lods)):
        there = lods == lod
        wanted[there] = passing_share(
            parameters, respond_at(lod), uv[there], lod, random, _CHECKED_VIEWS, _CHECKED_LIGHTS
        )
    return compare_albedo(stored.at(uv, lods), np.minimum(wanted, 1))


def passing_share(
    parameters: Parameters,
    respond: Respond,
    uv: Floats,
    lod: float,
    random: np.random.Generator,
    views: int = _VIEWS,
    lights: int = _LIGHTS,
) -> Doubles:
    """The share [N, 3] of uniform white light from below that passes at these places: the mean over
    views, each weighted by its cosine."""
    below, transmitted = parameters.sides[1], through(respond, parameters.index_below)
    count = len(uv)
    # equal steps of the squared cosine
    cosine = np.sqrt((np.arange(views) + 0.5) / views)
    turn = 2 * np.pi * (random.random((count, 1)) + _GOLDEN * np.arange(views))
    places = np.repeat(uv, views, axis=0)
    shares = find_own_shares(below, lambda _: transmitted, lod)
    task = LightTask(
        learned_frames(below, uv, np.full(count, lod, np.float32)).repeated(views),
        places,
        polar(cosine, turn).reshape(3, -1),
        random.random((2, len(places)), np.float32),
        np.zeros((3, len(places)), np.float32),
        light_counts(shares, lights),
    )
    found = own_sums(below, lod)(transmitted, task).albedo
    return np.asarray(found.reshape(count, views, 3).mean(1), np.float64)


def through(respond: Respond, index: float) -> Respond:
    """The response to light from below, by its mirrored direction. It is multiplied by the solid
    angle of the light that belongs to one of the mirrored direction, so that its integral over the
    upper hemisphere is the light that passes."""

    def transmitted(uv: Floats, mirrored: Floats, wo: Floats) -> Floats:
        above, view = mirrored.T, wo.T
        wi = passed(above, view, index)
        density = density_of_passed(wi, above, view, index)
        is_lit = (above[2] > 0) & (wi[2] < 0) & passes(above, view, index)
        solid = np.where(is_lit, 1 / np.maximum(density, _LEAST_DENSITY), 0)
        value = respond(uv, np.ascontiguousarray(wi.T, np.float32), wo)
        return np.asarray(value * solid[:, None], np.float32)

    return transmitted
