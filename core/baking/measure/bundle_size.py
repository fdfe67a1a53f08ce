"""Bytes of a bundle on a GPU before it is written, and of the images that it replaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from verdigris.core.base.errors import SettingsError
from verdigris.core.bundle.cost.source_bytes import source_bytes
from verdigris.core.bundle.files.stored_textures import latent_bytes
from verdigris.core.bundle.files.weights import plan_tensors

if TYPE_CHECKING:
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.settings.bake_settings import BakeSettings

# Texels per side of the smallest texture.
SMALLEST = 4
# Images of fewer bytes are no limit: a bundle of any use may be larger.
_FEWEST_SOURCE_BYTES = 1 << 19


def bundle_bytes(settings: BakeSettings, width: int, height: int, channels: int = 0) -> int:
    """Weights and latents; with so many channels, or as many as in the settings."""
    spec = replace(settings.spec, latent_channels=channels) if channels else settings.spec
    _, weights = plan_tensors(spec)
    return weights + latent_bytes(settings.latent_format, spec.latent_layers, width, height)


def check_bytes(settings: BakeSettings) -> None:
    """Refuses a limit of bytes that no bundle meets."""
    most = settings.size.most_bytes
    least = bundle_bytes(settings, SMALLEST, SMALLEST, settings.size.channels[-1])
    if most and most < least:
        raise SettingsError(
            f"most_bytes is {most}: the smallest bundle with a decoder of {settings.network} takes "
            f"{least} bytes: allow more, or use a smaller network"
        )


def compressed_sources(teachers: Sequence[Teacher]) -> int:
    """The least bytes of a material's images, block-compressed; 0 where there are too few to be
    a limit."""
    found = [source_bytes(each.document, each.material).compressed for each in teachers]
    return min((each for each in found if each >= _FEWEST_SOURCE_BYTES), default=0)
