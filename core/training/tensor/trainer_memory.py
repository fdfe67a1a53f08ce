"""Device memory of a trainer: parameters, optimiser state, gradients, intermediate values, and the
chunks of samples that a device draws and trains several times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import LatentLayout, NetworkSpec
from verdigris.core.sampling.draw_samples import TRAINING_SAMPLE, turn_of
from verdigris.core.training.latent_rounding import block_offsets
from verdigris.core.training.optimiser import square_side
from verdigris.core.training.tensor.group_plan import GroupPlan, slot_count

if TYPE_CHECKING:
    import slangpy

# Steps whose samples are drawn together: enough to fill a device, with little memory.
TENSOR_CHUNK_STEPS = 32
# Parts of a texel record, one number per channel each, in the order of latent_gradients.slang.
RECORD_PARTS = ("value", "v", "gradient")
# Numbers of the struct StepRates in trainer_state.slang.
STEP_RATES = 8
# Indices of the state buffer, in the order of trainer_state.slang, and its size.
TRAIN_STEP, UPDATE_STEP, BAD_STEP, SKIPPED, REJECTED = range(5)
STATE_SIZE = 8
# New chunks between two repeats of the same chunk. With four repeats, 160 steps.
_DISTANCE = 1


@dataclass(frozen=True)
class TrainerContents:
    """Parameters and optimiser state."""

    parameters: Parameters
    moments: NDArray[Any]
    latent_squares: NDArray[Any]
    bases: NDArray[Any]

    @classmethod
    def fresh(cls, parameters: Parameters) -> TrainerContents:
        """Contents at step 0."""
        spec, sides = parameters.spec, len(parameters.sides)
        moments = np.zeros((spec.joined_count(sides), 2), np.float32)
        squares = np.zeros_like(parameters.latents)
        return cls(parameters, moments, squares, np.tile(initial_bases(spec), sides))


@dataclass(frozen=True)
class TensorMemory:
    """The buffers of a trainer.

    Value, mean square and gradient of a texel are adjacent, so that an update touches few cache
    lines, and a step takes the same time with a larger texture.
    """

    decoder: slangpy.Buffer
    """The decoders of all sides, as Parameters.joined_decoders."""
    moments: slangpy.Buffer
    gradients: slangpy.Buffer
    bases: slangpy.Buffer
    weights: slangpy.Buffer
    biases: slangpy.Buffer
    texels: slangpy.Buffer
    ranges: slangpy.Buffer
    ends: slangpy.Buffer
    visits: slangpy.Buffer
    partials: slangpy.Buffer
    losses: slangpy.Buffer
    rates: slangpy.Buffer
    samples: slangpy.Buffer
    state: slangpy.Buffer
    report: slangpy.Buffer
    """Copies of `state` and `losses`, which are read without another submission."""

    @classmethod
    def allocate(
        cls, gpu: slangpy.Device, start: Parameters, plan: GroupPlan, batch: int, chunks: int = 1
    ) -> TensorMemory:
        sizes = buffer_sizes(start.spec, start.layout, plan, batch, chunks, len(start.sides))
        report = _new_report(gpu, sizes.pop("report"))
        buffers = {
            # whole words, because they are cleared
            name: gpu.create_buffer(size=max(-(-size // 4), 1) * 4, usage=_usage())
            for name, size in sizes.items()
        }
        encoder = gpu.create_command_encoder()
        for name, buffer in buffers.items():
            # samples have tens of MB, and are drawn before they are read
            if name != "samples":
                encoder.clear_buffer(buffer)
        gpu.submit_command_buffer(encoder.finish())
        return cls(**buffers, report=report)

    def pick(self, *names: str) -> dict[str, slangpy.Buffer]:
        """The buffers with these names, as arguments of a kernel."""
        return {name: getattr(self, name) for name in names}

    def record_report(self, encoder: slangpy.CommandEncoder) -> None:
        """Records copies for `read_report`."""
        encoder.copy_buffer(self.report, 0, self.state, 0, 4 * STATE_SIZE)
        encoder.copy_buffer(self.report, 4 * STATE_SIZE, self.losses, 0, 4)

    def read_report(self) -> tuple[NDArray[np.uint32], float]:
        """State and loss of the last report that the device has made."""
        words = read_buffer(self.report, np.uint32)
        return words[:STATE_SIZE].copy(), float(words[STATE_SIZE:].view(np.float32)[0])

    def store(self, contents: TrainerContents, step: int) -> None:
        """Uploads the state from which training continues."""
        latents = contents.parameters.latents
        records = np.zeros((len(latents), len(RECORD_PARTS), latents.shape[1]), np.float32)
        records[:, 0], records[:, 1] = latents, contents.latent_squares
        state = np.zeros(STATE_SIZE, np.uint32)
        state[[TRAIN_STEP, UPDATE_STEP]] = step
        _fill(self.decoder, contents.parameters.joined_decoders(), np.float32)
        _fill(self.moments, contents.moments, np.float32)
        _fill(self.bases, contents.bases, np.float32)
        _fill(self.texels, records, np.float32)
        _fill(self.visits, np.zeros(len(latents)), np.uint32)
        _fill(self.state, state, np.uint32)

    def store_ranges(self, offset: FloatArray, unit: FloatArray) -> None:
        """Uploads the values of byte 0 and the steps between bytes, [materials, channels] each."""
        _fill(self.ranges, np.stack([offset, unit], 1), np.float32)

    def store_ends(self, ends: FloatArray) -> None:
        """Uploads the endpoints of blocks [blocks, layers, 2, 4]."""
        _fill(self.ends, ends, np.float32)


def buffer_sizes(
    spec: NetworkSpec,
    layout: LatentLayout,
    plan: GroupPlan,
    batch: int,
    chunks: int = 1,
    sides: int = 1,
) -> dict[str, int]:
    """The size of each buffer of TensorMemory in bytes."""
    decoder = spec.joined_count(sides)
    slots, latents = sides * slot_count(spec), layout.texel_count * spec.latent_channels
    return {
        "decoder": 4 * decoder,
        "moments": 8 * decoder,
        "gradients": 4 * decoder,
        "bases": sides * initial_bases(spec).nbytes,
        "weights": plan.element_bytes * slots,
        "biases": 4 * slots,
        "texels": 4 * len(RECORD_PARTS) * latents,
        "ranges": 8 * layout.materials * spec.latent_channels,
        "ends": 8 * block_offsets(layout)[-1] * spec.latent_channels,
        "visits": 4 * layout.texel_count,
        "partials": 4 * slots * plan.group_count(batch // sides),
        "losses": 4,
        "state": 4 * STATE_SIZE,
        "report": 4 * (STATE_SIZE + 1),
        "rates": 4 * STEP_RATES * TENSOR_CHUNK_STEPS,
        "samples": TRAINING_SAMPLE.itemsize * batch * TENSOR_CHUNK_STEPS * chunks,
    }


def initial_bases(spec: NetworkSpec) -> NDArray[np.float32]:
    """Initial means and bases, left and right, of each matrix of a side, for rotated_adam.slang."""
    side = square_side(spec)
    zeros, identity = np.zeros((side, side), np.float32), np.eye(side, dtype=np.float32)
    squares = np.stack([zeros, identity, zeros, identity]).ravel()
    return np.tile(squares, 1 + len(spec.layers))


def read_buffer(buffer: slangpy.Buffer, dtype: Any) -> NDArray[Any]:
    """A copy of the buffer as a flat array with this type."""
    return np.asarray(buffer.to_numpy()).reshape(-1).view(np.uint8).view(dtype)


def _fill(buffer: slangpy.Buffer, values: NDArray[Any], kind: type[np.generic]) -> None:
    buffer.copy_from_numpy(np.ascontiguousarray(values, kind))


def _new_report(gpu: slangpy.Device, size: int) -> slangpy.Buffer:
    import slangpy

    return gpu.create_buffer(
        size=size,
        usage=slangpy.BufferUsage.copy_destination,
        memory_type=slangpy.MemoryType.read_back,
    )


def _usage() -> slangpy.BufferUsage:
    import slangpy

    return (
        slangpy.BufferUsage.shader_resource
        | slangpy.BufferUsage.unordered_access
        | slangpy.BufferUsage.copy_source
        | slangpy.BufferUsage.copy_destination
    )


@runtime_checkable
class DeviceSampleSource(Protocol):
    """A source that draws batches into a buffer of the device."""

    revision: int
    """A number that changes with the distribution of the samples. The trainer then draws again what
    it had drawn ahead."""

    @property
    def pairs(self) -> int:
        """As of SampleSource."""

    @property
    def repeats(self) -> int:
        """The number of times that a sample is trained."""

    def record(
        self,
        encoder: slangpy.CommandEncoder,
        samples: slangpy.Buffer,
        step: int,
        steps: int,
        count: int,
        before: int = 0,
    ) -> None:
        """Records commands that draw `steps` batches, from `step` on, into `samples`, behind
        `before` other batches."""
        ...


class Place(NamedTuple):
    """The place of a step's samples in the buffer."""

    chunk: int = 0
    """Number of the chunk in the buffer."""

    stride: int = 0
    """Distance between the steps of the chunk from which neighbouring waves take their samples; 0
    when the samples are trained for the first time."""


def chunks_of(repeats: int) -> int:
    """The number of chunks in the buffer with so many repeats."""
    return 1 + (repeats - 1) * _DISTANCE


class DrawnChunks:
    """The chunks in a trainer's buffer of samples. What a step trains depends on its number alone,
    so that a resumed bake trains the same."""

    def __init__(self, source: DeviceSampleSource, samples: slangpy.Buffer, batch: int) -> None:
        self._source, self._samples, self._batch = source, samples, batch
        self._held: dict[int, int] = {}
        """The place of each drawn chunk in the buffer, by the number of the chunk."""
        self._revision = source.revision

    def place(self, step: int, encoder: slangpy.CommandEncoder) -> Place:
        """The place of the samples for the chunk of this step. If they are not drawn yet, records
        the commands that draw them."""
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
        """A free place in the buffer; if there is none, that of the oldest chunk."""
        count = chunks_of(self._source.repeats)
        if len(self._held) == count:
            return self._held.pop(min(self._held))
        return next(place for place in range(count) if place not in self._held.values())
