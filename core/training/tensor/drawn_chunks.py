"""Chunks of samples that a device draws for its trainer, and trains several times."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from verdigris.core.sampling.draw_samples import turn_of
from verdigris.core.training.tensor.trainer_memory import TENSOR_CHUNK_STEPS

if TYPE_CHECKING:
    import slangpy

# New chunks between two repeats of the same chunk: 160 steps with four repeats.
_DISTANCE = 1


@runtime_checkable
class DeviceSampleSource(Protocol):
    """A source that draws batches to a buffer of the device."""

    revision: int
    """Changes with the distribution of the samples. The trainer then draws again what it had drawn
    ahead."""

    @property
    def repeats(self) -> int:
        """How often a sample is trained."""

    def record(
        self,
        encoder: slangpy.CommandEncoder,
        samples: slangpy.Buffer,
        step: int,
        steps: int,
        count: int,
        before: int = 0,
    ) -> None:
        """Records commands that draw `steps` batches, from `step` on, to `samples`, in which so
        many batches are before them."""
        ...


class Place(NamedTuple):
    """Where the samples of a step are."""

    chunk: int = 0
    """Number of the chunk in the buffer."""

    stride: int = 0
    """How far apart the steps of the chunk are from which neighbouring waves take their samples;
    0 where they are trained for the first time."""


def chunks_of(repeats: int) -> int:
    """Chunks in the buffer, for so many repeats."""
    return 1 + (repeats - 1) * _DISTANCE


class DrawnChunks:
    """The chunks in a trainer's buffer of samples. What a step trains depends on its number alone,
    so that a resumed bake trains the same."""

    def __init__(self, source: DeviceSampleSource, samples: slangpy.Buffer, batch: int) -> None:
        self._source, self._samples, self._batch = source, samples, batch
        self._held: dict[int, int] = {}
        """Number of a drawn chunk: its place in the buffer."""
        self._revision = source.revision

    def place(self, step: int, encoder: slangpy.CommandEncoder) -> Place:
        """Where the samples of the chunk of this step are. Records their drawing, if they are not
        there yet."""
        if self._revision != self._source.revision:
            self._held, self._revision = {}, self._source.revision
        drawn, turn = turn_of(step // TENSOR_CHUNK_STEPS, self._source.repeats, _DISTANCE)
        if drawn not in self._held:
            self._held[drawn] = place = self._free_place()
            first, steps = drawn * TENSOR_CHUNK_STEPS, TENSOR_CHUNK_STEPS
            before = place * TENSOR_CHUNK_STEPS
            self._source.record(encoder, self._samples, first, steps, self._batch, before)
        return Place(self._held[drawn], 2 * turn - 1 if turn else 0)

    def _free_place(self) -> int:
        """A place in the buffer; that of the oldest chunk, if all are taken."""
        count = chunks_of(self._source.repeats)
        if len(self._held) == count:
            return self._held.pop(min(self._held))
        return next(place for place in range(count) if place not in self._held.values())
