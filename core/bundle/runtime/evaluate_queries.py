"""Evaluates lists of queries with the runtime shader that engines get.

With cooperative matrices, the threads of a group multiply together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.base.errors import BundleError, DeviceError
from verdigris.core.base.kernels import Source
from verdigris.core.bundle.files.reference import SamplerRows
from verdigris.core.bundle.runtime.device_materials import (
    DeviceMaterials,
    RuntimeChoice,
    StoredMaterial,
)
from verdigris.core.bundle.runtime.runtime_files import ENTRY_POINT

if TYPE_CHECKING:
    import slangpy
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats

QUERIES = Source("bundle/runtime/evaluate_queries")
# NeuralQuery of evaluate_queries.slang.
QUERY = np.dtype(
    [
        ("uv", "<f4", 2),
        ("lod", "<f4"),
        ("material", "<u4"),
        ("wi", "<f4", 3),
        ("random", "<f4"),
        ("wo", "<f4", 3),
        ("random2", "<f4"),
    ]
)
# The same with live inputs.
LIVE_QUERY = np.dtype([*QUERY.descr, ("live", "<f4", 3), ("reserved", "<f4")])
# NeuralAnswer of evaluate_queries.slang.
ANSWER = np.dtype(
    [
        ("response", "<f4", 3),
        ("pdf", "<f4"),
        ("drawn", "<f4", 3),
        ("drawn_pdf", "<f4"),
        ("drawn_response", "<f4", 3),
        ("reserved", "<u4"),
    ]
)
# The answer of a group of threads.
GROUP_ANSWER = np.dtype([("response", "<f4", 3), ("reserved", "<f4")])
# kGroupThreads of neural_tiles.slang, and kGroupQueries of evaluate_queries.slang: the queries of
# a group.
GROUP_THREADS, GROUP_QUERIES = 32, 256


def as_queries(
    uv: Floats,
    lod: Floats | float,
    wi: Floats,
    wo: Floats,
    material: NDArray[Any] | int = 0,
    random: Floats | float = 0.0,
    random2: Floats | float = 0.0,
    live: Floats | None = None,
) -> NDArray[Any]:
    """Queries in QUERY, or with live values [N, inputs] in LIVE_QUERY."""
    queries = np.zeros(len(uv), QUERY if live is None else LIVE_QUERY)
    columns = uv, lod, material, wi, random, wo, random2
    for name, column in zip(QUERY.names or (), columns, strict=True):
        queries[name] = column
    if live is not None:
        queries["live"][:, : live.shape[1]] = live
    return queries


def dispatch_queries(
    materials: DeviceMaterials,
    device: Device,
    queries: NDArray[Any],
    answers: slangpy.Buffer,
    threads: int,
) -> None:
    """Runs evaluate_queries.slang, as these materials compile it."""
    device.dispatch(
        materials.kernel((QUERIES,), ENTRY_POINT),
        threads,
        {
            "neuralQueries": materials.device.new_buffer(queries),
            "neuralQueryCount": len(queries),
            "neuralAnswers": answers,
            **materials.bindings(),
        },
    )


class QueryEvaluator:
    """Evaluates queries to several materials with one architecture."""

    def __init__(
        self,
        materials: Sequence[StoredMaterial],
        device: Device,
        choice: RuntimeChoice | None = None,
    ) -> None:
        self.materials = DeviceMaterials(materials, device, choice)
        self._device = device

    def response(
        self,
        uv: Floats,
        lod: Floats | float,
        wi: Floats,
        wo: Floats,
        material: NDArray[Any] | int = 0,
        random: Floats | float = 0.0,
        live: Floats | None = None,
    ) -> Floats:
        """The response [N, 3]; `random`, from 0 to below 1, chooses in stochastic filtering. Live
        values [N, inputs] are the first material's defaults if not given."""
        answers = self.answers(uv, lod, wi, wo, material, random, live=live)
        return np.ascontiguousarray(answers["response"])

    def sample(
        self,
        uv: Floats,
        lod: Floats,
        wi: Floats,
        wo: Floats,
        random: Floats,
        material: int = 0,
        live: Floats | None = None,
    ) -> SamplerRows:
        """Densities of wi, and what the sampler draws for `random` [N, 2]."""
        found = self.answers(uv, lod, wi, wo, material, random[:, 0], random[:, 1], live)
        columns = (found[name].copy() for name in ("pdf", "drawn", "drawn_pdf"))
        return SamplerRows(random, *columns)

    def answers(
        self,
        uv: Floats,
        lod: Floats | float,
        wi: Floats,
        wo: Floats,
        material: NDArray[Any] | int = 0,
        random: Floats | float = 0.0,
        random2: Floats | float = 0.0,
        live: Floats | None = None,
    ) -> NDArray[Any]:
        """Responses in GROUP_ANSWER if groups of threads evaluate them. Otherwise responses,
        densities and the draws of the sampler, in ANSWER."""
        live = self.materials.live_of_queries(live, len(uv))
        queries = as_queries(uv, lod, wi, wo, material, random, random2, live)
        answer, threads = ANSWER, len(uv)
        if self.materials.choice.is_together:
            answer, threads = GROUP_ANSWER, GROUP_THREADS * -(-len(uv) // GROUP_QUERIES)
        output = self.materials.device.new_buffer(np.zeros(len(uv), answer))
        dispatch_queries(self.materials, self._device, queries, output, threads)
        found = output.to_numpy().view(np.uint8)[: len(uv) * answer.itemsize]
        return np.asarray(found.view(answer))


def has_cooperative_matrices(device: Device) -> bool:
    """Whether the device multiplies tiles of half floats."""
    import slangpy

    features = slangpy.Feature.cooperative_matrix, slangpy.Feature.half
    return all(device.gpu.has_feature(each) for each in features)


class MatrixEvaluator(QueryEvaluator):
    """Evaluates responses of materials that share one decoder, with cooperative matrices."""

    def __init__(self, materials: Sequence[StoredMaterial], device: Device) -> None:
        if not has_cooperative_matrices(device):
            raise DeviceError(f"{device} has no cooperative matrices: use the portable decoder")
        decoders = len({each.weights for each in materials})
        if decoders > 1:
            raise BundleError(
                f"the materials have {decoders} decoders, a group of threads evaluates one: "
                "evaluate them one by one"
            )
        super().__init__(materials, device, RuntimeChoice(is_together=True))
