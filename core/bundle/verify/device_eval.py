"""Evaluates bundles through the runtime shader, the one that engines get."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import MOST_CONSTANT_BYTES, Device, Source, open_device
from verdigris.core.base.errors import DeviceError
from verdigris.core.bundle.files.arithmetic import PORTABLE
from verdigris.core.bundle.runtime.device_materials import (
    DeviceMaterials,
    RuntimeChoice,
    Stored,
    fastest_advised,
    stored_of,
)
from verdigris.core.bundle.runtime.runtime import ENTRY_POINT, fits_in_constants, other_modules

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from verdigris.core.bundle.files.arithmetic import Arithmetic
    from verdigris.core.bundle.files.manifest_parts import Bounds, FileRecord
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.network.spec import NetworkSpec

    Floats = NDArray[np.float32]
    Decoder = Callable[[Floats, Floats, Floats, Floats], Floats]

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
        ("reserved", "<u4"),
    ]
)


class QueryEvaluator:
    """Lists of queries to several materials of one network."""

    def __init__(
        self, materials: Sequence[Stored], device: Device, choice: RuntimeChoice | None = None
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
    ) -> Floats:
        """The response [N, 3]; `random`, from 0 to below 1, chooses in stochastic filtering."""
        queries = np.zeros(len(uv), QUERY)
        values = {"uv": uv, "lod": lod, "wi": wi, "wo": wo, "material": material, "random": random}
        for name, value in values.items():
            queries[name] = value
        materials = self.materials
        output = materials.buffer(np.zeros((len(uv), 4), np.float32), 16)
        self._device.dispatch(
            materials.kernel((QUERIES,), ENTRY_POINT),
            len(uv),
            {
                "neuralQueries": materials.buffer(queries, QUERY.itemsize),
                "neuralQueryCount": len(uv),
                "neuralResponses": output,
                **materials.bindings(),
            },
        )
        found = output.to_numpy().view(np.float32).reshape(-1, 4)
        return np.ascontiguousarray(found[:, :3])


def device_decoders(bundle: Bundle, device: Device) -> list[tuple[str, Decoder]]:
    """Every way in which this device can decode a bundle exactly and the bundle asks for, by
    name."""
    stored = [stored_of(bundle)]
    choices = exact_choices(device, fits_in_constants(bundle.spec), bundle.advised)
    return [(name, QueryEvaluator(stored, device, choice).response) for name, choice in choices]


def device_notes(bundle: Bundle, device: Device) -> list[str]:
    """What is left out of the ways to decode it, and why; and shaders of it that are not proven."""
    manifest = bundle.manifest
    notes = left_out(device, [("the bundle", manifest.arithmetic, manifest.bounds)])
    if not fits_in_constants(bundle.spec):
        notes.append(
            f"a decoder in constants is not checked: it is above {MOST_CONSTANT_BYTES >> 10} KB"
        )
    return notes + shader_notes(bundle.spec, manifest.runtime)


def shader_notes(spec: NetworkSpec, runtime: Iterable[FileRecord]) -> list[str]:
    """Which of the shaders that engines get from runtime/ are others than those that are proven."""
    files = other_modules(spec, runtime)
    if not files:
        return []
    return [f"not what this Verdigris writes for the network, and proves: {', '.join(files)}"]


def left_out(device: Device, parts: Iterable[tuple[str, Arithmetic | None, Bounds]]) -> list[str]:
    """Why cooperative vectors are not checked, where they are not: a line for each part, by name,
    that asks for plain code; and one for a device that has none, where no part does."""
    reasons = [
        arithmetic.against_halves(name, bounds)
        for name, arithmetic, bounds in parts
        if arithmetic and arithmetic.advised == PORTABLE
    ]
    if not fastest_advised(device, None).is_cooperative:
        reasons = [] if reasons else [f"{device.name} has none"]
    return [f"cooperative vectors are not checked: {reason}" for reason in reasons]


def exact_choices(
    device: Device, with_constants: bool = False, advised: str | None = None
) -> list[tuple[str, RuntimeChoice]]:
    """The decoders that this device can run and `advised` allows, with exact filtering, by
    name."""
    found = [("portable", RuntimeChoice())]
    fastest = fastest_advised(device, advised)
    if fastest.is_cooperative:
        name = f"cooperative, {advised}" if fastest.way else "cooperative"
        found.append((name, fastest))
        found.append((f"{name}, row-major", replace(fastest, is_optimal=False)))
    if with_constants:
        which = [each for each in found if each[1].is_optimal]
        found += [(f"{name}, constants", replace(way, is_constant=True)) for name, way in which]
    return found


def find_device(
    choice: str | None, tell: Callable[[str], object], is_needed: bool = False
) -> Device | None:
    """The device that is asked for; None, and that is told, where nobody asked."""
    try:
        return open_device(choice)
    except DeviceError as failure:
        # numpy needs none; whoever asked for one is told
        if choice or is_needed:
            raise
        tell(f"numpy alone: {failure}")
        return None
