"""The numbers and textures of a material as a bundle stores them: bytes, blocks or half floats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray
from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files import bc6h
from verdigris.core.bundle.files.ktx2 import BC7, FORMATS, RGBA8, RGBA16F, TextureShape, level_size
from verdigris.core.bundle.files.weights import round_decoder
from verdigris.core.material.teacher.unlit_maps import levels
from verdigris.core.network.latents.block_lines import decode, encode
from verdigris.core.network.latents.quantise import (
    BYTE,
    LatentRange,
    dequantise,
    fit_range,
    map_in_parts,
    quantise,
)
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import LARGEST_HALF, LAYER_CHANNELS, LatentLayout
from verdigris.core.settings.bake_settings import BC7_FORMAT, HALF_FORMAT, RGBA8_FORMAT

if TYPE_CHECKING:
    pass

# Finds the blocks of a level, as `encode` does.
EncodeLevel = Callable[[FloatArray, LatentRange, FloatArray | None], NDArray[Any]]
# The texel format for each value of the setting `latent_format`.
TEXEL_FORMATS = {BC7_FORMAT: BC7, RGBA8_FORMAT: RGBA8, HALF_FORMAT: RGBA16F}


@dataclass(frozen=True)
class LatentTexture:
    """The stored latents."""

    format: str
    """One of formats_of("latents")."""
    layout: LatentLayout
    """Size and mip levels, in texels."""
    levels: Sequence[NDArray[Any]]
    """Finest first, each [layers, height, width, 4]: bytes, or half floats; or
    [layers, rows, columns, 16]: blocks."""
    scale: NDArray[np.float32]
    """By channel: latent = offset + scale x stored; a byte counts as byte / 255."""
    offset: NDArray[np.float32]
    """By channel."""

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return self.layout.level_size(0)

    def decoded(self) -> LatentTexture:
        """The same texture in plain texels."""
        if self.format != BC7:
            return self
        sizes = map(self.layout.level_size, range(self.layout.levels))
        levels = [decode(level, *size) for level, size in zip(self.levels, sizes, strict=True)]
        return replace(self, format=RGBA8, levels=levels)

    def values(self) -> NDArray[np.float32]:
        """The student's flat texels [texels, channels], in single floats."""
        stored = self._flat_texels
        if stored.dtype == np.uint8:
            return dequantise(stored, LatentRange(self.scale, self.offset))
        return map_in_parts(
            lambda part: part.astype(np.float32) * self.scale + self.offset, stored, np.float32
        )

    def exact_values(self) -> NDArray[np.float64]:
        """The same in double precision."""
        stored = self._flat_texels
        one = float(BYTE if stored.dtype == np.uint8 else 1)
        return map_in_parts(
            lambda part: self.offset + self.scale * (part.astype(np.float64) / one),
            stored,
            np.float64,
        )

    @cached_property
    def _flat_texels(self) -> NDArray[Any]:
        # blocks take long to decode, and the end of a bake needs them four times
        return np.concatenate([_flat(level) for level in self.decoded().levels])


@dataclass(frozen=True)
class Exported:
    """The numbers of one material as its bundle stores them. Errors are measured on these."""

    parameters: Parameters
    """The values of the stored numbers, in single floats."""
    latents: LatentTexture
    """The stored texels."""

    @property
    def exact(self) -> Parameters:
        """The same for a decoder in double precision."""
        stored, latents = self.parameters, self.latents.exact_values()
        return replace(stored.with_double_decoder(), latents=latents)


def export_numbers(
    parameters: Parameters,
    material: int = 0,
    format_name: str = RGBA8,
    latent_range: LatentRange | None = None,
    squares: FloatArray | None = None,
) -> Exported:
    """Rounds a material's numbers as a bundle stores them: to half floats, and latents to a format.
    `squares` are the mean squares of gradients by the latents of all materials."""
    own = parameters.of_material(material)
    if squares is not None:
        squares = replace(parameters, latents=squares).of_material(material).latents
    return export_with(
        own, store_latents(own.latents, own.layout, format_name, latent_range, squares)
    )


