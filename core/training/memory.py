"""Whether a bake fits, said before it starts."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from verdigris.core.errors import SettingsError

if TYPE_CHECKING:
    from verdigris.core.device import Device
    from verdigris.core.settings import BakeSettings

# fp32 value and two moments, gradient, and a copy while a checkpoint is written
_BYTES_A_CHANNEL = {"tensor": 4 * 5, "numpy": 4 * 4}
_USABLE = 0.8
_SMALLEST = 4


def needed_bytes(settings: BakeSettings, materials: int, trainer: str) -> int:
    """What training holds in memory, batches aside."""
    texels = settings.layout(materials).texel_count
    return texels * settings.spec.latent_channels * _BYTES_A_CHANNEL[trainer]


def check_memory(
    device: Device,
    settings: BakeSettings,
    materials: int,
    trainer: str,
    available: int | None = None,
) -> None:
    """Refuses what does not fit, naming the largest resolution that does."""
    available = available_bytes(device) if available is None else available
    if available is None:
        return
    needed = needed_bytes(settings, materials, trainer)
    if needed <= available * _USABLE:
        return
    size = settings.resolution
    while size > _SMALLEST:
        size //= 2
        if (
            needed_bytes(replace(settings, resolution=size), materials, trainer)
            <= available * _USABLE
        ):
            raise SettingsError(
                f"resolution {settings.resolution} with {materials} latent texture(s) needs "
                f"{needed / 1e9:.1f} GB, and {device} has {available / 1e9:.1f} GB: "
                f"the largest that fits is {size}"
            )
    raise SettingsError(f"{device} has only {available / 1e9:.1f} GB: no resolution fits")


def available_bytes(device: Device) -> int | None:
    """Memory of the device, or None where nothing tells.

    slangpy 0.43 reports what a graphics card has allocated, not how much it has.
    """
    if device.is_software and sys.platform == "linux":
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None
