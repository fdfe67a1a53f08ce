"""Device memory of a trainer: parameters, moments, gradients, and what kernels pass on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network.parameters import FloatArray, Parameters
from verdigris.core.network.spec import LatentLayout, NetworkSpec
from verdigris.core.sampling.training_sample import TRAINING_SAMPLE
from verdigris.core.training.rotated_adam import square_side
from verdigris.core.training.tensor_kernels import create_buffer, read_buffer
from verdigris.core.training.tensor_plan import GroupPlan, slot_count

if TYPE_CHECKING:
    import slangpy

# Samples of as many steps are drawn at once for this trainer: enough to fill a device, and
# little memory.
TENSOR_CHUNK_STEPS = 32
# Parts of a texel's record, each one number a channel; the order is that of latent_gradients.slang.
RECORD_PARTS = ("value", "v", "gradient")
# Numbers that change from step to step: StepRates in trainer_state.slang.
STEP_RATES = 4
# Indices into the state buffer; the order is that of trainer_state.slang.
TRAIN_STEP, UPDATE_STEP, BAD_STEP, SKIPPED, REJECTED = range(5)


@dataclass(frozen=True)
class TensorMemory:
    """A texel's value, mean square and gradient lie side by side, so that an update of a texel
    touches few cache lines, and a bigger texture costs memory but no time."""

    decoder: slangpy.Buffer
    moments: slangpy.Buffer
    gradients: slangpy.Buffer
    bases: slangpy.Buffer
    weights: slangpy.Buffer
    biases: slangpy.Buffer
    texels: slangpy.Buffer
    ranges: slangpy.Buffer
    visits: slangpy.Buffer
    partials: slangpy.Buffer
    losses: slangpy.Buffer
    rates: slangpy.Buffer
    samples: slangpy.Buffer
    state: slangpy.Buffer

    @classmethod
    def allocate(
        cls, gpu: slangpy.Device, start: Parameters, plan: GroupPlan, batch: int
    ) -> TensorMemory:
        sizes = buffer_sizes(start.spec, start.layout, plan, batch)
        return cls(**{name: create_buffer(gpu, size=size) for name, size in sizes.items()})

    def store(
        self,
        parameters: Parameters,
        moments: NDArray[Any],
        latent_squares: NDArray[Any],
        bases: NDArray[Any],
        step: int,
    ) -> None:
        """Sets everything that a run goes on from."""
        texels, channels = parameters.latents.shape
        records = np.zeros((texels, len(RECORD_PARTS), channels), np.float32)
        for part, values in enumerate((parameters.latents, latent_squares)):
            records[:, part] = values
        state = np.zeros(8, np.uint32)
        state[[TRAIN_STEP, UPDATE_STEP]] = step
        self.decoder.copy_from_numpy(parameters.decoder.astype(np.float32))
        self.moments.copy_from_numpy(np.ascontiguousarray(moments, np.float32))
        self.bases.copy_from_numpy(np.ascontiguousarray(bases, np.float32))
        self.texels.copy_from_numpy(records)
        self.visits.copy_from_numpy(np.zeros(texels, np.uint32))
        self.state.copy_from_numpy(state)

    def store_ranges(self, offset: FloatArray, unit: FloatArray) -> None:
        """Of the grid that latents are rounded to, [materials, channels] each."""
        self.ranges.copy_from_numpy(np.stack([offset, unit], 1).astype(np.float32))

    def records(self, channels: int) -> NDArray[np.float32]:
        """[texels, parts, channels]"""
        values: NDArray[np.float32] = read_buffer(self.texels, np.float32)
        return values.reshape(-1, len(RECORD_PARTS), channels)


def buffer_sizes(
    spec: NetworkSpec, layout: LatentLayout, plan: GroupPlan, batch: int
) -> dict[str, int]:
    """Bytes of each buffer of TensorMemory."""
    slots, latents = slot_count(spec), layout.texel_count * spec.latent_channels
    return {
        "decoder": 4 * spec.parameter_count,
        "moments": 8 * spec.parameter_count,
        "gradients": 4 * spec.parameter_count,
        "bases": first_bases(spec).nbytes,
        "weights": plan.element_bytes * slots,
        "biases": 4 * slots,
        "texels": 4 * len(RECORD_PARTS) * latents,
        "ranges": 8 * layout.materials * spec.latent_channels,
        "visits": 4 * layout.texel_count,
        "partials": 4 * slots * plan.group_count(batch),
        "losses": 4,
        "rates": 4 * STEP_RATES * TENSOR_CHUNK_STEPS,
        "samples": TRAINING_SAMPLE.itemsize * batch * TENSOR_CHUNK_STEPS,
        "state": 32,
    }


def first_bases(spec: NetworkSpec) -> NDArray[np.float32]:
    """What rotated_adam.slang begins with: mean and basis of each matrix, on the left and right."""
    side = square_side(spec)
    nothing, axes = np.zeros((side, side), np.float32), np.eye(side, dtype=np.float32)
    squares = np.stack([nothing, axes, nothing, axes]).ravel()
    return np.tile(squares, 1 + len(spec.layers))
