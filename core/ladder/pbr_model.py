"""The metallic-roughness material of glTF 2.0 with its clear coat, and its gradient.

core/flatten/flat_model.py has the layer below the coat, as a diffuse albedo and an F0. Here both
come from a base colour and a metalness, as in glTF. With fr = .04 + .96 (1 - n.wo)^5, the coat
(KHR_materials_clearcoat) covers the response f below it:

    (1 - coat fr) f + coat fr (n.wi) D V

where n is the normal of the surface, and D and V are those of the coat's roughness.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.flatten.flat_model import (
    ALBEDO,
    F0,
    LARGEST_SLANT,
    LEAST_ROUGHNESS,
    LEAST_VIEW_COSINE,
    Tape,
    shade,
    shade_backward,
)
from verdigris.core.flatten.flat_model import CHANNELS as FLAT_CHANNELS
from verdigris.core.flatten.flat_model import NORMAL as FLAT_NORMAL
from verdigris.core.flatten.flat_model import ROUGHNESS as FLAT_ROUGHNESS
from verdigris.core.flatten.viewport import DIELECTRIC_F0

if TYPE_CHECKING:
    from verdigris.core.network.parameters import FloatArray

# Channels of a stored texel. Base colour is stored in sRGB, the normal's x and y as (1 + x) / 2.
BASE, ROUGHNESS, METALNESS, NORMAL = slice(0, 3), 3, 4, slice(5, 7)
COAT, COAT_ROUGHNESS = 7, 8
CHANNELS = 9
START = (0.6, 0.6, 0.6, 0.5, 0.3, 0.5, 0.5, 0.1, 0.2)
# The smallest that all engines draw without fireflies.
_LEAST = LEAST_ROUGHNESS


@dataclass
class PbrTape:
    """Intermediate values for the backward pass."""

    texel: FloatArray
    below: Tape
    fresnel: FloatArray
    lobe: FloatArray
    slope: FloatArray
    value: FloatArray


def srgb_to_linear(stored: FloatArray) -> FloatArray:
    result: FloatArray = np.where(
        stored <= 0.04045, stored / 12.92, ((np.maximum(stored, 0) + 0.055) / 1.055) ** 2.4
    )
    return result.astype(stored.dtype)


def srgb_slope(stored: FloatArray) -> FloatArray:
    """The derivative of `srgb_to_linear`."""
    curve = 2.4 / 1.055 * ((np.maximum(stored, 0) + 0.055) / 1.055) ** 1.4
    return np.asarray(np.where(stored <= 0.04045, 1 / 12.92, curve), stored.dtype)


def decode(stored: FloatArray) -> FloatArray:
    """Texels (texels, 9) as a shader filters them: linear base colours, and a normal around 0."""
    texels = stored.copy()
    texels[:, BASE] = srgb_to_linear(stored[:, BASE])
    texels[:, NORMAL] = 2 * stored[:, NORMAL] - 1
    return texels


def decode_backward(stored: FloatArray, gradient: FloatArray) -> FloatArray:
    """The gradient by stored texels."""
    result = gradient.copy()
    result[:, BASE] *= srgb_slope(stored[:, BASE])
    result[:, NORMAL] *= 2
    return result


def keep_in_range(stored: FloatArray) -> None:
    """Clamps stored texels to what all engines accept."""
    for channel in (ROUGHNESS, COAT_ROUGHNESS):
        np.clip(stored[:, channel], _LEAST, 1, out=stored[:, channel])
    slant = 2 * stored[:, NORMAL] - 1
    length = np.sqrt((slant**2).sum(1, keepdims=True))
    slant *= np.minimum(1, LARGEST_SLANT / np.maximum(length, LARGEST_SLANT))
    stored[:, NORMAL] = 0.5 + 0.5 * slant


def flat_texel(texel: FloatArray) -> FloatArray:
    """The texels [9, N] of core/flatten below the coat."""
    flat = np.empty((FLAT_CHANNELS, texel.shape[1]), texel.dtype)
    base, metal = texel[BASE], texel[METALNESS]
    flat[ALBEDO] = base * (1 - metal)
    flat[F0] = DIELECTRIC_F0 * (1 - metal) + base * metal
    flat[FLAT_ROUGHNESS] = np.maximum(texel[ROUGHNESS], _LEAST)
    flat[FLAT_NORMAL] = texel[NORMAL]
    return flat


def evaluate(texel: FloatArray, wi: FloatArray, wo: FloatArray) -> PbrTape:
    """The response (`PbrTape.value`) of filtered texels [9, N]; directions are [3, N]."""
    below = shade(flat_texel(texel), wi, wo)
    view = np.maximum(wo[2], LEAST_VIEW_COSINE)
    fresnel = DIELECTRIC_F0 + (1 - DIELECTRIC_F0) * (1 - np.minimum(view, 1)) ** 5
    lobe, slope = _coat_lobe(np.maximum(texel[COAT_ROUGHNESS], _LEAST), wi[2], view, below.half[2])
    weight = texel[COAT] * fresnel
    value = (1 - weight) * below.value + weight * lobe
    return PbrTape(texel, below, fresnel, lobe, slope, value)


def evaluate_backward(tape: PbrTape, gradient: FloatArray) -> FloatArray:
    """The gradient by filtered texels [9, N], from the gradient by the response [3, N]."""
    texel = tape.texel
    weight = texel[COAT] * tape.fresnel
    result = np.empty_like(texel)
    flat = shade_backward(tape.below, gradient * (1 - weight))
    metal, base = texel[METALNESS], texel[BASE]
    result[BASE] = flat[ALBEDO] * (1 - metal) + flat[F0] * metal
    result[METALNESS] = (flat[F0] * (base - DIELECTRIC_F0) - flat[ALBEDO] * base).sum(0)
    result[ROUGHNESS] = flat[FLAT_ROUGHNESS] * (texel[ROUGHNESS] > _LEAST)
    result[NORMAL] = flat[FLAT_NORMAL]
    total = gradient.sum(0)
    below = (gradient * tape.below.value).sum(0)
    result[COAT] = tape.fresnel * (total * tape.lobe - below)
    result[COAT_ROUGHNESS] = weight * total * tape.slope * (texel[COAT_ROUGHNESS] > _LEAST)
    return result


def _coat_lobe(
    roughness: FloatArray, light: FloatArray, view: FloatArray, middle: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(n.wi) D V of the coat, and its derivative by the roughness."""
    light = np.maximum(light, 0)
    squared = roughness**4
    width = middle**2 * (squared - 1) + 1
    density = squared / (np.pi * width**2)
    reach_i = np.sqrt(light**2 * (1 - squared) + squared)
    reach_o = np.sqrt(view**2 * (1 - squared) + squared)
    divisor = view * reach_i + light * reach_o
    lobe = light * density * 0.5 / divisor
    by_divisor = 0.5 * (view * (1 - light**2) / reach_i + light * (1 - view**2) / reach_o)
    slope = lobe * (1 / squared - 2 * middle**2 / width - by_divisor / divisor)
    return lobe, slope * 4 * roughness**3
