"""Makes the proxies of stored numbers, and measures energy, reciprocity and their own error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from verdigris.core.base.array_types import Doubles, Floats
from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.proxies.light_sums import deviation_of_sampler, sums_by_sampler
from verdigris.core.bundle.proxies.lobes import learned_frames, light_counts
from verdigris.core.bundle.proxies.proxy_texture import (
    VIEW_COSINES,
    AlbedoBasis,
    Proxies,
    ProxyValues,
    store_level,
)
from verdigris.core.bundle.proxies.quadrature import (
    Integrals,
    LightTask,
    Respond,
    SumLights,
    evaluations_of,
    find_shares,
    integrate,
    lights_of,
    polar,
    sum_lights,
)
from verdigris.core.network.latents.texels import texel_centres
from verdigris.core.network.numpy_mlp import evaluate_at_lod
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import LatentLayout

# The response at a footprint of 2^lod texels of the latents, as a function of place and directions.
RespondAt = Callable[[float], Respond]
# Least width of the latents, divided by that of the finest proxies.
_COARSER = 4
# Evaluations of the numpy decoder at once.
_AT_ONCE = 1 << 12
# Number of lights for a view. A CPU uses fewer, with twice the noise. A GPU computes lights faster
# than numpy prepares places.
FEWEST_LIGHTS, FEWEST_LIGHTS_ON_GPU, _MOST_LIGHTS = 20, 128, 512
# Up to this relative deviation of one light, the fewest lights suffice. With a larger one there are
# more lights and fewer texels, at most by the second number.
_CALM, _NOISIEST = 0.7, 4.0
_SEED = 5_101
# Places that the sampling lobes are fitted to.
_PILOT_PLACES = 96
# Turns of the view at places where the albedo is compared with a quadrature of its own.
_TURNS = 4
_LEAST_CHECKED_COSINE = 0.05
_DARK = 1e-3
# Places of a level where the albedo is largest.
_BRIGHTEST = 4
_ALPHAS = np.linspace(0.002, 0.999, 400)


@dataclass(frozen=True)
class AlbedoError:
    """Relative error of the directional albedo against quadrature, at places and views."""

    median: float
    percentile_90: float
    count: int
    """Places."""

    def as_json(self) -> dict[str, float]:
        return {"median": self.median, "percentile_90": self.percentile_90}


@dataclass(frozen=True)
class MadeProxies:
    """Proxies with what was measured beside them."""

    proxies: Proxies
    largest_albedo: float
    """Largest albedo by a quadrature at the brightest places, before it is limited to 1."""
    reciprocity: tuple[float, float]
    """Median and 90th percentile of the relative difference of the response with light and view
    exchanged."""


@profiled("make proxies")
def make_proxies(
    parameters: Parameters,
    respond_at: RespondAt,
    evaluations: int,
    sum_over: SumLights | None = None,
    fewest_lights: int = FEWEST_LIGHTS,
    seed: int = _SEED,
) -> MadeProxies:
    """Proxies that are as fine as this number of evaluations allows, with at least `fewest_lights`
    for each view. Without `sum_over`, lights come from the sampler, if there is one."""
    layout = parameters.layout
    if sum_over is None and parameters.head is not None:
        begin = float(np.log2(_COARSER))
        random = np.random.default_rng(seed)
        noise = deviation_of_sampler(parameters, respond_at(begin), begin, random)
        fewest_lights = round(fewest_lights * float(np.clip((noise / _CALM) ** 2, 1, _NOISIEST)))
    coarser = choose_size(layout, evaluations // evaluations_of(fewest_lights))
    sizes = level_sizes(layout, coarser)
    texels = sum(height * width for height, width in sizes)
    lights = int(np.clip(lights_of(evaluations // texels), fewest_lights, _MOST_LIGHTS))
    random = np.random.default_rng(seed)
    shares = find_own_shares(parameters, respond_at, float(np.log2(coarser)))
    levels, brightest, reciprocity = [], [], np.zeros(0)
    basis: AlbedoBasis | None = None
    for number, (height, width) in enumerate(sizes):
        centres, level = level_centres(height, width), float(np.log2(coarser)) + number
        frames = learned_frames(parameters, centres, np.full(len(centres), level, np.float32))
        over = sum_over or own_sums(parameters, level)
        found = integrate(respond_at(level), frames, centres, lights, random, shares, over)
        if basis is None:
            reciprocity = found.reciprocity
            basis = AlbedoBasis.of(np.minimum(found.albedo, 1))
        levels.append(store_level(_values(found, basis), height, width))
        brightest.append(_find_brightest(centres, level, found.albedo, basis))
    quantiles = np.quantile(reciprocity, (0.5, 0.9))
    both = float(quantiles[0]), float(quantiles[1])
    assert basis is not None
    uv, lod, cosine = (np.concatenate(each) for each in zip(*brightest, strict=True))
    largest = quadrature_albedo(parameters, respond_at, uv, lod, cosine, random, _MOST_LIGHTS)
    return MadeProxies(Proxies(levels, coarser, basis.curves()), float(largest.max()), both)


def own_sums(parameters: Parameters, lod: float) -> SumLights:
    """The sums in numpy that have the least noise with these parameters."""
    return sum_lights if parameters.head is None else sums_by_sampler(parameters, lod)


def find_own_shares(parameters: Parameters, respond_at: RespondAt, lod: float) -> Floats:
    """Shares of the sampling lobes that suit this material."""
    random = np.random.default_rng(_SEED)
    uv = random.random((_PILOT_PLACES, 2)).astype(np.float32)
    frames = learned_frames(parameters, uv, np.full(_PILOT_PLACES, lod, np.float32))
    return find_shares(respond_at(lod), frames, uv, random)


def numpy_respond_at(parameters: Parameters) -> RespondAt:
    """Responses of these numbers, by the numpy decoder."""

    def at(lod: float) -> Respond:
        def respond(uv: Floats, wi: Floats, wo: Floats) -> Floats:
            found = np.empty_like(wi, np.float32)
            for start in range(0, len(uv), _AT_ONCE):
                part = slice(start, start + _AT_ONCE)
                level = np.full(len(uv[part]), lod, np.float32)
                found[part] = evaluate_at_lod(parameters, uv[part], level, wi[part], wo[part])
            return found

        return respond

    return at


@profiled("check albedo")
def check_albedo(
    parameters: Parameters, proxies: Proxies, count: int = 32, lights: int = 256
) -> AlbedoError:
    """Compares the albedo with the numpy decoder's, at the same places on every machine. A quarter
    of the places are on any level, the others on the finest."""
    random = np.random.default_rng(_SEED + 1)
    uv = random.random((count, 2))
    levels = random.integers(0, len(proxies.levels), count)
    levels[: 3 * count // 4] = 0
    # centres of texels, so that no filter between texels counts
    sizes = np.array([level.shape[2:0:-1] for level in proxies.levels])[levels]
    uv = ((np.floor(uv * sizes) + 0.5) / sizes).astype(np.float32)
    lod = (np.log2(proxies.texels_a_proxy) + levels).astype(np.float32)
    cosine = random.uniform(_LEAST_CHECKED_COSINE, 1, count)
    respond_at = numpy_respond_at(parameters)
    wanted = quadrature_albedo(parameters, respond_at, uv, lod, cosine, random, lights)
    return compare_albedo(proxies.at(uv, lod).albedo(cosine), wanted)


def compare_albedo(found: Doubles, wanted: Doubles) -> AlbedoError:
    errors = np.abs(found - wanted).sum(1) / np.maximum(wanted.sum(1), _DARK)
    median, most = np.quantile(errors, (0.5, 0.9))
    return AlbedoError(float(median), float(most), len(errors))


def quadrature_albedo(
    parameters: Parameters,
    respond_at: RespondAt,
    uv: Floats,
    lod: Floats,
    cosine: Doubles,
    random: np.random.Generator,
    lights: int,
) -> Doubles:
    """Directional albedo [N, 3], the mean over the view's azimuth."""
    shares = find_own_shares(parameters, respond_at, float(lod.min()))
    turn = 2 * np.pi * (random.random((len(uv), 1)) + np.arange(_TURNS) / _TURNS)
    wo = polar(cosine[:, None], turn)
    shift = random.random((2, len(uv), _TURNS), np.float32)
    albedo = np.empty((len(uv), 3))
    for each in np.unique(lod):
        there = np.flatnonzero(lod == each)
        places = np.repeat(uv[there], _TURNS, axis=0)
        task = LightTask(
            learned_frames(parameters, places, np.full(len(places), each, np.float32)),
            places,
            wo[:, there].reshape(3, -1),
            shift[:, there].reshape(2, -1),
            np.zeros((3, len(places)), np.float32),
            light_counts(shares, lights),
        )
        found = own_sums(parameters, float(each))(respond_at(float(each)), task).albedo
        albedo[there] = found.reshape(len(there), _TURNS, 3).mean(1)
    return albedo


