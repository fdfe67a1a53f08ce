"""Nanoseconds of a rung: what an engine's shader takes for a pixel, or for one light of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.base.kernels import Source
from verdigris.core.bundle.cost.time_responses import time_growing, time_material
from verdigris.core.bundle.files.ktx2 import RGBA8, RGBA8_SRGB
from verdigris.core.bundle.runtime.device_materials import upload_texture
from verdigris.core.ladder.texels.pbr_model import CONSTANTS, LAYERS, PbrTextures
from verdigris.core.ladder.textures.texture_files import (
    ANISOTROPY,
    BASE_COLOUR,
    COAT,
    NORMAL,
    ORM,
    SHEEN,
    images_of,
    rgba_bytes,
)
from verdigris.core.settings.rung_names import DETAIL, PBR, REFLECTION, UNLIT, VERTEX

if TYPE_CHECKING:
    from verdigris.core.ladder.rung import Rung

NOT_MEASURED = "a processor does not predict a graphics card"
_SHADER = Source("ladder/measure/time_rung")
# The uses of the textures in the order of the shader.
_MAPS = {
    PBR: (BASE_COLOUR, ORM, NORMAL, COAT, ANISOTROPY, SHEEN),
    UNLIT: ("light",),
    REFLECTION: ("light", "share", "mirror"),
    DETAIL: ("colour", "detail"),
    VERTEX: (),
}
_ENTRIES = {PBR: "timeGltf", VERTEX: "timeVertices"}
_MOST_MAPS = 6


def time_rung(rung: Rung, device: Device) -> float | None:
    """Nanoseconds of an evaluation of a rung: of one light where an engine lights it, and of a
    pixel where light is stored. None on a processor."""
    return None if device.is_software else nanoseconds_of(rung, device)


def nanoseconds_of(rung: Rung, device: Device) -> float:
    """The same on any device."""
    if rung.name not in _MAPS:
        assert rung.material is not None
        return time_material(rung.material).nanoseconds
    run = RungTiming(rung, device)
    return time_growing(run, device).nanoseconds


class RungTiming:
    """The textures of a rung on a device, and a dispatch that reads and shades them."""

    def __init__(self, rung: Rung, device: Device) -> None:
        kernels = device.shared_kernels({}, CONSTANTS)
        self.kernel = kernels.get((_SHADER,), _ENTRIES.get(rung.name, "timeLight"))
        images, stored = images_of(rung, {}), rung.stored
        blank = upload_texture(device, RGBA8, [np.zeros((1, 1, 4), np.uint8)])
        self._maps: dict[str, Any] = {f"gMap{number}": blank for number in range(_MOST_MAPS)}
        for number, use in enumerate(_MAPS[rung.name]):
            if use in rung.blocks:
                found = rung.blocks[use]
                self._maps[f"gMap{number}"] = upload_texture(
                    device, found.format, [found.blocks], (found.height, found.width)
                )
            elif use in images:
                image, is_srgb = images[use]
                name = RGBA8_SRGB if is_srgb else RGBA8
                self._maps[f"gMap{number}"] = upload_texture(device, name, [rgba_bytes(image)])
        curve = getattr(stored, "curve", None)
        mirror = getattr(stored, "mirror_curve", curve)
        layers = stored.layers if isinstance(stored, PbrTextures) else ()
        self._parameters = {
            "layers": sum(1 << bit for bit, each in enumerate(LAYERS) if each in layers),
            "kind": getattr(stored, "kind", 0),
            "curve": [curve.a, curve.b, curve.c] if curve else [0.0] * 3,
            "mirrorCurve": [mirror.a, mirror.b, mirror.c] if mirror else [0.0] * 3,
        }
        self._device, self._sampler = device, device.gpu.create_sampler()

    def variables(self, threads: int, rounds: int) -> dict[str, Any]:
        return {
            "gTiming": {"count": threads, "rounds": rounds, **self._parameters},
            **self._maps,
            "gSampler": self._sampler,
            "gSum": self._device.new_space(threads),
        }