def export_with(parameters: Parameters, latents: LatentTexture, material: int = 0) -> Exported:
    """The same for a material whose latents are stored already."""
    own = parameters.of_material(material)
    rounded = own.with_decoders(*map(round_decoder, parameters.decoders))
    rounded = replace(rounded, latents=latents.values())
    return Exported(rounded, latents)


def store_latents(
    latents: FloatArray,
    layout: LatentLayout,
    format_name: str = RGBA8,
    known: LatentRange | None = None,
    squares: FloatArray | None = None,
    encode_level: EncodeLevel = encode,
) -> LatentTexture:
    """Stores the flat texels of one material. `known` is the range that training used. `squares`
    are the mean squares of gradients, by which errors of blocks are weighted. `encode_level` finds
    the blocks of a level as `encode` does."""
    if not np.isfinite(latents).all():
        raise BundleError("the latents contain values that are not finite: bake again")
    if format_name == RGBA16F:
        with np.errstate(over="ignore"):
            stored = latents.astype(np.float16)
        if not np.isfinite(stored).all():
            raise BundleError("a latent exceeds the largest half float: store latents in 8 bits")
        channels = latents.shape[1]
        chosen = LatentRange(np.ones(channels, np.float32), np.zeros(channels, np.float32))
        levels = [_layers(stored, layout, level) for level in range(layout.levels)]
    else:
        chosen = known or fit_range(latents)
        if format_name == BC7:
            levels = [
                encode_level(
                    _level(latents, layout, level),
                    chosen,
                    None if squares is None else _level(squares, layout, level),
                )
                for level in range(layout.levels)
            ]
        else:
            rounded = quantise(latents, chosen)
            levels = [_layers(rounded, layout, level) for level in range(layout.levels)]
    scale, offset = (each.astype(np.float32) for each in (chosen.scale, chosen.offset))
    return LatentTexture(format_name, layout, levels, scale, offset)


def latent_bytes(latent_format: str, layers: int, width: int, height: int) -> int:
    """Bytes of a latent texture on a device, for a value of the setting `latent_format`."""
    texel, levels = FORMATS[TEXEL_FORMATS[latent_format]], max(width, height).bit_length()
    return TextureShape(texel, width, height, levels, layers).texel_bytes


def _level(texels: NDArray[Any], layout: LatentLayout, level: int) -> NDArray[Any]:
    """A level of flat texels as [height, width, channels]."""
    first, end = layout.level_offsets[level : level + 2]
    return texels[first:end].reshape(*layout.level_size(level), -1)


def _layers(stored: NDArray[Any], layout: LatentLayout, level: int) -> NDArray[Any]:
    """A level as [layers, height, width, 4]."""
    height, width = layout.level_size(level)
    quads = _level(stored, layout, level).reshape(height, width, -1, LAYER_CHANNELS)
    return np.ascontiguousarray(np.moveaxis(quads, 2, 0))


def _flat(level: NDArray[Any]) -> NDArray[Any]:
    """A level as [texels, channels]."""
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


def emission_blocks(levels: Sequence[NDArray[Any]]) -> list[NDArray[np.uint8]]:
    """The BC6H blocks of an emission map's levels."""
    return [bc6h.encode(level[..., :3]) for level in levels]


def emission_of_blocks(
    blocks: Sequence[NDArray[np.uint8]], width: int, height: int
) -> list[NDArray[Any]]:
    """The levels [height, width, 4] in half floats that BC6H blocks decode to."""
    found = []
    for number, level in enumerate(blocks):
        size = level_size(width, height, number)
        texels = np.ones((*size, 4), np.float16)
        texels[..., :3] = bc6h.decode(level, *size)
        found.append(texels)
    return found


def opacity_levels(finest: NDArray[np.float32]) -> list[NDArray[Any]]:
    """Mip levels [height, width, 1] of a map [height, width]."""
    return [
        np.rint(np.clip(level, 0, 1) * 255).astype(np.uint8)[..., None] for level in levels(finest)
    ]
