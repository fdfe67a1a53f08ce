"""Flattened textures: their texels, their mips and their bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verdigris.core.flatten.model import (
    CHANNELS,
    F0,
    LARGEST_SLANT,
    LEAST_ROUGHNESS,
    NORMAL,
    ROUGHNESS,
    stored_normal,
)
from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.spec import LatentLayout
from verdigris.core.network.texels import box_halved


@dataclass
class FlatTextures:
    """Texels [texels, 9], laid out like a student's latents."""

    layout: LatentLayout
    texels: FloatArray

    def level(self, level: int) -> FloatArray:
        """View of a mip level, [height, width, 9]."""
        first, end = self.layout.level_offsets[level : level + 2]
        return self.texels[first:end].reshape(*self.layout.level_size(level), CHANNELS)

    @property
    def byte_size(self) -> int:
        """Stored in eight bits a channel."""
        return self.texels.size


def start_textures(width: int, height: int) -> FlatTextures:
    """One level of half-rough grey that looks straight up."""
    layout = LatentLayout(width, height)
    texels = np.zeros((layout.texel_count, CHANNELS), np.float32)
    texels[:, : F0.start] = 0.5
    texels[:, F0] = 0.1
    texels[:, ROUGHNESS] = 0.4
    return FlatTextures(layout, texels)


def keep_in_range(texels: FloatArray) -> None:
    """Moves what lies outside of what can be stored to the nearest that can."""
    np.clip(texels[:, : F0.stop], 0, 1, out=texels[:, : F0.stop])
    np.clip(texels[:, ROUGHNESS], LEAST_ROUGHNESS, 1, out=texels[:, ROUGHNESS])
    slant = texels[:, NORMAL]
    length = np.sqrt((slant**2).sum(1, keepdims=True))
    slant *= np.minimum(1, LARGEST_SLANT / np.maximum(length, LARGEST_SLANT))


def with_mips(finest: FlatTextures) -> FlatTextures:
    """A chain as asset tools make it: means of 2 x 2 texels, normals made unit again."""
    height, width = finest.layout.level_size(0)
    levels = max(height, width).bit_length()
    layout = LatentLayout(width, height, levels)
    result = FlatTextures(layout, np.empty((layout.texel_count, CHANNELS), finest.texels.dtype))
    result.level(0)[:] = finest.level(0)
    for level in range(1, levels):
        result.level(level)[:] = _halved(result.level(level - 1))
    return result


def _halved(texels: FloatArray) -> FloatArray:
    normals = np.moveaxis(stored_normal(np.moveaxis(texels[..., NORMAL], -1, 0)), 0, -1)
    means = box_halved(np.concatenate([texels[..., : NORMAL.start], normals], -1))
    normals = means[..., NORMAL.start :]
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    return means[..., :CHANNELS]
