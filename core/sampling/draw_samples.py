"""Draws training samples of materials on the device, with draw_samples.slang.

Drawn chunks can be trained several times (`repeats`), because drawing a sample can take longer than
training it. The order depends only on the step, so a resumed run gets the same samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.device import MOST_THREADS
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.kernels import Source
from verdigris.core.material.evaluator import (
    SAMPLES,
    DeviceMaterial,
    compile_material,
    use_material,
)
from verdigris.core.network.spec import COARSE_WIDTH, LatentLayout
from verdigris.core.sampling.distribution import distribution_of
from verdigris.core.settings.draw_settings import DrawSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    import slangpy

# One training sample, the same as in training_sample.slang: 17 tightly packed 32-bit words.
TRAINING_SAMPLE = np.dtype(
    [
        ("uv", "f4", 2),
        ("level", "f4"),  # the mip level that the sample trains, a whole number
        ("material", "u4"),
        ("wi", "f4", 3),
        ("wo", "f4", 3),
        ("response", "f4", 3),
        ("weight", "f4"),
        ("live", "f4", 3),  # of live inputs, the same for all samples of a position
    ]
)

SampleArray = NDArray[np.void]
"""A record array of TRAINING_SAMPLE."""

_SOURCE = Source("sampling/draw_samples")
# The kernel by the number of samples that one thread draws at the same position. The kernel of a
# material for all other purposes draws one sample.
_ENTRIES = {2: "drawSamplesInTwos", 4: "drawSamplesInFours"}
# On a GPU, one thread with four samples takes longer than two threads with two.
_MOST_TOGETHER, MOST_TOGETHER_ON_SOFTWARE = 2, 4
# Steps in one chunk of samples for the numpy trainer.
NUMPY_CHUNK_STEPS = 8
# New chunks between two repeats of the same chunk.
_DISTANCE = 4
# Share of points at the ends of steps of live inputs: errors would be largest at both ends of a
# range.
LIVE_SHARE = 0.1


class _Pending(NamedTuple):
    """A chunk that the device is drawing."""

    chunk: tuple[int, int]
    submission: int


@dataclass
class DrawnSamples:
    """Implements SampleSource (numpy trainer) and DeviceSampleSource (tensor trainer)."""

    materials: Sequence[DeviceMaterial]
    layout: LatentLayout
    seed: int = 0
    settings: DrawSettings = field(default_factory=DrawSettings)
    importance: NDArray[Any] | None = None
    index_below: float = 0.0
    """With an index, half of the samples have light from below, for a transmitted side."""

    def __post_init__(self) -> None:
        if len(self.materials) != self.layout.materials:
            raise SettingsError(
                f"{len(self.materials)} materials for {self.layout.materials} latent textures"
            )
        self._device = self.materials[0].device
        most = MOST_TOGETHER_ON_SOFTWARE if self._device.is_software else _MOST_TOGETHER
        self._together = math.gcd(self.pairs, most)
        self._kernels = [self._kernel(material) for material in self.materials]
        # measured here, not between the commands of a batch
        self._live_knots = [_live_knots(material.live_knots) for material in self.materials]
        self._directions = distribution_of(np.array(self.settings.direction_weights()))
        self._direction_sums = self._buffer(self._directions.sums.nbytes, self._directions.sums)
        self._buffers: dict[int, slangpy.Buffer] = {}
        self.revision = 0
        self._build_distribution()

    def _kernel(self, material: DeviceMaterial) -> slangpy.ComputeKernel:
        if self._together == 1:
            return compile_material(material)
        return material.kernel(_SOURCE, _ENTRIES[self._together])

    def set_importance(self, importance: NDArray[Any] | None) -> None:
        """Uses another importance map from the next batch on. `revision` makes trainers discard
        batches that they drew ahead."""
        self.importance = importance
        self._build_distribution()

    def _build_distribution(self) -> None:
        self._density = distribution_of(self.importance)
        self._sums = self._buffer(self._density.sums.nbytes, self._density.sums)
        self.revision += 1
        # the chunk that the device is drawing, and the chunks that will be repeated
        self._pending: _Pending | None = None
        self._kept: dict[tuple[int, int], SampleArray] = {}

    @property
    def pairs(self) -> int:
        """With light from below, it has half of the pairs."""
        pairs = self.settings.pairs
        return pairs + pairs % 2 if self.index_below else pairs

    @property
    def repeats(self) -> int:
        return self.settings.repeats

    def draw(self, step: int, count: int) -> SampleArray:
        """Samples of a step. Draws ahead: the device fills the next chunk during training."""
        number, place = divmod(step, NUMPY_CHUNK_STEPS)
        repeats = self.settings.repeats
        drawn, turn = turn_of(number, repeats)
        batches = self._chunk((drawn, count), _oldest_wanted(number, repeats))
        if self._pending is None:
            turns = (turn_of(number + ahead, repeats) for ahead in range(1, repeats + 1))
            chunks = ((turn.drawn, count) for turn in turns)
            missing = next((chunk for chunk in chunks if chunk not in self._kept), None)
            if missing:
                self._pending = self._submit(missing)
        return _mixed_batch(batches, place, turn)

    def _chunk(self, chunk: tuple[int, int], oldest: int) -> SampleArray:
        """The samples of a chunk [steps, points, pairs], drawn now unless they are kept or pending.
        Deletes chunks older than `oldest`."""
        if chunk not in self._kept:
            pending, self._pending = self._pending, None
            if pending is None or pending.chunk != chunk:
                pending = self._submit(chunk)
            self._device.wait_for(pending.submission)
            drawn = np.array(self._buffers[chunk[1]].to_numpy()).view(TRAINING_SAMPLE)
            kept = {key: value for key, value in self._kept.items() if key[0] >= oldest}
            self._kept = {**kept, chunk: drawn.reshape(NUMPY_CHUNK_STEPS, -1, self.pairs)}
        return self._kept[chunk]

    def _submit(self, chunk: tuple[int, int]) -> _Pending:
        number, count = chunk
        if count not in self._buffers:
            self._buffers = {
                count: self._buffer(TRAINING_SAMPLE.itemsize * count * NUMPY_CHUNK_STEPS)
            }
        encoder = self._device.gpu.create_command_encoder()
        self.record(
            encoder, self._buffers[count], number * NUMPY_CHUNK_STEPS, NUMPY_CHUNK_STEPS, count
        )
        return _Pending(chunk, self._device.gpu.submit_command_buffer(encoder.finish()))

    def record(
        self,
        encoder: slangpy.CommandEncoder,
        samples: slangpy.Buffer,
        step: int,
        steps: int,
        count: int,
        before: int = 0,
    ) -> None:
        """Records commands that draw the batches of some steps into the buffer, after `before`
        other batches."""
        # samples at one position belong to one material
        points, parts = count // self.pairs, len(self.materials)
        if points < parts:
            raise SettingsError(
                f"batch is {count}: use at least {parts * self.pairs} for {parts} materials"
            )
        ends = [points * (index + 1) // parts * self.pairs for index in range(parts)]
        first = 0
        for index, (material, end) in enumerate(zip(self.materials, ends, strict=True)):
            threads = (end - first) // self._together * material.lanes_per_sample
            at_once = max(1, MOST_THREADS // threads)
            for done in range(0, steps, at_once):
                these = min(at_once, steps - done)
                arguments = self._arguments(index, step + done, these, count)
                arguments |= {
                    "stepsBefore": before + done,
                    "firstSlot": first,
                    "slots": end - first,
                }
                variables = {
                    "gDraw": arguments,
                    "gImportanceSums": self._sums,
                    "gDirectionSums": self._direction_sums,
                    "gSamples": samples,
                }
                if self._together == 1:
                    slope = self.settings.slope_step
                    drawn = these * (end - first)
                    use_material(material, SAMPLES, drawn, slope, variables, encoder)
                else:
                    variables |= material.bindings()
                    kernel = self._kernels[index]
                    self._device.dispatch(kernel, these * threads, variables, encoder)
            first = end

    def _arguments(self, material: int, step: int, steps: int, batch: int) -> dict[str, Any]:
        settings = self.settings
        density = self._density
        return {
            "seed": self.seed & 0xFFFFFFFF,
            "firstStep": step & 0xFFFFFFFF,
            "steps": steps,
            "batch": batch,
            "material": material,
            "pairs": self.pairs,
            "indexBelow": self.index_below,
            "width": self.layout.width,
            "height": self.layout.height,
            "levels": self.layout.levels,
            "coarseShare": settings.coarse_share,
            "coarsePlaces": settings.coarse_places,
            "mostCoarsePlaces": settings.places_at_most,
            "finestPlaces": max(1, settings.finest_places),
            "finestWidth": settings.finest_width,
            "coarseWidth": COARSE_WIDTH,
            "slopeStep": settings.slope_step,
            "shares": {
                "mirror": settings.mirror_share,
                "halfDifference": settings.half_difference_share,
                "leastCosine": settings.least_cosine,
            },
            "importance": {"width": density.width, "height": density.height},
            "lossPower": settings.importance_in_loss,
            "lossFactor": 1.0 / density.mean_power(settings.importance_in_loss),
            "directions": {
                "map": {"width": self._directions.width, "height": self._directions.height},
                "peak": self._directions.peak,
            },
            "liveSteps": _live_steps(self.materials[material].live_steps),
            "liveShare": LIVE_SHARE,
            "liveKnots": self._live_knots[material],
        }

    def _buffer(self, size: int, data: NDArray[Any] | None = None) -> slangpy.Buffer:
        import slangpy

        usage = slangpy.BufferUsage.shader_resource | slangpy.BufferUsage.unordered_access
        return self._device.gpu.create_buffer(size=size, usage=usage, data=data)


def _live_steps(steps: tuple[int, ...]) -> slangpy.float3:
    """Steps of the live inputs; 1 for the rest of three, and 0 if there are none."""
    import slangpy

    return slangpy.float3(*steps, *(1.0 if steps else 0.0,) * (3 - len(steps)))


def _live_knots(knots: NDArray[np.float32]) -> list[list[float]]:
    """Quantiles of three live inputs, in four floats."""
    padded = np.zeros((len(knots), 4), np.float32)
    padded[:, : knots.shape[1]] = knots
    quads: list[list[float]] = padded.tolist()
    return quads


class Turn(NamedTuple):
    """The chunk to train at a place of the training order."""

    drawn: int
    """Number of the drawn chunk. The first chunks of a run have negative numbers, and fewer
    repeats."""

    turn: int
    """How often the chunk was trained before."""


def turn_of(number: int, repeats: int, distance: int = _DISTANCE) -> Turn:
    """The first of `repeats` chunks in a row is new. The second was drawn `distance` chunks ago,
    the third twice as long ago, and so on."""
    newest, turn = divmod(number, repeats)
    return Turn(newest - turn * distance, turn)


def _oldest_wanted(number: int, repeats: int) -> int:
    """The oldest drawn chunk that is still used at `number` or later."""
    return number // repeats - (repeats - 1) * _DISTANCE


def _mixed_batch(batches: SampleArray, place: int, turn: int) -> SampleArray:
    """A batch of a chunk [steps, points, pairs]. In a repeat, neighbouring points come from
    different steps, and from other steps than in the repeats before."""
    steps, count, _ = batches.shape
    points = np.arange(count)
    batch: SampleArray = (
        batches[(place + (2 * turn - 1) * points) % steps, points] if turn else batches[place]
    )
    return batch.reshape(-1)
