"""Device memory of a trainer: parameters, optimiser state, gradients and intermediate values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network.parameters import FloatArray, Parameters
from verdigris.core.network.spec import LatentLayout, NetworkSpec
from verdigris.core.sampling.training_sample import TRAINING_SAMPLE
from verdigris.core.training.latent_blocks import block_offsets
from verdigris.core.training.rotated_adam import square_side
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
        moments = np.zeros((len(parameters.decoder), 2), np.float32)
        squares = np.zeros_like(parameters.latents)
        return cls(parameters, moments, squares, initial_bases(parameters.spec))


@dataclass(frozen=True)
class TensorMemory:
    """The buffers of a trainer.

    Value, mean square and gradient of a texel are adjacent, so that an update touches few cache
    lines, and a step takes the same time with a larger texture.
    """

    decoder: slangpy.Buffer
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

    @classmethod
    def allocate(
        cls, gpu: slangpy.Device, start: Parameters, plan: GroupPlan, batch: int, chunks: int = 1
    ) -> TensorMemory:
        sizes = buffer_sizes(start.spec, start.layout, plan, batch, chunks)
        buffers = {
            # whole words, as they are cleared
            name: gpu.create_buffer(size=max(-(-size // 4), 1) * 4, usage=_usage())
            for name, size in sizes.items()
        }
        encoder = gpu.create_command_encoder()
        for name, buffer in buffers.items():
            # drawn before they are read, and tens of MB
            if name != "samples":
                encoder.clear_buffer(buffer)
        gpu.submit_command_buffer(encoder.finish())
        return cls(**buffers)

    def store(self, contents: TrainerContents, step: int) -> None:
        """Uploads the state from which training continues."""
        latents = contents.parameters.latents
        records = np.zeros((len(latents), len(RECORD_PARTS), latents.shape[1]), np.float32)
        records[:, 0], records[:, 1] = latents, contents.latent_squares
        state = np.zeros(STATE_SIZE, np.uint32)
        state[[TRAIN_STEP, UPDATE_STEP]] = step
        _fill(self.decoder, contents.parameters.decoder, np.float32)
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


def _fill(buffer: slangpy.Buffer, values: NDArray[Any], kind: type[np.generic]) -> None:
    buffer.copy_from_numpy(np.ascontiguousarray(values, kind))


def buffer_sizes(
    spec: NetworkSpec, layout: LatentLayout, plan: GroupPlan, batch: int, chunks: int = 1
) -> dict[str, int]:
    """Bytes of each buffer of TensorMemory, with so many chunks of samples."""
    slots, latents = slot_count(spec), layout.texel_count * spec.latent_channels
    return {
        "decoder": 4 * spec.parameter_count,
        "moments": 8 * spec.parameter_count,
        "gradients": 4 * spec.parameter_count,
        "bases": initial_bases(spec).nbytes,
        "weights": plan.element_bytes * slots,
        "biases": 4 * slots,
        "texels": 4 * len(RECORD_PARTS) * latents,
        "ranges": 8 * layout.materials * spec.latent_channels,
        "ends": 8 * block_offsets(layout)[-1] * spec.latent_channels,
        "visits": 4 * layout.texel_count,
        "partials": 4 * slots * plan.group_count(batch),
        "losses": 4,
        "state": 4 * STATE_SIZE,
        "rates": 4 * STEP_RATES * TENSOR_CHUNK_STEPS,
        "samples": TRAINING_SAMPLE.itemsize * batch * TENSOR_CHUNK_STEPS * chunks,
    }


def initial_bases(spec: NetworkSpec) -> NDArray[np.float32]:
    """Initial means and bases, left and right, of each matrix of rotated_adam.slang."""
    side = square_side(spec)
    zeros, identity = np.zeros((side, side), np.float32), np.eye(side, dtype=np.float32)
    squares = np.stack([zeros, identity, zeros, identity]).ravel()
    return np.tile(squares, 1 + len(spec.layers))


def create_buffer(
    gpu: slangpy.Device, data: NDArray[Any] | None = None, size: int = 0, label: str = ""
) -> slangpy.Buffer:
    """A storage buffer with a copy of the data, or with zeros."""
    if data is None:
        data = np.zeros(max(size, 4), np.uint8)
    flat = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    return gpu.create_buffer(size=flat.nbytes, usage=_usage(), label=label, data=flat)


def _usage() -> slangpy.BufferUsage:
    import slangpy

    return (
        slangpy.BufferUsage.shader_resource
        | slangpy.BufferUsage.unordered_access
        | slangpy.BufferUsage.copy_source
        | slangpy.BufferUsage.copy_destination
    )


def read_buffer(buffer: slangpy.Buffer, dtype: Any) -> NDArray[Any]:
    """A copy of the buffer as a flat array of this type."""
    return np.array(buffer.to_numpy()).reshape(-1).view(np.uint8).view(dtype)
