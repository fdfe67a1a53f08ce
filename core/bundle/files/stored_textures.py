"""Latents, emission and opacity as a bundle stores them: bytes or half floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files.ktx2 import RGBA8, RGBA16F
from verdigris.core.bundle.files.manifest_network import LATENT_CHANNELS, LATENT_LAYERS
from verdigris.core.material.teacher.unlit_maps import levels
from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.quantise import (
    BYTE,
    LatentRange,
    dequantise,
    fit_range,
    map_in_parts,
    quantise,
)
from verdigris.core.network.spec import LARGEST_HALF, LatentLayout

_QUAD = LATENT_CHANNELS // LATENT_LAYERS


@dataclass(frozen=True)
class LatentTexture:
    """The stored latents."""

    levels: Sequence[NDArray[Any]]
    """Finest first, each [2, height, width, 4]: bytes, or half floats."""
    scale: NDArray[np.float32]
    """By channel: latent = offset + scale x stored; a byte counts as byte / 255."""
    offset: NDArray[np.float32]
    """By channel."""

    @property
    def is_quantised(self) -> bool:
        return self.levels[0].dtype == np.uint8

    @property
    def format(self) -> str:
        return RGBA8 if self.is_quantised else RGBA16F

    @property
    def layout(self) -> LatentLayout:
        _, height, width, _ = self.levels[0].shape
        return LatentLayout(width, height, len(self.levels), 1)

    def values(self) -> NDArray[np.float32]:
        """The student's flat texels [texels, 8], in single floats."""
        stored = self._flat_texels()
        if self.is_quantised:
            return dequantise(stored, LatentRange(self.scale, self.offset))
        return map_in_parts(
            lambda part: part.astype(np.float32) * self.scale + self.offset, stored, np.float32
        )

    def exact_values(self) -> NDArray[np.float64]:
        """The same in double precision."""
        one = float(BYTE if self.is_quantised else 1)
        return map_in_parts(
            lambda part: self.offset + self.scale * (part.astype(np.float64) / one),
            self._flat_texels(),
            np.float64,
        )

    def _flat_texels(self) -> NDArray[Any]:
        return np.concatenate([_flat(level) for level in self.levels])


def store_latents(
    latents: FloatArray,
    layout: LatentLayout,
    quantised: bool = True,
    known: LatentRange | None = None,
    bits: int = 8,
) -> LatentTexture:
    """Stores one material's flat texels; `known` is the range that training used."""
    if not np.isfinite(latents).all():
        raise BundleError("the latents hold values that are not finite: bake again")
    stored: NDArray[Any]
    if quantised:
        chosen = known or fit_range(latents)
        stored = quantise(latents, chosen, bits)
        scale, offset = chosen.scale, chosen.offset
    else:
        with np.errstate(over="ignore"):
            stored = latents.astype(np.float16)
        if not np.isfinite(stored).all():
            raise BundleError("a latent exceeds the largest half float: store latents in 8 bits")
        scale = np.ones(latents.shape[1], np.float32)
        offset = np.zeros(latents.shape[1], np.float32)
    levels = [_layers(stored, layout, level) for level in range(layout.levels)]
    return LatentTexture(levels, scale.astype(np.float32), offset.astype(np.float32))


def _layers(stored: NDArray[Any], layout: LatentLayout, level: int) -> NDArray[Any]:
    """A level as [2, height, width, 4]."""
    first, end = layout.level_offsets[level : level + 2]
    height, width = layout.level_size(level)
    quads = stored[first:end].reshape(height, width, -1, _QUAD)
    return np.ascontiguousarray(np.moveaxis(quads, 2, 0))


def _flat(level: NDArray[Any]) -> NDArray[Any]:
    """A level as [texels, 8]."""
    layers, height, width, quad = level.shape
    return np.moveaxis(level, 0, 2).reshape(height * width, layers * quad)


def emission_levels(finest: NDArray[np.float32]) -> list[NDArray[Any]]:
    """Mip levels [height, width, 4] of a map [height, width, 3]; the fourth channel is 1."""
    found = []
    for level in levels(finest):
        texels = np.ones((*level.shape[:2], 4), np.float16)
        texels[..., :3] = np.clip(level, 0, LARGEST_HALF)
        found.append(texels)
    return found


def opacity_levels(finest: NDArray[np.float32]) -> list[NDArray[Any]]:
    """Mip levels [height, width, 1] of a map [height, width]."""
    return [
        np.rint(np.clip(level, 0, 1) * 255).astype(np.uint8)[..., None] for level in levels(finest)
    ]
