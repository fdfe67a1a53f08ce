"""The size of a ladder, and the work that goes into it."""

from __future__ import annotations

from dataclasses import dataclass

from verdigris.core.base.errors import SettingsError
from verdigris.core.settings.bake_settings import BC7_FORMAT, RGBA8_FORMAT

LARGEST_TEXTURE = 4096
# Texels a side of one texture with all tiles of a mesh: a fit needs at least 200 bytes for a texel.
LARGEST_ATLAS = 8192
TEXTURE_FORMATS = RGBA8_FORMAT, BC7_FORMAT
# With more texels, views have more pixels: each texel should be seen a few times.
_FINE_SIZE, _FINE_VIEW_SIZE = 512, 512


@dataclass(frozen=True)
class LadderSettings:
    """Sizes and work. The defaults are for a CPU."""

    size: int = 256
    """Texels a side of textures."""
    views: int = 24
    """Number of views to which rungs are fitted."""
    view_size: int = 256
    """Pixels a side of these views."""
    samples: int = 16
    """Directions of light at each pixel."""
    responses: int = 1_000_000
    """Samples of the response to which glTF textures are fitted."""
    steps: int = 500
    """Steps of the fit of glTF textures. Stored light starts near its end and takes a fifth of
    them."""
    held_out: int = 8
    """Number of views that are only measured."""
    held_out_size: int = 128
    held_out_samples: int = 64
    seed: int = 1
    is_soft: bool = True
    """Whether bytes are fitted through soft quantisation."""
    texture_format: str = RGBA8_FORMAT
    """One of TEXTURE_FORMATS."""

    def __post_init__(self) -> None:
        if self.texture_format not in TEXTURE_FORMATS:
            known = " or ".join(TEXTURE_FORMATS)
            raise SettingsError(f"texture_format is {self.texture_format!r}: use {known}")
        limits = {
            "size": (4, LARGEST_TEXTURE), "views": (1, 4096), "view_size": (16, 2048),
            "samples": (2, 4096), "responses": (1000, 1 << 28), "steps": (10, 1_000_000),
            "held_out": (1, 1024), "held_out_size": (16, 1024), "held_out_samples": (2, 4096),
        }  # fmt: skip
        for name, (least, most) in limits.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise SettingsError(f"{name} is {value}: use {least} to {most}")

    @property
    def has_blocks(self) -> bool:
        """Whether textures are block-compressed."""
        return self.texture_format == BC7_FORMAT

    @classmethod
    def for_device(cls, size: int, is_software: bool) -> LadderSettings:
        """The defaults for a device. A GPU draws more samples in less time."""
        if is_software:
            return cls(size)
        return cls(
            size, samples=64, responses=4_000_000, held_out=64, held_out_size=256,
            held_out_samples=256,
            view_size=_FINE_VIEW_SIZE if size > _FINE_SIZE else cls.view_size,
        )  # fmt: skip
