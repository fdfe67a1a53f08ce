"""Kernels of a Slang file with their buffers, and Adam on a device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import MOST_THREADS, Device
from verdigris.core.base.kernels import Kernels, Source

if TYPE_CHECKING:
    import slangpy as spy
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_ADAM = "compress/adam_steps"


class Program:
    """The kernels of a Slang file below `shaders/` or in one of `folders`."""

    def __init__(
        self, device: Device, source: str, folders: Sequence[Path] = (), **defines: Any
    ) -> None:
        self.device = device
        options = dict(device.compiler_options)
        options["include_paths"] = [*folders, *options["include_paths"]]
        options["defines"] = {name: str(value) for name, value in defines.items()}
        session = device.gpu.create_slang_session(compiler_options=options)
        self._kernels, self._source = Kernels(device.gpu, session), source

    def run(self, entry: str, threads: int, source: str | None = None, **arguments: Any) -> None:
        """Runs a kernel of this file, or of another, on this many threads."""
        kernel = self._kernels.get([Source(source or self._source)], entry)
        self.device.dispatch(kernel, threads, {}, **arguments)

    def run_in_parts(
        self, entry: str, threads: int, source: str | None = None, **arguments: Any
    ) -> None:
        """The same for kernels that add `firstThread` to their number: more threads than one
        dispatch can have."""
        for first in range(0, threads, MOST_THREADS):
            part = min(threads - first, MOST_THREADS)
            self.run(entry, part, source, firstThread=first, **arguments)

    def buffer(self, values: NDArray[Any]) -> spy.Buffer:
        """A buffer of numbers that kernels read and write."""
        return self.device.new_buffer(values)

    def zeros(self, *shape: int) -> spy.Buffer:
        return self.buffer(np.zeros(shape, np.float32))

    def clear(self, buffer: spy.Buffer) -> None:
        encoder = self.device.gpu.create_command_encoder()
        encoder.clear_buffer(buffer)
        self.device.gpu.submit_command_buffer(encoder.finish())


def read(buffer: spy.Buffer, *shape: int, kind: type = np.float32) -> NDArray[Any]:
    """The numbers of a buffer."""
    found: NDArray[Any] = buffer.to_numpy().view(kind).reshape(shape).copy()
    return found


class Adam:
    """Parameters that Adam moves against their gradients (Kingma and Ba 2015)."""

    BETAS = 0.9, 0.999

    def __init__(self, program: Program, values: Floats) -> None:
        self._program, self.count = program, values.size
        self.values = program.buffer(values.astype(np.float32))
        self.gradients = program.zeros(values.size)
        self._moments = program.zeros(values.size, 2)
        self._steps = 0

    def step(self, rate: float) -> None:
        """One step, which also sets the gradients to zero."""
        self._steps += 1
        first, second = (1 - beta**self._steps for beta in self.BETAS)
        self._program.run_in_parts(
            "stepAdam",
            self.count,
            source=_ADAM,
            count=self.count,
            rate=rate * second**0.5 / first,
            beta1=self.BETAS[0],
            beta2=self.BETAS[1],
            values=self.values,
            gradients=self.gradients,
            moments=self._moments,
        )
