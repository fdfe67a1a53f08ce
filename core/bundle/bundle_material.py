"""A bundle as a material on a device: pictures and measurements of what engines will show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from verdigris.core.bundle.device_materials import DeviceMaterials, RuntimeChoice, Stored, stored_of
from verdigris.core.device import Device, Source, open_device
from verdigris.core.material.evaluator import DeviceMaterial

if TYPE_CHECKING:
    import slangpy

    from verdigris.core.bundle.read import Bundle

_MATERIAL = Source("bundle/bundle_material")


class BundleMaterial(DeviceMaterial):
    """Decoded by the runtime shader. What varies between pictures is set on the object."""

    def __init__(
        self,
        bundle: Bundle | Stored,
        device: Device | None = None,
        choice: RuntimeChoice | None = None,
        lod: float = 0.0,
        from_registers: bool = False,
    ) -> None:
        self.device = device or open_device()
        self.lod = lod
        self.random = 0.0
        stored = bundle if isinstance(bundle, Stored) else stored_of(bundle)
        chosen = replace(choice or RuntimeChoice(), from_registers=from_registers)
        self._materials = DeviceMaterials([stored], self.device, chosen)

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel:
        return self._materials.kernel((source, _MATERIAL), entry)

    def bindings(self) -> dict[str, Any]:
        materials = self._materials
        record = materials.records[0]
        names = [name for name in record.dtype.names or () if name not in ("scale", "offset")]
        values: dict[str, Any] = {name: record[name].tolist() for name in names}
        for name in ("scale", "offset"):
            values[name] = record[name].reshape(-1, 4).tolist()
        bound: dict[str, Any] = {
            "gBundle": {"record": values, "lod": self.lod, "random": self.random},
            "gBundleWeights": materials.weights,
        }
        if not materials.choice.from_registers:
            bound["gBundleLatents"] = materials.textures[0]
            if materials.choice.filter == "sampler":
                bound["gBundleSampler"] = materials.sampler
        return bound
