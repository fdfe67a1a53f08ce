"""Which drawn chunk is trained when, where each is trained several times.

On a processor a sample can take longer to draw than to train. The order hangs on nothing but a
chunk's number, so that a run which was cut off goes on with the samples that it would have had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from verdigris.core.sampling.training_sample import SampleArray

# Chunks that are drawn between two turns of one.
DISTANCE = 4


class Turn(NamedTuple):
    """What is trained in place of a chunk."""

    drawn: int
    """The number by which it is drawn. A run begins with some of negative numbers, which are drawn
    like others and have fewer turns."""

    turn: int
    """How often it was trained before."""


def turn_of(number: int, repeats: int) -> Turn:
    """Of `repeats` chunks in a row the first is new; the others were `DISTANCE` draws ago, twice as
    many, and so on."""
    newest, turn = divmod(number, repeats)
    return Turn(newest - turn * DISTANCE, turn)


def oldest_wanted(number: int, repeats: int) -> int:
    """Chunks that were drawn before this one have no turn after `number`."""
    return number // repeats - (repeats - 1) * DISTANCE


def mixed_batch(batches: SampleArray, place: int, turn: int) -> SampleArray:
    """A batch of a chunk [steps, points, pairs] that is trained again: each point of another step
    than its neighbours, and of another than in the turns before."""
    steps, count, _ = batches.shape
    points = np.arange(count)
    batch: SampleArray = (
        batches[(place + (2 * turn - 1) * points) % steps, points] if turn else batches[place]
    )
    return batch.reshape(-1)
