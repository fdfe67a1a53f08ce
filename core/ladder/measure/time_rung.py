"""Nanoseconds of a rung: what an engine's shader takes for a pixel, or for one light of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.base.kernels import Source
from verdigris.core.bundle.cost.time_responses import time_growing, time_material
from verdigris.core.bundle.runtime.device_materials import upload_texture
from verdigris.core.ladder.texels.images import Blocks, RungImage
from verdigris.core.ladder.texels.pbr_model import CONSTANTS

if TYPE_CHECKING:
    from verdigris.core.ladder.rungs.rung import Rung, Timing

NOT_MEASURED = "a CPU does not predict a GPU"
_SHADER = Source("ladder/measure/time_rung")
_MOST_MAPS = 6


def time_rung(rung: Rung, device: Device) -> float | None:
    """Nanoseconds of an evaluation of a rung: of one light if an engine lights it, of a pixel if it
    stores light. None on a CPU."""
    return None if device.is_software else nanoseconds_of(rung, device)


def nanoseconds_of(rung: Rung, device: Device) -> float | None:
    """The same on any device; None if the rung has nothing to time."""
    timing = rung.timing()
    if timing is not None:
        return time_growing(TimedPixels(rung, timing, device), device).nanoseconds
    return None if rung.material is None else time_material(rung.material).nanoseconds


class TimedPixels:
    """The textures of a rung on a device, and a dispatch that reads and shades them."""

    def __init__(self, rung: Rung, timing: Timing, device: Device) -> None:
        kernels = device.shared_kernels({}, CONSTANTS)
        self.kernel = kernels.get((_SHADER,), timing.entry)
        images = rung.images()
        blank = RungImage(np.zeros((1, 1, 1), np.float32))
        self._maps: dict[str, Any] = {}
        for number in range(_MOST_MAPS):
            use = timing.maps[number] if number < len(timing.maps) else ""
            self._maps[f"gMap{number}"] = _upload(
                device, images.get(use, blank), rung.blocks.get(use)
            )
        curve, mirror = timing.curves
        self._parameters = {
            "layers": timing.layers,
            "kind": timing.kind,
            "curve": curve.numbers,
            "mirrorCurve": mirror.numbers,
        }
        self._device, self._sampler = device, device.gpu.create_sampler()

    def variables(self, threads: int, rounds: int) -> dict[str, Any]:
        return {
            "gTiming": {"count": threads, "rounds": rounds, **self._parameters},
            **self._maps,
            "gSampler": self._sampler,
            "gSum": self._device.new_space(threads),
        }


def _upload(device: Device, image: RungImage, blocks: Blocks | None) -> Any:
    if blocks is None:
        return upload_texture(device, image.format, [image.texels])
    size = blocks.height, blocks.width
    return upload_texture(device, blocks.format, [blocks.blocks], size)
