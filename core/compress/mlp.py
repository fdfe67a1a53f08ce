"""Kernels of a Slang file with their buffers, Adam on a device, and a small network with its
training. shaders/compress/mlp.slang and adam_steps.slang have the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.device import MOST_THREADS, Device
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.kernels import Kernels, Source

if TYPE_CHECKING:
    import slangpy as spy

    from verdigris.core.base.array_types import Floats


_ADAM = "compress/adam_steps"
_KERNELS = "compress/mlp"
_FIRST_SCALE = 128.0
# Samples that a thread of sumGradients visits.
PART = 1024
SLOPE = 0.01
"""The slope of the leaky rectifier below 0."""
# Matrix hardware reads rows of a multiple of so many numbers.
_ROW = 8


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
        self.device.submit(encoder)


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


class Layer(NamedTuple):
    """A layer of the network."""

    matrix: NDArray[np.floating]
    """[outputs, inputs]"""
    bias: NDArray[np.floating]


def first_layers(widths: Sequence[int]) -> list[Layer]:
    """Random weights that keep the variance of what passes through rectifiers (He et al. 2015)."""
    random = np.random.default_rng(1)
    return [
        Layer(random.normal(0, (2 / columns) ** 0.5, (rows, columns)), np.zeros(rows))
        for columns, rows in pairwise(widths)
    ]


def network_defines(device: Device, layers: list[Layer]) -> dict[str, float]:
    """Definitions for mlp.slang."""
    import slangpy as spy

    width, inputs = layers[0].matrix.shape
    if inputs % _ROW or width % _ROW:
        raise VerdigrisError(
            f"{inputs} inputs and a width of {width}: both must be multiples of {_ROW}, as matrix "
            "hardware reads rows"
        )
    return {
        "INPUTS": inputs,
        "WIDTH": width,
        "HIDDEN": len(layers) - 1,
        "SLOPE": SLOPE,
        "OUTPUTS": layers[-1].matrix.shape[0],
        "COOPERATIVE": int(device.gpu.has_feature(spy.Feature.cooperative_vector)),
    }


class Network:
    """Weights, their optimiser, and the tape of a batch."""

    def __init__(self, program: Program, layers: list[Layer], samples: int) -> None:
        self._program, self.steps = program, 0
        self._shapes = [layer.matrix.shape for layer in layers]
        flat = np.concatenate([part.reshape(-1) for layer in layers for part in layer])
        self._count = flat.size
        self._master = program.buffer(flat.astype(np.float32))
        self._gradients, self._moments = program.zeros(flat.size), program.zeros(flat.size, 2)
        # rows of the last transposed matrix are padded
        room = flat.size + _ROW * self._shapes[-1][1]
        self.buffers = {name: _halves(program, room) for name in ("weights", "transposed")}
        """The arguments of kernels that evaluate the network."""
        widths = sum(max(shape) for shape in self._shapes)
        self._tape: dict[str, Any] = {
            "samples": samples,
            "reads": _halves(program, samples * widths),
            "errors": _halves(program, samples * widths),
            "scaling": program.buffer(np.array([_FIRST_SCALE, 0, 0], np.float32)),
        }
        self.training: dict[str, Any] = {"network": self.buffers, "tape": self._tape}
        """The arguments of kernels that go forwards and back."""
        # a rate of 0 only makes the halves
        self._move(0.0)

    def step(self, rate: float) -> None:
        """One step of Adam, by what the last batch left on the tape."""
        self.steps += 1
        self._program.clear(self._gradients)
        self._program.run(
            "sumGradients",
            self._count * -(-self._tape["samples"] // PART),
            _KERNELS,
            count=self._count,
            part=PART,
            tape=self._tape,
            gradients=self._gradients,
        )
        self._move(rate * (1 - 0.999**self.steps) ** 0.5 / (1 - 0.9**self.steps))
        self._program.run("updateScale", 1, _KERNELS, scaling=self._tape["scaling"])

    def _move(self, rate: float) -> None:
        self._program.run(
            "stepWeights",
            self._count,
            _KERNELS,
            count=self._count,
            rate=rate,
            master=self._master,
            gradients=self._gradients,
            moments=self._moments,
            scaling=self._tape["scaling"],
            **self.buffers,
        )

    @property
    def loss_scale(self) -> float:
        return float(read(self._tape["scaling"], 3)[0])

    def layers(self) -> list[Layer]:
        """The master weights."""
        return self._split(read(self._master, self._count))

    def gradients(self) -> list[Layer]:
        """Gradients of the last step."""
        return self._split(read(self._gradients, self._count))

    def _split(self, flat: NDArray[np.float32]) -> list[Layer]:
        layers = []
        for rows, columns in self._shapes:
            matrix, bias, flat = np.split(flat, [rows * columns, rows * columns + rows])
            layers.append(Layer(matrix.reshape(rows, columns), bias))
        return layers


def _halves(program: Program, count: int) -> spy.Buffer:
    return program.buffer(np.zeros(count + count % 2, np.float16))
