"""Bytes of a bundle on a GPU before it is written, its maps, and the images that it replaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.errors import SettingsError
from verdigris.core.bundle.cost.source_bytes import source_bytes
from verdigris.core.bundle.files.ktx2 import BC6H, FORMATS, R8, RGBA8, RGBA16F, TextureShape
from verdigris.core.bundle.files.stored_textures import (
    emission_levels,
    latent_bytes,
    opacity_levels,
)
from verdigris.core.bundle.files.weights import plan_tensors
from verdigris.core.bundle.proxies.proxy_texture import trilinear
from verdigris.core.geometry.teacher_relief import TeacherRelief, find_relief, relief_texels
from verdigris.core.material.teacher.unlit_maps import UnlitMaps, levels, unlit_maps
from verdigris.core.network.latents.texels import texel_centres
from verdigris.core.settings.bake_settings import BC7_FORMAT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.settings.bake_settings import BakeSettings

    Levels = Sequence[NDArray[Any]]

# Texels per side of the smallest texture.
SMALLEST = 4
# Images with fewer bytes set no limit: a useful bundle may be larger.
_FEWEST_SOURCE_BYTES = 1 << 19
# Mean change of log(1 + value) that no eye sees.
_MOST_CHANGE = 3e-4
# Texels per side of the smallest map: a block.
_SMALLEST_MAP = 4


def bundle_bytes(
    settings: BakeSettings, width: int, height: int, channels: int = 0, sides: int = 1
) -> int:
    """Bytes of weights and latents. `channels` replaces those of the settings; a surface that
    transmits has a decoder for each of two sides."""
    spec = replace(settings.spec, latent_channels=channels) if channels else settings.spec
    _, weights = plan_tensors(spec)
    return sides * weights + latent_bytes(settings.latent_format, spec.latent_layers, width, height)


def check_bytes(settings: BakeSettings) -> None:
    """Refuses a limit of bytes that is too low for every bundle."""
    most = settings.size.most_bytes
    least = bundle_bytes(settings, SMALLEST, SMALLEST, settings.size.channels[-1])
    if most and most < least:
        raise SettingsError(
            f"most_bytes is {most}: the smallest bundle with a decoder of {settings.network} takes "
            f"{least} bytes: allow more, or use a smaller network"
        )


def compressed_sources(teachers: Sequence[Teacher]) -> int:
    """The fewest bytes of one material's images, block-compressed; 0 if they set no limit."""
    found = [source_bytes(each.document, each.material).compressed for each in teachers]
    return min((each for each in found if each >= _FEWEST_SOURCE_BYTES), default=0)


@dataclass(frozen=True)
class StoredMaps:
    """The maps that a bundle will hold: mip levels and format."""

    unlit: UnlitMaps
    """Means over the texels of the bake's resolution."""
    emission: Levels | None
    opacity: Levels | None
    emission_format: str
    relief: TeacherRelief
    counts_relief: bool = False
    """Whether heights are part of the limit of bytes: images of other inputs set none for them."""

    @property
    def bytes(self) -> int:
        """Bytes on a device that count for a limit."""
        heights = self.relief.heights if self.counts_relief else None
        pairs = (
            (self.emission, self.emission_format),
            (self.opacity, R8),
            (heights.levels if heights else None, RGBA8),
        )
        return sum(_bytes(levels, name) for levels, name in pairs if levels)


def make_maps(teacher: Teacher, settings: BakeSettings) -> StoredMaps:
    """The maps of a material, with as many texels as they need."""
    unlit = unlit_maps(teacher, settings.resolution)
    glow, coverage = (None if each is None else as_small_as_needed(each) for each in unlit)
    return StoredMaps(
        unlit,
        None if glow is None else emission_levels(glow),
        None if coverage is None else opacity_levels(coverage),
        BC6H if settings.latent_format == BC7_FORMAT else RGBA16F,
        find_relief(teacher, relief_texels(settings.resolution, settings.size.most_bytes)),
        settings.size.most_bytes > 0,
    )


def as_small_as_needed(finest: NDArray[np.float32]) -> NDArray[np.float32]:
    """The coarsest level of a square map [size, size, ...] that looks like the finest."""
    size = len(finest)
    wanted = np.log1p(finest).reshape(size * size, -1)
    uv = texel_centres(np.arange(size * size), size)
    chosen = finest
    for level in levels(finest)[1:]:
        if len(level) < _SMALLEST_MAP:
            break
        texels = level.reshape(*level.shape[:2], -1).astype(np.float64)
        found = trilinear([texels], uv, np.zeros(len(uv), np.float32))
        if np.abs(np.log1p(found).reshape(wanted.shape) - wanted).mean() > _MOST_CHANGE:
            break
        chosen = level
    return chosen


def _bytes(levels: Levels, format_name: str) -> int:
    height, width = levels[0].shape[:2]
    return TextureShape(FORMATS[format_name], width, height, len(levels), 0).texel_bytes
