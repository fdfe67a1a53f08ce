"""Kernels specialised to a student: its numbers become constants of a compiled program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.network.spec import ACTIVATIONS, LOSSES, NetworkSpec
from verdigris.shaders import SHADER_FOLDER

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
class Kernel:
    gpu: slangpy.Device
    program: slangpy.ShaderProgram
    pipeline: slangpy.ComputePipeline

    def bind(self, arguments: Mapping[str, Any]) -> Bound:
        """Raises KeyError for a name that the kernel does not have."""
        import slangpy

        root = self.gpu.create_root_shader_object(self.program)
        cursor = slangpy.ShaderCursor(root).find_entry_point(0)
        for name, value in arguments.items():
            if not cursor.has_field(name):
                raise KeyError(f"the kernel has no argument {name!r}")
            cursor[name] = value
        return Bound(self.pipeline, root)


class StudentKernels:
    """Compiles kernels for one specification and loss; each is a file and an entry point."""

    def __init__(
        self,
        gpu: slangpy.Device,
        spec: NetworkSpec,
        loss: str = "cbrt_l1",
        constants: Mapping[str, int | float] | None = None,
        defines: Mapping[str, str] | None = None,
    ) -> None:
        self._gpu = gpu
        self._session = gpu.create_slang_session(
            compiler_options={
                "include_paths": [SHADER_FOLDER],
                "defines": {
                    "ACTIVATION": ACTIVATIONS[spec.activation],
                    "LOSS": LOSSES[loss],
                    **(defines or {}),
                },
            }
        )
        # Every later import of these names finds the modules that are already there.
        self._define("network_constants", spec.slang_constants())
        self._define("trainer_constants", constants or {})

    def load(self, module: str, entry: str) -> Kernel:
        program = self._session.load_program(module, [entry])
        return Kernel(self._gpu, program, self._gpu.create_compute_pipeline(program))

    def _define(self, module: str, constants: Mapping[str, int | float]) -> None:
        lines = [f"module {module};"]
        for name, value in constants.items():
            kind = "int" if isinstance(value, int) else "float"
            lines.append(f"public static const {kind} {name} = {value!r};")
        self._session.load_module_from_source(module, "\n".join(lines) + "\n")


def create_buffer(
    gpu: slangpy.Device, data: NDArray[Any] | None = None, size: int = 0, label: str = ""
) -> slangpy.Buffer:
    """A storage buffer with a copy of the data, or of zeros."""
    import slangpy

    if data is None:
        data = np.zeros(max(size, 4), np.uint8)
    usage = (
        slangpy.BufferUsage.shader_resource
        | slangpy.BufferUsage.unordered_access
        | slangpy.BufferUsage.copy_source
        | slangpy.BufferUsage.copy_destination
    )
    flat = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    return gpu.create_buffer(size=flat.nbytes, usage=usage, label=label, data=flat)


def read_buffer(buffer: slangpy.Buffer, dtype: Any) -> NDArray[Any]:
    """A copy of the buffer's bytes as an array of that type."""
    return np.array(buffer.to_numpy()).reshape(-1).view(np.uint8).view(dtype)
