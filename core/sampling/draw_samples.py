"""Draws training samples of materials on the device; the twin of draw_samples.slang."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.device import MOST_THREADS, Source
from verdigris.core.base.errors import SettingsError
from verdigris.core.network.spec import COARSE_WIDTH, LatentLayout
from verdigris.core.sampling.distribution import distribution_of, product
from verdigris.core.sampling.training_sample import TRAINING_SAMPLE, SampleArray
from verdigris.core.settings.draw_settings import DrawSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    import slangpy

    from verdigris.core.base.device import Device

_SOURCE = Source("sampling/draw_samples")
# A thread draws one sample, or some of those that share their place.
_ENTRIES = {1: "drawSamples", 2: "drawSamplesInTwos", 4: "drawSamplesInFours"}
# On a card four take longer than two and two.
_MOST_TOGETHER, _MOST_TOGETHER_ON_SOFTWARE = 2, 4
# Steps that are drawn together for a trainer on the processor.
NUMPY_CHUNK_STEPS = 8
# Chunks that are drawn between two turns of one.
DISTANCE = 4
# The least cosine of directions in steps that leave out what is near the horizon.
FAR_FROM_HORIZON = 0.01


class DrawnMaterial(Protocol):
    """What drawing needs of a material; a Teacher is one."""

    @property
    def device(self) -> Device: ...

    @property
    def lanes_per_sample(self) -> int: ...

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel: ...

    def bindings(self) -> dict[str, Any]: ...


class _Pending(NamedTuple):
    """What the device is drawing."""

    chunk: tuple[int, int]
    submission: int


@dataclass
class DrawnSamples:
    """Implements SampleSource, and for trainers on the device DeviceSampleSource."""

    materials: Sequence[DrawnMaterial]
    layout: LatentLayout
    seed: int = 0
    settings: DrawSettings = field(default_factory=DrawSettings)
    importance: NDArray[Any] | None = None
    horizon_from: int = 0
    """The step from which on directions come as near to the horizon as the settings say; steps that
    are drawn before, and those that are drawn at once with them, stay FAR_FROM_HORIZON."""

    def __post_init__(self) -> None:
        if len(self.materials) != self.layout.materials:
            raise SettingsError(
                f"{len(self.materials)} materials for {self.layout.materials} latent textures"
            )
        self._device = self.materials[0].device
        most = _MOST_TOGETHER_ON_SOFTWARE if self._device.is_software else _MOST_TOGETHER
        self._together = math.gcd(self.pairs, most)
        entry = _ENTRIES[self._together]
        self._kernels = [material.kernel(_SOURCE, entry) for material in self.materials]
        self._directions = distribution_of(np.array(self.settings.direction_weights()))
        self._direction_sums = self._buffer(self._directions.sums.nbytes, self._directions.sums)
        self._buffers: dict[int, slangpy.Buffer] = {}
        self.revision = 0
        self.error_weights: NDArray[np.float32] | None = None
        self._weigh()

    def set_importance(self, importance: NDArray[Any] | None) -> None:
        """Draws by another map from the next batch on. Trainers that hold batches they have drawn
        ahead see it by `revision`."""
        self.importance = importance
        self._weigh()

    def set_error_weights(self, weights: NDArray[np.float32]) -> None:
        """Draws each material's places by a map of its own, too: (materials, height, width)."""
        self.error_weights = weights
        self._weigh()

    def _weigh(self) -> None:
        maps: list[NDArray[Any] | None] = [self.importance]
        if self.error_weights is not None:
            maps = [
                each if self.importance is None else product(self.importance, each)
                for each in self.error_weights
            ]
        # one for all materials, or one for each
        self._densities = [distribution_of(each) for each in maps]
        self._sums = [self._buffer(each.sums.nbytes, each.sums) for each in self._densities]
        self.revision += 1
        # the chunk in the buffer that is being filled, and those that are kept for their turns
        self._pending: _Pending | None = None
        self._kept: dict[tuple[int, int], SampleArray] = {}

    @property
    def pairs(self) -> int:
        return self.settings.pairs

    def draw(self, step: int, count: int) -> SampleArray:
        """Draws ahead: while the steps of a chunk are trained, the device fills the next one."""
        number, place = divmod(step, NUMPY_CHUNK_STEPS)
        repeats = self.settings.repeats
        drawn, turn = turn_of(number, repeats)
        batches = self._chunk((drawn, count), oldest_wanted(number, repeats))
        if self._pending is None:
            turns = (turn_of(number + ahead, repeats) for ahead in range(1, repeats + 1))
            chunks = ((turn.drawn, count) for turn in turns)
            missing = next((chunk for chunk in chunks if chunk not in self._kept), None)
            if missing:
                self._pending = self._submit(missing)
        return mixed_batch(batches, place, turn)

    def _chunk(self, chunk: tuple[int, int], oldest: int) -> SampleArray:
        """The chunk's samples [steps, points, pairs], drawn now if they are neither kept nor on
        their way; forgets what is older than the oldest."""
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
    ) -> None:
        """Draws the batches of some steps to the start of the buffer, as many in a dispatch as
        devices take."""
        # samples that share their place are of one material
        points, parts = count // self.pairs, len(self.materials)
        if points < parts:
            raise SettingsError(
                f"batch is {count}: use at least {parts * self.pairs} for {parts} materials"
            )
        ends = [points * (index + 1) // parts * self.pairs for index in range(parts)]
        first, shares = 0, self._shares(step)
        for index, (material, end) in enumerate(zip(self.materials, ends, strict=True)):
            threads = (end - first) // self._together * material.lanes_per_sample
            at_once = max(1, MOST_THREADS // threads)
            for before in range(0, steps, at_once):
                these = min(at_once, steps - before)
                arguments = self._arguments(index, step + before, these, count)
                arguments["shares"] = shares
                arguments |= {"stepsBefore": before, "firstSlot": first, "slots": end - first}
                self._device.dispatch(
                    self._kernels[index],
                    these * threads,
                    {
                        "gDraw": arguments,
                        "gImportanceSums": self._sums[index % len(self._sums)],
                        "gDirectionSums": self._direction_sums,
                        "gSamples": samples,
                        **material.bindings(),
                    },
                    encoder,
                )
            first = end

    def _shares(self, step: int) -> dict[str, float]:
        """How directions are drawn from this step on."""
        settings = self.settings
        is_far = step < self.horizon_from
        return {
            "mirror": settings.mirror_share,
            "halfDifference": settings.half_difference_share,
            "leastCosine": max(settings.least_cosine, FAR_FROM_HORIZON if is_far else 0.0),
        }

    def _arguments(self, material: int, step: int, steps: int, batch: int) -> dict[str, Any]:
        settings = self.settings
        density = self._densities[material % len(self._densities)]
        return {
            "seed": self.seed & 0xFFFFFFFF,
            "firstStep": step & 0xFFFFFFFF,
            "steps": steps,
            "batch": batch,
            "material": material,
            "pairs": settings.pairs,
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
            "importance": {"width": density.width, "height": density.height},
            "lossPower": settings.importance_in_loss,
            "lossFactor": 1.0 / density.mean_power(settings.importance_in_loss),
            "directions": {
                "map": {"width": self._directions.width, "height": self._directions.height},
                "peak": self._directions.peak,
            },
        }

    def _buffer(self, size: int, data: NDArray[Any] | None = None) -> slangpy.Buffer:
        import slangpy

        usage = slangpy.BufferUsage.shader_resource | slangpy.BufferUsage.unordered_access
        return self._device.gpu.create_buffer(size=size, usage=usage, data=data)


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
