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
from verdigris.core.training.tensor.tensor_kernels import create_buffer
from verdigris.core.training.tensor.tensor_plan import GroupPlan, slot_count

if TYPE_CHECKING:
    from collections.abc import Sequence

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
# Numbers of a track there.
STATE_SIZE = 8


@dataclass(frozen=True)
class TrackContents:
    """What a start goes on from."""

    parameters: Parameters
    moments: NDArray[Any]
    latent_squares: NDArray[Any]
    bases: NDArray[Any]

    @classmethod
    def fresh(cls, parameters: Parameters) -> TrackContents:
        """Of one that begins."""
        moments = np.zeros((len(parameters.decoder), 2), np.float32)
        squares = np.zeros_like(parameters.latents)
        return cls(parameters, moments, squares, first_bases(parameters.spec))


@dataclass(frozen=True)
class TensorMemory:
    """A texel's value, mean square and gradient lie side by side, so that an update of a texel
    touches few cache lines, and a bigger texture costs memory but no time.

    Starts that train side by side have a track each: buffers hold one after the other, but for
    rates and samples, which are the same for all."""

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
        cls, gpu: slangpy.Device, start: Parameters, plan: GroupPlan, batch: int, tracks: int = 1
    ) -> TensorMemory:
        sizes = buffer_sizes(start.spec, start.layout, plan, batch, tracks)
        return cls(**{name: create_buffer(gpu, size=size) for name, size in sizes.items()})

    def store(self, tracks: Sequence[TrackContents], step: int) -> None:
        """Sets everything that these go on from, on the first tracks that there are."""
        latents = np.stack([each.parameters.latents for each in tracks])
        records = np.zeros((*latents.shape[:2], len(RECORD_PARTS), latents.shape[2]), np.float32)
        records[:, :, 0], records[:, :, 1] = latents, [each.latent_squares for each in tracks]
        state = np.zeros((len(tracks), STATE_SIZE), np.uint32)
        state[:, [TRAIN_STEP, UPDATE_STEP]] = step
        _fill(self.decoder, np.stack([each.parameters.decoder for each in tracks]), np.float32)
        _fill(self.moments, np.stack([each.moments for each in tracks]), np.float32)
        _fill(self.bases, np.stack([each.bases for each in tracks]), np.float32)
        _fill(self.texels, records, np.float32)
        _fill(self.visits, np.zeros(latents.shape[:2]), np.uint32)
        _fill(self.state, state, np.uint32)

    def store_ranges(self, offset: FloatArray, unit: FloatArray) -> None:
        """Of the grids that latents are rounded to, those of one track after another, [materials,
        channels] each."""
        _fill(self.ranges, np.stack([offset, unit], 1), np.float32)


def _fill(buffer: slangpy.Buffer, values: NDArray[Any], kind: type[np.generic]) -> None:
    """From its beginning on."""
    buffer.copy_from_numpy(np.ascontiguousarray(values, kind))


def buffer_sizes(
    spec: NetworkSpec, layout: LatentLayout, plan: GroupPlan, batch: int, tracks: int = 1
) -> dict[str, int]:
    """Bytes of each buffer of TensorMemory."""
    slots, latents = slot_count(spec), layout.texel_count * spec.latent_channels
    of_track = {
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
        "state": 4 * STATE_SIZE,
    }
    return {
        **{name: tracks * size for name, size in of_track.items()},
        "rates": 4 * STEP_RATES * TENSOR_CHUNK_STEPS,
        "samples": TRAINING_SAMPLE.itemsize * batch * TENSOR_CHUNK_STEPS,
    }


def first_bases(spec: NetworkSpec) -> NDArray[np.float32]:
    """What rotated_adam.slang begins with: mean and basis of each matrix, on the left and right."""
    side = square_side(spec)
    nothing, axes = np.zeros((side, side), np.float32), np.eye(side, dtype=np.float32)
    squares = np.stack([nothing, axes, nothing, axes]).ravel()
    return np.tile(squares, 1 + len(spec.layers))
