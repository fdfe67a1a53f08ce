"""Fits plain textures to a material for viewports that cannot evaluate neural materials, and writes
them as PNG files. The fit uses the samples, loss and steps of a student.

The textures are small and trained briefly, enough to recognise a material while lighting a scene.
The base colour has the size of the bake: a guided filter brings it to the finer texels, at which
the material is looked at without noise.
The conversion to base colour and metalness is exact if a metallic-roughness shader can represent
the values.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.files import is_link, remove_file
from verdigris.core.flatten.flat_model import (
    ALBEDO,
    CHANNELS,
    DIELECTRIC_F0,
    F0,
    NORMAL,
    ROUGHNESS,
    FlatTextures,
    keep_in_range,
    shade,
    shade_backward,
    start_textures,
    stored_normal,
    with_mips,
)
from verdigris.core.hosts.host import BASE_COLOR, EMISSION, METALNESS, NORMAL_MAP, OPACITY
from verdigris.core.hosts.host import ROUGHNESS as ROUGHNESS_MAP
from verdigris.core.material.teacher.unlit_maps import UnlitMaps, levels
from verdigris.core.network import losses
from verdigris.core.network.latents.texels import corners, gather
from verdigris.core.pictures.picture_files import write_data, write_picture
from verdigris.core.progress import FLATTENING, Event, Phase, Step
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.training.optimiser import adam, adam_rate

if TYPE_CHECKING:
    from verdigris.core.base.array_types import FloatArray, Floats
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.sampling.draw_samples import SampleArray
    from verdigris.core.settings.bake_settings import BakeSettings

LARGEST_SIDE = 256
LARGEST_COLOUR_SIDE = 2048
# Rows of a fine base colour that are looked at together.
_STRIP = 128
# Texels around each that its guided filter looks at, and the variance of what is flat to it.
_REACH, _FLAT = 3, 1e-4
_MOST_STEPS = 1_500
_LARGEST_BATCH = 4_096
_COLOURS = (BASE_COLOR, EMISSION)
BASE_TEXTURES = (BASE_COLOR, ROUGHNESS_MAP, METALNESS, NORMAL_MAP)
"""The textures that every material has."""
_KINDS = (*BASE_TEXTURES, EMISSION, OPACITY)
# The smallest opacity above 0 in eight bits.
_LEAST_COVERAGE = 1 / 255
_EVENT_SECONDS = 0.2
_PEAK_RATE = 1e-2
# Added to response and target, because the slope of a cube root is unbounded at 0.
_DARKEST = 1e-4
# Pairs of directions for the initial albedo of each texel.
_LOOKS = 4


def viewport_settings(settings: BakeSettings) -> BakeSettings:
    """The settings of a bake, reduced to what a viewport shows."""
    return replace(
        settings,
        resolution=min(settings.resolution, LARGEST_SIDE),
        iterations=min(settings.iterations, _MOST_STEPS),
        batch=min(settings.batch, _LARGEST_BATCH),
    )


def texture_paths(bundle: Path) -> dict[str, Path]:
    """The paths of all possible textures beside a bundle, by kind."""
    return {kind: bundle.with_name(f"{bundle.stem}_{kind}.png") for kind in _KINDS}


def viewport_textures(
    teacher: DeviceMaterial, settings: BakeSettings, bundle: Path, unlit: UnlitMaps
) -> Generator[Event, None, dict[str, str]]:
    """Fits textures and writes them beside a bundle, with its emission and opacity maps. Yields
    events of the progress, and returns the paths by kind."""
    side = min(settings.resolution, LARGEST_COLOUR_SIDE)
    settings = viewport_settings(settings)
    yield Phase(FLATTENING, 1, 1)
    steps, done = flattening(teacher, settings), 0
    begun = reported = time.monotonic()
    while True:
        try:
            loss = next(steps)
        except StopIteration as end:
            textures = end.value
            break
        done += 1
        now = time.monotonic()
        if now - reported > _EVENT_SECONDS or done == settings.iterations:
            reported, spent = now, now - begun
            rate = done * settings.batch / max(spent, 1e-9)
            left = (settings.iterations - done) * spent / done
            yield Step(done, settings.iterations, loss, rate, spent, left)
    small = UnlitMaps(_shrunk(unlit.emission), _shrunk(unlit.coverage))
    # what is behind holes has no colour to look at
    factor = 1 if unlit.coverage is not None else side // textures.level(0).shape[0]
    fine = _albedo_of(teacher, textures, factor) if factor > 1 else None
    return write_textures(textures.level(0), small, bundle, fine)


def _albedo_of(teacher: DeviceMaterial, textures: FlatTextures, factor: int) -> FloatArray:
    """The initial albedo of texels that are this much finer: [height, width, 3]."""
    height, width = (factor * side for side in textures.layout.level_size(0))
    strips = []
    for row in range(0, height, _STRIP):
        rows = range(row, min(row + _STRIP, height))
        v, u = np.meshgrid(*(np.array(each) + 0.5 for each in (rows, range(width))), indexing="ij")
        uv = np.stack([u / width, v / height], -1).reshape(-1, 2).astype(np.float32)
        strips.append(_first_albedo(teacher, uv).reshape(len(rows), width, 3))
    return np.concatenate(strips)


def sharpened(values: FloatArray, guide: FloatArray) -> FloatArray:
    """Values [height, width, n] at the texels of a finer guide with n channels, by a guided filter
    (He et al. 2013): around each texel, the values are a linear function of the guide."""
    factor = len(guide) // len(values)
    height, width, channels = values.shape
    coarse = guide.reshape(height, factor, width, factor, channels).mean((1, 3))
    mean_guide, mean = _blurred(coarse), _blurred(values)
    variance = _blurred(coarse**2) - mean_guide**2
    slope = (_blurred(coarse * values) - mean_guide * mean) / (variance + _FLAT)
    offset = mean - slope * mean_guide
    result: FloatArray = enlarged(_blurred(slope), factor) * guide
    return result + enlarged(_blurred(offset), factor)


def _blurred(values: FloatArray) -> FloatArray:
    """Means over a square around each texel of a repeating texture."""
    for axis in (0, 1):
        shifted = [np.roll(values, by, axis) for by in range(-_REACH, _REACH + 1)]
        values = np.mean(shifted, axis=0)
    return values


def enlarged(values: FloatArray, factor: int) -> FloatArray:
    """A repeating texture [height, width, n] with more texels, interpolated linearly."""
    for axis in (0, 1):
        count = values.shape[axis]
        at = (np.arange(count * factor) + 0.5) / factor - 0.5
        low = np.floor(at).astype(np.int64)
        share = np.expand_dims((at - low).astype(values.dtype), tuple({0, 1, 2} - {axis}))
        before, after = (np.take(values, each % count, axis) for each in (low, low + 1))
        values = before + share * (after - before)
    return values


def write_textures(
    texels: FloatArray, unlit: UnlitMaps, bundle: Path, fine: FloatArray | None = None
) -> dict[str, str]:
    """Writes texels [height, width, 9] and maps of the same size as images beside a bundle. Row 0
    is at v = 0. Colours are in sRGB, other values are linear; green of the normal grows with v.

    Emission is clipped at 1, because it is a preview and not a light. Shaders multiply colours by
    the opacity, so colours are divided by it here. `fine`: the albedo at more texels,
    for a larger base colour.
    """
    emission, coverage = unlit
    solid = 1 if coverage is None else np.maximum(coverage, _LEAST_COVERAGE)[..., None]
    base, metalness = metallic_from(texels[..., ALBEDO] / solid, texels[..., F0] / solid)
    if fine is not None:
        base = np.clip(sharpened(base, fine), 0, 1)
    normal = np.moveaxis(stored_normal(np.moveaxis(texels[..., NORMAL], -1, 0)), 0, -1)
    images = {
        BASE_COLOR: base,
        ROUGHNESS_MAP: texels[..., ROUGHNESS, None],
        METALNESS: metalness[..., None],
        NORMAL_MAP: 0.5 + 0.5 * normal,
        **({} if emission is None else {EMISSION: emission / solid}),
        **({} if coverage is None else {OPACITY: coverage[..., None]}),
    }
    paths = texture_paths(bundle)
    for kind, values in images.items():
        if is_link(paths[kind]):
            # the name is ours: what a link of this name leads to is not
            remove_file(paths[kind])
        write = write_picture if kind in _COLOURS else write_data
        write(paths[kind], np.ascontiguousarray(values[::-1], np.float32))
    return {kind: str(paths[kind]) for kind in images}


def _shrunk(finest: Floats | None) -> Floats | None:
    """The finest mip level of a map with the size of a viewport texture."""
    if finest is None:
        return None
    return next(level for level in levels(finest) if max(level.shape[:2]) <= LARGEST_SIDE)


def metallic_from(albedo: FloatArray, f0: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Base colour [..., 3] and metalness [...] for a diffuse albedo and an F0.

    With t = 1 - metalness they are albedo = t base and F0 = 0.04 t + (1 - t) base, so that
    base = albedo + F0 - 0.04 t, and 0.04 t^2 - (albedo + F0) t + albedo = 0 for means of colours.
    """
    both, diffuse = (albedo + f0).mean(-1), albedo.mean(-1)
    root = np.sqrt(np.maximum(both**2 - 4 * DIELECTRIC_F0 * diffuse, 0))
    rest = np.clip(2 * diffuse / np.maximum(both + root, 1e-6), 0, 1)
    base = np.clip(albedo + f0 - DIELECTRIC_F0 * rest[..., None], 0, 1)
    return base, 1 - rest


