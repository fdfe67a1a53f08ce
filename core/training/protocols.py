"""What trainers and sources of samples agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from verdigris.core.network.parameters import Parameters
from verdigris.core.network.quantise import LatentRange
from verdigris.core.sampling.training_sample import SampleArray

if TYPE_CHECKING:
    from verdigris.core.network.student import SharedBuffers


class SampleSource(Protocol):
    """Draws batches; deterministic in (its own seed, step), whatever was drawn before."""

    @property
    def pairs(self) -> int:
        """Samples in a row that share uv, level and material; batches are multiples of it.

        A trainer may work out texels and frames once for each run. Two cost nothing in quality.
        """
        ...

    def draw(self, step: int, count: int) -> SampleArray:
        """The batch of a step. The caller must not keep it past the next call.

        May be called on another thread than the source was made on, one call at a time.
        """
        ...


@dataclass(frozen=True)
class StepReport:
    """What a run of steps did."""

    loss: float
    """Mean loss over the steps; NaN when every one of them was skipped."""

    samples: int
    """Training samples used."""

    skipped: int
    """Steps without effect because loss or gradients were not finite."""

    rejected: int = 0
    """Samples left out because their response was not a number."""


class Trainer(Protocol):
    """Fits parameters to the samples of a source, some steps at a time."""

    @property
    def step(self) -> int:
        """Steps done so far, over all runs that this one resumes."""
        ...

    def step_many(self, steps: int) -> StepReport:
        """Does some steps; returns once the parameters hold their result."""
        ...

    def parameters(self) -> Parameters:
        """A copy of the current parameters in fp32, latents not rounded."""
        ...

    def latent_ranges(self) -> tuple[LatentRange, ...] | None:
        """Of each material, once latents are rounded; None before."""
        ...

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything beyond the parameters that an exact resume needs, as arrays by name."""
        ...

    def restore(self, parameters: Parameters, state: dict[str, NDArray[Any]]) -> None:
        """Goes on from a state as if the run had never stopped."""
        ...

    def restart(self, parameters: Parameters) -> None:
        """Begins again at step 0, with other parameters of the same network."""
        ...

    def close(self) -> None:
        """Frees threads and device memory; the trainer cannot step afterwards."""
        ...


@runtime_checkable
class BufferOwner(Protocol):
    """A trainer on the device whose network can be looked at where it is."""

    def shared_buffers(self) -> SharedBuffers:
        """Valid until the trainer is closed."""
        ...
