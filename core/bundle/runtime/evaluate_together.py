"""Evaluates responses with cooperative matrices: the threads of a group multiply together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.base.errors import BundleError, DeviceError
from verdigris.core.bundle.runtime.device_materials import (
    DeviceMaterials,
    RuntimeChoice,
    StoredMaterial,
)
from verdigris.core.bundle.runtime.evaluate_queries import as_queries, dispatch_queries

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from verdigris.core.bundle.files.reference import Floats

# kGroupThreads of neural_tiles.slang, and kGroupQueries of evaluate_queries.slang: the queries of
# a group.
GROUP_THREADS, GROUP_QUERIES = 32, 256


def has_cooperative_matrices(device: Device) -> bool:
    """Whether the device multiplies tiles of half floats."""
    import slangpy

    features = slangpy.Feature.cooperative_matrix, slangpy.Feature.half
    return all(device.gpu.has_feature(each) for each in features)


class MatrixEvaluator:
    """Evaluates queries to materials that share one decoder."""

    def __init__(self, materials: Sequence[StoredMaterial], device: Device) -> None:
        if not has_cooperative_matrices(device):
            raise DeviceError(f"{device} has no cooperative matrices: use the portable decoder")
        decoders = len({each.weights for each in materials})
        if decoders > 1:
            raise BundleError(
                f"the materials have {decoders} decoders, a group of threads evaluates one: "
                "evaluate them one by one"
            )
        self.materials = DeviceMaterials(materials, device, RuntimeChoice(is_together=True))
        self._device = device

    def response(
        self,
        uv: Floats,
        lod: Floats | float,
        wi: Floats,
        wo: Floats,
        material: NDArray[Any] | int = 0,
        live: Floats | None = None,
    ) -> Floats:
        """The response [N, 3]."""
        live = self.materials.live_of_queries(live, len(uv))
        queries = as_queries(uv, lod, wi, wo, material, live=live)
        output = self.materials.device.new_space(len(uv), 16)
        groups = -(-len(uv) // GROUP_QUERIES)
        dispatch_queries(self.materials, self._device, queries, output, groups * GROUP_THREADS)
        found = output.to_numpy().view(np.float32).reshape(-1, 4)
        return np.ascontiguousarray(found[: len(uv), :3])
