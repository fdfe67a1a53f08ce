"""The proxies of a bundle as stored: five layers of sRGB texels with mip levels, and their use.

docs/WRITING.md, "Proxies", defines every layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.bundle.proxies.albedo_curves import COSINES, AlbedoCurves
from verdigris.core.bundle.proxies.sampled_texture import trilinear

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]

LAYERS = 1 + len(COSINES)
# Layers whose alpha channel holds roughness, and x and y of the normal.
_ROUGHNESS, _NORMAL_X, _NORMAL_Y = 0, 1, 2
_BYTE = 255
_OPAQUE = 255
# The sRGB transfer function of IEC 61966-2-1.
_TOE, _TOE_SLOPE, _OFFSET, _GAMMA = 0.0031308, 12.92, 0.055, 2.4


def encode_srgb(values: Floats) -> NDArray[np.uint8]:
    """Bytes of linear values from 0 to 1."""
    x = np.clip(np.asarray(values, np.float64), 0, 1)
    curved = (1 + _OFFSET) * np.maximum(x, _TOE) ** (1 / _GAMMA) - _OFFSET
    encoded = np.where(x <= _TOE, _TOE_SLOPE * x, curved)
    return np.asarray(np.rint(_BYTE * encoded), np.uint8)


def decode_srgb(stored: NDArray[np.uint8]) -> Doubles:
    x = np.arange(_BYTE + 1) / _BYTE
    table = np.where(
        x <= _TOE * _TOE_SLOPE, x / _TOE_SLOPE, ((x + _OFFSET) / (1 + _OFFSET)) ** _GAMMA
    )
    return np.asarray(table[stored], np.float64)


@dataclass(frozen=True)
class ProxyValues:
    """What the proxies hold of N places."""

    diffuse: Floats
    """Albedo of the diffuse part [N, 3], the same for every view."""
    albedos: Floats
    """Albedo of all reflected light [N, 4, 3], seen under COSINES."""
    normal: Floats
    """Mean normal [N, 3]."""
    roughness: Floats
    """Mean roughness [N]: the square root of a GGX lobe's alpha."""
    curves: AlbedoCurves
    """Between the albedos."""

    def albedo(self, cosine: Floats) -> Doubles:
        """Directional albedo [N, 3]: the part of the light of a white sky that reaches a viewer
        under this cosine."""
        return self.curves.albedo(np.asarray(self.albedos, np.float64), cosine)

    def specular(self, cosine: Floats) -> Doubles:
        """The same without the diffuse part."""
        return np.asarray(np.maximum(self.albedo(cosine) - self.diffuse, 0), np.float64)

    def mean_albedo(self) -> Doubles:
        """[N, 3]: the part of the light of a white sky that is reflected at all."""
        return self.curves.mean_albedo(np.asarray(self.albedos, np.float64))


@dataclass(frozen=True)
class Proxies:
    """The texture."""

    levels: Sequence[NDArray[np.uint8]]
    """Finest first, each [5, height, width, 4]."""
    texels_a_proxy: int
    """Width of the latents by this width."""
    curves: AlbedoCurves
    """Between the albedos."""

    def at(self, uv: Floats, lod: Floats) -> ProxyValues:
        """Trilinear values. `lod` is log2 of the footprint's width in texels of the latents."""
        level = np.asarray(lod, np.float64) - np.log2(self.texels_a_proxy)
        texels = trilinear([linear_texels(each) for each in self.levels], uv, level)
        return values_of(texels, self.curves)


def linear_texels(level: NDArray[np.uint8]) -> Doubles:
    """[height, width, 5, 4] of a stored level: as a texture unit returns them."""
    linear = np.concatenate(
        [decode_srgb(level[..., :3]), level[..., 3:].astype(np.float64) / _BYTE], axis=-1
    )
    return np.moveaxis(linear, 0, 2)


def values_of(texels: Doubles, curves: AlbedoCurves) -> ProxyValues:
    """The meaning of linear texels [N, 5, 4]."""
    x, y = (2 * texels[:, layer, 3] - 1 for layer in (_NORMAL_X, _NORMAL_Y))
    z = np.sqrt(np.maximum(1 - x * x - y * y, 0))
    normal = np.stack([x, y, z], axis=1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    roughness = texels[:, _ROUGHNESS, 3]
    return ProxyValues(texels[:, 0, :3], texels[:, 1:, :3], normal, roughness, curves)


def store_level(values: ProxyValues, height: int, width: int) -> NDArray[np.uint8]:
    """The stored level [5, height, width, 4] of values in row-major order."""
    colours = np.concatenate([values.diffuse[:, None], values.albedos], axis=1)
    alphas = np.full(colours.shape[:2], _OPAQUE, np.uint8)
    for layer, linear in (
        (_ROUGHNESS, values.roughness),
        (_NORMAL_X, values.normal[:, 0] / 2 + 0.5),
        (_NORMAL_Y, values.normal[:, 1] / 2 + 0.5),
    ):
        alphas[:, layer] = np.rint(_BYTE * np.clip(linear, 0, 1))
    texels = np.concatenate([encode_srgb(colours), alphas[..., None]], axis=-1)
    return np.ascontiguousarray(np.moveaxis(texels.reshape(height, width, LAYERS, 4), 2, 0))
