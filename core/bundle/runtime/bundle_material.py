"""A bundle as a material on a device, decoded as in an engine, for pictures and measurements."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Device, open_device
from verdigris.core.base.kernels import Source
from verdigris.core.bundle.files.ktx2 import R8, RGBA16F
from verdigris.core.bundle.files.read import Bundle
from verdigris.core.bundle.runtime.device_materials import (
    DeviceMaterials,
    RuntimeChoice,
    StoredMaterial,
    read_stored,
    upload_texture,
)
from verdigris.core.material.evaluator import DeviceMaterial

if TYPE_CHECKING:
    import slangpy

    from verdigris.core.geometry.height_map import HeightMap
    from verdigris.core.network.parameters import Parameters

_MATERIAL = Source("bundle/runtime/bundle_material")


class BundleMaterial(DeviceMaterial):
    """A bundle, decoded by the runtime shader. Set `lod` and `random` between pictures."""

    def __init__(
        self,
        bundle: Bundle | StoredMaterial,
        device: Device | None = None,
        choice: RuntimeChoice | None = None,
        from_registers: bool = False,
    ) -> None:
        self.device = device or open_device()
        self.lod = 0.0
        self.random = 0.0
        maps = {} if isinstance(bundle, StoredMaterial) else _maps(bundle, self.device)
        self.tiles = None if isinstance(bundle, StoredMaterial) else bundle.manifest.tiles
        stored = bundle if isinstance(bundle, StoredMaterial) else read_stored(bundle)
        below: Bundle | None = None
        if isinstance(bundle, Bundle) and bundle.manifest.transmitted and not from_registers:
            below, self.index_below = bundle.transmitted, bundle.manifest.transmitted.index
        chosen = replace(
            choice or RuntimeChoice(),
            from_registers=from_registers,
            has_maps=bool(maps),
            transmits=below is not None,
        )
        sides = [stored] if below is None else [stored, read_stored(below)]
        self._materials = DeviceMaterials(sides, self.device, chosen)
        self._maps = maps
        self._folder = bundle if isinstance(bundle, Bundle) else None
        self.is_dark_and_opaque = not maps
        self.live = stored.live
        self._bundle = bundle if isinstance(bundle, Bundle) and choice is None else None
        self._parameters: Parameters | None = None

    @cached_property
    def heights(self) -> HeightMap | None:
        """The height map of the bundle, if it has one."""
        return self._folder.relief() if self._folder else None

    def in_numpy(self) -> tuple[Parameters, int] | None:
        """The parameters, and the level that is drawn; None for another choice than the plain one,
        and between levels."""
        if self._bundle is None or self._materials.choice.from_registers or self.lod:
            return None
        return self.read_parameters(), 0

    def read_parameters(self) -> Parameters:
        """The parameters of all sides."""
        assert self._bundle is not None, "it was made from stored numbers"
        if self._parameters is None:
            self._parameters = self._bundle.parameters()
        return self._parameters

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel:
        return self._materials.kernel((source, _MATERIAL), entry)

    def bindings(self) -> dict[str, Any]:
        materials = self._materials
        above, *below = map(_uniform, materials.records)
        sides = {"below": below[0], "index": self.index_below} if below else {}
        bound: dict[str, Any] = {
            "gBundle": {
                "record": above,
                "lod": self.lod,
                "random": self.random,
                "live": self.live_uniform,
                **sides,
            },
            "gBundleWeights": materials.weights,
        }
        if materials.floats:
            bound["gBundleFloats"] = materials.floats
        if not materials.choice.from_registers:
            bound["gBundleLatents"] = materials.textures[0]
        if materials.choice.has_maps or self._fetches_by_sampler:
            bound["gBundleSampler"] = materials.sampler
        return bound | self._maps

    @property
    def _fetches_by_sampler(self) -> bool:
        choice = self._materials.choice
        return choice.filter == "sampler" and not choice.from_registers


def _uniform(record: Any) -> dict[str, Any]:
    """A record as the struct NeuralRecord."""
    names = ("width", "height", "levels", "texture", "weights")
    values: dict[str, Any] = {name: record[name].item() for name in names}
    values |= {f"matrix{layer}": int(at) for layer, at in enumerate(record["matrices"])}
    bits = record["live"].view("<u4").tolist()
    values |= {f"reserved{number}": value for number, value in enumerate(bits)}
    for name in ("scale", "offset"):
        values[name] = record[name].reshape(-1, 4).tolist()
    return values


def _maps(bundle: Bundle, device: Device) -> dict[str, slangpy.Texture]:
    """Both maps if there is one; a missing map is constant."""
    emission, opacity = bundle.emission(), bundle.opacity()
    if emission is None and opacity is None:
        return {}
    dark, solid = np.zeros((1, 1, 4), np.float16), np.full((1, 1, 1), 255, np.uint8)
    return {
        "gBundleEmission": upload_texture(device, RGBA16F, emission or [dark]),
        "gBundleOpacity": upload_texture(device, R8, opacity or [solid]),
    }
