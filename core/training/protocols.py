"""Interfaces of trainers and of sample sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from verdigris.core.network.latents.quantise import LatentRange
from verdigris.core.network.parameters import FloatArray, Parameters
from verdigris.core.sampling.training_sample import SampleArray

if TYPE_CHECKING:
    from verdigris.core.network.student import SharedBuffers


class SampleSource(Protocol):
    """Draws batches. A batch depends only on the seed of the source and on the step."""

    @property
    def pairs(self) -> int:
        """Consecutive samples that share uv, level and material. The batch size is a multiple.

        A trainer may evaluate texels and frames once for all of them. Two do not reduce quality.
        """
        ...

    def draw(self, step: int, count: int) -> SampleArray:
        """The batch of a step, valid until the next call.

        May run on another thread than the constructor, but not on two threads at once.
        """
        ...


@dataclass(frozen=True)
class StepReport:
    """Result of some steps."""

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
        """Does some steps and waits for their result."""
        ...

    def parameters(self) -> Parameters:
        """A copy of the parameters in fp32. Latents are not rounded."""
        ...

    def latent_ranges(self) -> tuple[LatentRange, ...] | None:
        """The range of each material; None before rounding-aware training."""
        ...

    def latent_squares(self) -> FloatArray:
        """Mean squares of gradients by the latents, [texels, channels]: a copy. They weigh the
        errors of blocks."""
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
        """Frees threads and device memory. No steps are possible afterwards."""
        ...


@runtime_checkable
class BufferOwner(Protocol):
    """A trainer whose parameters are in buffers of the device."""

    def shared_buffers(self) -> SharedBuffers | None:
        """Buffers of the current parameters, which later steps change; None after close()."""
        ...
