"""Kernels specialised to a student: its numbers become constants of a compiled program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Device, Source, constants_module
from verdigris.core.network.spec import ACTIVATIONS, LOSSES, NetworkSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    import slangpy
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Bound:
    """A kernel with its arguments: recorded again and again at no cost but the recording."""

    pipeline: slangpy.ComputePipeline
    arguments: slangpy.ShaderObject

    def record(self, encoder: slangpy.ComputePassEncoder, groups: int) -> None:
        encoder.bind_pipeline(self.pipeline, self.arguments)
        encoder.dispatch_compute([groups, 1, 1])


@dataclass(frozen=True)
class Recipe:
    """All that kernels of one student differ by."""

    spec: NetworkSpec
    loss: str
    constants: Mapping[str, int | float]
    defines: Mapping[str, str]


class StudentKernels:
    """Compiles kernels for one specification and loss."""

    def __init__(self, device: Device, recipe: Recipe) -> None:
        self.device = device
        spec, loss = recipe.spec, recipe.loss
        names = {"ACTIVATION": ACTIVATIONS[spec.activation], "LOSS": LOSSES[loss]}
        self._kernels = device.shared_kernels(
            {**names, **recipe.defines},
            (
                constants_module("network_constants", spec.slang_constants()),
                constants_module("trainer_constants", recipe.constants),
            ),
        )

    def bind(self, source: Source, entry: str, arguments: Mapping[str, Any]) -> Bound:
        """Raises KeyError for a name that the kernel does not have."""
        import slangpy

        kernel = self._kernels.get((source,), entry)
        root = self.device.gpu.create_root_shader_object(kernel.program)
        # Arguments of the entry point: a kernel's own `dispatch` leaves these out, silently.
        cursor = slangpy.ShaderCursor(root).find_entry_point(0)
        for name, value in arguments.items():
            if not cursor.has_field(name):
                raise KeyError(f"{entry} has no argument {name!r}")
            cursor[name] = value
        return Bound(kernel.pipeline, root)


def create_buffer(
    gpu: slangpy.Device, data: NDArray[Any] | None = None, size: int = 0, label: str = ""
) -> slangpy.Buffer:
    """A storage buffer with a copy of the data, or of zeros."""
    if data is None:
        data = np.zeros(max(size, 4), np.uint8)
    flat = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    return gpu.create_buffer(size=flat.nbytes, usage=_usage(), label=label, data=flat)


def _usage() -> slangpy.BufferUsage:
    import slangpy

    return (
        slangpy.BufferUsage.shader_resource
        | slangpy.BufferUsage.unordered_access
        | slangpy.BufferUsage.copy_source
        | slangpy.BufferUsage.copy_destination
    )


def read_buffer(buffer: slangpy.Buffer, dtype: Any) -> NDArray[Any]:
    """A copy of the buffer's bytes as an array of that type."""
    return np.array(buffer.to_numpy()).reshape(-1).view(np.uint8).view(dtype)
