"""What both trainers share: their interface, that of sample sources, and the states that
checkpoints store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray
from verdigris.core.network.latents.quantise import LatentRange, pack_ranges, unpack_ranges
from verdigris.core.network.parameters import CheckpointError, Parameters
from verdigris.core.network.spec import LatentLayout, NetworkSpec
from verdigris.core.sampling.draw_samples import SampleArray
from verdigris.core.settings.schedule import Quantisation, TrainingSettings
from verdigris.core.training.latent_rounding import LatentBlocks, LatentGrid

if TYPE_CHECKING:
    from verdigris.core.network.student import SharedBuffers

# Names in checkpoints of the latent ranges and of the ends of blocks.
RANGES, ENDS = "latent_ranges", "latent_ends"
# Name in states of the factor of all rates, which only a bake that has returned to an earlier state
# stores.
RATE = "rate"


class SampleSource(Protocol):
    """Draws batches. A batch depends only on the seed of the source and on the step."""

    @property
    def pairs(self) -> int:
        """Consecutive samples that share uv, level and material. The batch size is a multiple of
        this number.

        A trainer may evaluate texels and frames once for all of them. Two do not reduce quality.
        """
        ...

    def draw(self, step: int, count: int) -> SampleArray:
        """The batch of a step, valid until the next call.

        This may run on another thread than the constructor, but not on two threads at once.
        """
        ...


@dataclass(frozen=True)
class StepReport:
    """The result of some steps."""

    loss: float
    """Mean loss of the steps that were not skipped; NaN if all were skipped."""

    samples: int
    """Training samples used."""

    skipped: int
    """Steps without an update, because the loss or a gradient was not finite."""

    rejected: int = 0
    """Samples that were ignored, because their response was NaN."""


class Trainer(Protocol):
    """Fits parameters to the samples of a source."""

    @property
    def step(self) -> int:
        """Number of steps done, including those before a resume."""
        ...

    def step_many(self, steps: int) -> StepReport:
        """Does so many steps and waits for their result."""
        ...

    def parameters(self) -> Parameters:
        """A copy of the parameters in fp32. Latents are not rounded."""
        ...

    def latent_ranges(self) -> tuple[LatentRange, ...] | None:
        """The range of each material; None before rounding-aware training."""
        ...

    def latent_squares(self) -> FloatArray:
        """A copy of the mean squares of gradients by the latents, [texels, channels]. They weight
        the errors of blocks."""
        ...

    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays that an exact resume needs besides the parameters, by name."""
        ...

    def restore(self, parameters: Parameters, state: dict[str, NDArray[Any]]) -> None:
        """Continues from a state, with the same results as without an interruption."""
        ...

    def restart(self, parameters: Parameters) -> None:
        """Starts at step 0 with other parameters of the same network."""
        ...

    def close(self) -> None:
        """Frees threads and device memory. The trainer cannot be used afterwards."""
        ...


@runtime_checkable
class BufferOwner(Protocol):
    """A trainer whose parameters are in buffers of the device."""

    def shared_buffers(self) -> SharedBuffers | None:
        """Buffers of the current parameters, which later steps change; None after close()."""
        ...


def require_array(
    state: dict[str, NDArray[Any]], name: str, shape: tuple[int, ...]
) -> NDArray[Any]:
    """Raises CheckpointError if the array is absent, has another shape, or is not finite."""
    if name not in state:
        raise CheckpointError(f"trainer state: {name} is missing")
    found = state[name]
    if found.shape != shape:
        raise CheckpointError(f"trainer state: {name} has shape {found.shape}; expected {shape}")
    if not np.isfinite(found).all():
        raise CheckpointError(f"trainer state: {name} has values that are not finite")
    return found


def require_network(parameters: Parameters, spec: NetworkSpec, layout: LatentLayout) -> None:
    """Raises CheckpointError if the parameters belong to another network."""
    if (parameters.spec, parameters.layout) != (spec, layout):
        raise CheckpointError(
            f"trainer state: another network, {parameters.spec} with {parameters.layout}; "
            f"expected {spec} with {layout}"
        )


def pack_rate(rate: float) -> dict[str, NDArray[Any]]:
    """The array that find_rate reads."""
    return {RATE: np.array(rate)} if rate != 1 else {}


def find_rate(state: dict[str, NDArray[Any]]) -> float:
    """The factor of all learning rates in a state."""
    return float(require_array(state, RATE, ())) if RATE in state else 1.0


def find_grid(
    state: dict[str, NDArray[Any]], layout: LatentLayout, channels: int, settings: TrainingSettings
) -> LatentGrid | None:
    """The grid of a state; None before rounding-aware training."""
    quantisation = settings.quantisation
    if quantisation is None or int(state["step"]) <= quantisation.first_step:
        return None
    packed = require_array(state, RANGES, (layout.materials, 2, channels))
    grid = make_grid(layout, unpack_ranges(packed), quantisation)
    if isinstance(grid, LatentBlocks):
        grid.ends = require_array(state, ENDS, grid.ends.shape).astype(np.float32)
    return grid


def make_grid(
    layout: LatentLayout, ranges: Sequence[LatentRange], quantisation: Quantisation
) -> LatentGrid:
    """The grid or blocks to which latents are rounded."""
    return (LatentBlocks if quantisation.lines else LatentGrid)(layout, ranges)


def find_early_ranges(
    state: dict[str, NDArray[Any]], layout: LatentLayout, channels: int, settings: TrainingSettings
) -> tuple[LatentRange, ...] | None:
    """The ranges of a state between the rotation of latents and rounding-aware training; None in
    other states."""
    quantisation, step = settings.quantisation, int(state["step"])
    if quantisation is None or quantisation.lines is None or RANGES not in state:
        return None
    if not quantisation.lines.first_step < step <= quantisation.first_step:
        return None
    return unpack_ranges(require_array(state, RANGES, (layout.materials, 2, channels)))


def pack_grid(
    grid: LatentGrid | None, early: Sequence[LatentRange] | None = None
) -> dict[str, NDArray[Any]]:
    """The arrays that find_grid or find_early_ranges reads."""
    if grid is None:
        return {RANGES: pack_ranges(early)} if early else {}
    ends = {ENDS: grid.ends} if isinstance(grid, LatentBlocks) else {}
    return {RANGES: pack_ranges(grid.ranges), **ends}