def alpha_of_spread(spread: Doubles) -> Doubles:
    """Alpha of the GGX lobe whose normals have this mean squared sine."""
    square = _ALPHAS**2
    rest = 1 - square
    spreads = square * (np.log(1 / square) - rest) / rest**2
    return np.asarray(np.interp(spread, spreads, _ALPHAS, right=1), np.float64)


def _find_brightest(
    uv: Floats, lod: float, albedo: Doubles, basis: AlbedoBasis
) -> tuple[Floats, Floats, Doubles]:
    """Places [N, 2] with the largest albedos, their lod, and the cosines of the views. Noise has a
    part in these albedos, so they need a quadrature of their own."""
    fitted = np.einsum("cvi,nci->nvc", basis.functions, basis.fit(albedo)).max(2)
    places = np.argsort(fitted.max(1))[-_BRIGHTEST:]
    views = VIEW_COSINES[fitted[places].argmax(1)]
    return uv[places], np.full(len(places), lod, np.float32), views


def _values(found: Integrals, basis: AlbedoBasis) -> ProxyValues:
    """The stored values."""
    # limits of stored albedos would change all others
    albedos = np.clip(basis.at_cosines(basis.fit(np.minimum(found.albedo, 1))), 0, 1)
    # no more than is reflected towards steep views
    diffuse = np.minimum(found.diffuse, albedos[:, :2].min(1))
    roughness = np.sqrt(alpha_of_spread(found.spread))
    return ProxyValues(diffuse, albedos, found.normal, roughness, basis.curves())


def choose_size(layout: LatentLayout, most: int) -> int:
    """Width of the latents divided by that of proxies with at most `most` texels, a power of 2."""
    side = max(layout.width, layout.height)
    coarser = min(_COARSER, side)
    while coarser < side and sum(h * w for h, w in level_sizes(layout, coarser)) > most:
        coarser *= 2
    return coarser


def level_sizes(layout: LatentLayout, coarser: int) -> list[tuple[int, int]]:
    """Heights and widths of all levels."""
    height, width = (max(1, side // coarser) for side in (layout.height, layout.width))
    count = max(height, width).bit_length()
    return [(max(1, height >> level), max(1, width >> level)) for level in range(count)]


def level_centres(height: int, width: int) -> Floats:
    if height == width:
        return texel_centres(np.arange(width * width), width)
    rows, columns = np.divmod(np.arange(height * width), width)
    return np.stack([(columns + 0.5) / width, (rows + 0.5) / height], 1).astype(np.float32)