@dataclass
class Gradients:
    """The mean loss and its gradient, laid out like the texels."""

    loss: float
    texels: FloatArray


def flatten(
    teacher: DeviceMaterial, settings: BakeSettings, size: tuple[int, int] | None = None
) -> FlatTextures:
    """Fits the finest level at this width and height, by default at the settings' resolution, and
    adds all mip levels."""
    steps = flattening(teacher, settings, size)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: FlatTextures = end.value
            return result


def flattening(
    teacher: DeviceMaterial, settings: BakeSettings, size: tuple[int, int] | None = None
) -> Generator[float, None, FlatTextures]:
    """The same as a generator: yields the loss of each step, and returns the textures."""
    textures = start_textures(*(size or (settings.resolution, settings.resolution)))
    height, width = textures.layout.level_size(0)
    v, u = ((np.indices((height, width)) + 0.5) / [[[height]], [[width]]]).reshape(2, -1)
    uv = np.stack([u, v], 1).astype(np.float32)
    textures.texels[:, : F0.start] = _first_albedo(teacher, uv)
    draw = replace(settings.draw, coarse_share=0.0, repeats=1)
    source = DrawnSamples([teacher], textures.layout, settings.seed, draw)
    schedule = settings.training().schedule
    m, v = np.zeros_like(textures.texels), np.zeros_like(textures.texels)
    for step in range(settings.iterations):
        found = loss_and_gradients(textures, source.draw(step, settings.batch))
        rate = _PEAK_RATE * adam_rate(schedule.factor(step), step)
        adam(textures.texels, m, v, found.texels, rate)
        keep_in_range(textures.texels)
        yield found.loss
    return with_mips(textures)


