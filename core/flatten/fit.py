"""Fits flattened textures to a teacher, with the samples, loss and steps of a student."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.flatten.flat_model import (
    CHANNELS,
    F0,
    FlatTextures,
    keep_in_range,
    shade,
    shade_backward,
    start_textures,
    with_mips,
)
from verdigris.core.network import losses
from verdigris.core.network.latents.texels import corners, gather
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.training.optimiser import adam, adam_rate

if TYPE_CHECKING:
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.network.parameters import FloatArray
    from verdigris.core.sampling.training_sample import SampleArray
    from verdigris.core.settings.bake_settings import BakeSettings

PEAK_RATE = 1e-2
# Added to response and target, because the slope of a cube root is unbounded at 0.
_DARKEST = 1e-4
# Pairs of directions for the initial albedo of each texel.
_LOOKS = 4


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
    textures.texels[:, : F0.start] = _first_albedo(teacher, textures)
    draw = replace(settings.draw, coarse_share=0.0, repeats=1)
    source = DrawnSamples([teacher], textures.layout, settings.seed, draw)
    schedule = settings.training().schedule
    m, v = np.zeros_like(textures.texels), np.zeros_like(textures.texels)
    for step in range(settings.iterations):
        found = loss_and_gradients(textures, source.draw(step, settings.batch))
        rate = PEAK_RATE * adam_rate(schedule.factor(step), step)
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


def _first_albedo(teacher: DeviceMaterial, textures: FlatTextures) -> FloatArray:
    """Initial albedo: the smallest diffuse reflectance seen away from the mirror direction."""
    height, width = textures.layout.level_size(0)
    v, u = ((np.indices((height, width)) + 0.5) / [[[height]], [[width]]]).reshape(2, -1)
    uv = np.stack([u, v], 1).astype(np.float32)
    looks = []
    for turn in 2 * np.pi * np.arange(_LOOKS) / _LOOKS:
        wi = np.array([np.cos(turn), np.sin(turn), 1.5]) / np.sqrt(1 + 1.5**2)
        wo = np.array([np.sin(turn), np.cos(turn), 4.0]) / np.sqrt(1 + 4.0**2)
        to_light, to_eye = (np.tile(w.astype(np.float32), (len(uv), 1)) for w in (wi, wo))
        looks.append(np.pi * teacher.response(uv, to_light, to_eye) / np.float32(wi[2]))
    # the darkest response contains the smallest part of a highlight
    result: FloatArray = np.clip(np.min(looks, axis=0), 0, 1)
    return result
