"""The maps of emission and opacity that a bundle will hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verdigris.core.bundle.files.ktx2 import BC6H, FORMATS, R8, RGBA16F, TextureShape
from verdigris.core.bundle.files.stored_textures import emission_levels, opacity_levels
from verdigris.core.bundle.maps.map_size import as_small_as_needed
from verdigris.core.material.teacher.unlit_maps import UnlitMaps, unlit_maps
from verdigris.core.settings.limits import BC7_FORMAT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.settings.bake_settings import BakeSettings

    Levels = Sequence[NDArray[Any]]


@dataclass(frozen=True)
class StoredMaps:
    """Mip levels, and their format."""

    unlit: UnlitMaps
    """Means over the texels of the bake's resolution."""
    emission: Levels | None
    opacity: Levels | None
    emission_format: str

    @property
    def bytes(self) -> int:
        """Bytes on a device."""
        pairs = ((self.emission, self.emission_format), (self.opacity, R8))
        return sum(_bytes(levels, name) for levels, name in pairs if levels)


def make_maps(teacher: DeviceMaterial, settings: BakeSettings) -> StoredMaps:
    """The maps of a material, with as many texels as they need."""
    unlit = unlit_maps(teacher, settings.resolution)
    glow, coverage = (None if each is None else as_small_as_needed(each) for each in unlit)
    return StoredMaps(
        unlit,
        None if glow is None else emission_levels(glow),
        None if coverage is None else opacity_levels(coverage),
        BC6H if settings.latent_format == BC7_FORMAT else RGBA16F,
    )


def _bytes(levels: Levels, format_name: str) -> int:
    height, width = levels[0].shape[:2]
    return TextureShape(FORMATS[format_name], width, height, len(levels), 0).texel_bytes