def loss_and_gradients(
    textures: FlatTextures, batch: SampleArray, loss: str = "cbrt_l1"
) -> Gradients:
    """Mean loss over a batch of TRAINING_SAMPLE and its gradient, in the textures' precision."""
    dtype = textures.texels.dtype
    uv, wi, wo, response = (batch[name].astype(dtype).T for name in ("uv", "wi", "wo", "response"))
    indices, weights = corners(textures.layout, uv, 0)
    tape = shade(gather(textures.texels, indices, weights), wi, wo)
    value = tape.value + dtype.type(_DARKEST)
    target = losses.clamp_response(response) + dtype.type(_DARKEST)
    each, gradient = losses.FUNCTIONS[loss](np.log(value), target)
    g_texel = shade_backward(tape, gradient / value / dtype.type(len(batch)))

    texels = np.empty_like(textures.texels)
    for channel in range(CHANNELS):
        parts = (weights * g_texel[channel]).ravel()
        texels[:, channel] = np.bincount(indices.ravel(), parts, len(texels))
    return Gradients(float(each.mean()), texels)


def _first_albedo(teacher: DeviceMaterial, uv: FloatArray) -> FloatArray:
    """Initial albedo at these places: the smallest diffuse reflectance seen away from the mirror
    direction."""
    looks = []
    for turn in 2 * np.pi * np.arange(_LOOKS) / _LOOKS:
        wi = np.array([np.cos(turn), np.sin(turn), 1.5]) / np.sqrt(1 + 1.5**2)
        wo = np.array([np.sin(turn), np.cos(turn), 4.0]) / np.sqrt(1 + 4.0**2)
        to_light, to_eye = (np.tile(w.astype(np.float32), (len(uv), 1)) for w in (wi, wo))
        looks.append(np.pi * teacher.response(uv, to_light, to_eye) / np.float32(wi[2]))
    # the darkest response contains the smallest part of a highlight
    result: FloatArray = np.clip(np.min(looks, axis=0), 0, 1)
    return result
