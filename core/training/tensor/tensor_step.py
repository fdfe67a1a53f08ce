"""The kernels of a training step on the device, with their arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verdigris.core.base.device import Device, Source
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import NetworkSpec
from verdigris.core.settings.schedule import TrainingSettings
from verdigris.core.training.optimiser import BETA_1, BETA_2, DECODER_BETA_2, EPSILON
from verdigris.core.training.rotated_adam import BASIS_BETA, BASIS_FLOOR, BASIS_STEPS, square_side
from verdigris.core.training.tensor.tensor_kernels import Bound, Recipe, StudentKernels
from verdigris.core.training.tensor.tensor_memory import TENSOR_CHUNK_STEPS, TensorMemory
from verdigris.core.training.tensor.tensor_plan import GroupPlan

if TYPE_CHECKING:
    import slangpy

# Brings the gradients of single samples, which are not yet divided by the batch, to the middle of
# the range of half floats: on sharp highlights they reach some hundreds, in dark places a
# thousandth. The published 128 is for gradients of a mean; here it overflowed.
LOSS_SCALE = 1.0
_TRAIN, _UPDATE = Source("training/tensor/train_step"), Source("training/tensor/update")
_ROTATE = Source("training/rotated_adam")
# As in update.slang.
_UPDATE_THREADS = 256
_PARAMETERS_PER_GROUP = 8


@dataclass(frozen=True)
class _Launch:
    """A kernel and its number of thread groups."""

    kernel: Bound
    groups: int

    def record(self, compute: slangpy.ComputePassEncoder) -> None:
        self.kernel.record(compute, self.groups)


@dataclass(frozen=True)
class StepKernels:
    """What is launched for a step, one after the other, and once for new parameters."""

    step: tuple[_Launch, ...]
    copies: _Launch

    @classmethod
    def bind(
        cls,
        programs: StudentKernels,
        parameters: Parameters,
        settings: TrainingSettings,
        plan: GroupPlan,
        memory: TensorMemory,
    ) -> StepKernels:
        spec, batch = parameters.spec, settings.batch
        network = {
            "decoder": memory.decoder,
            "weights": memory.weights,
            "biases": memory.biases,
        }
        shared = {
            **network,
            "arguments": _arguments(parameters, settings, plan),
            "rates": memory.rates,
            "state": memory.state,
        }
        texels = {
            "texels": memory.texels,
            "texelGradients": memory.texels,
            "ranges": memory.ranges,
            "partials": memory.partials,
            "samples": memory.samples,
        }
        gradients = {"moments": memory.moments, "gradients": memory.gradients}
        train = programs.bind(_TRAIN, "trainStep", {**shared, **texels})
        update = programs.bind(
            _UPDATE,
            "updateStep",
            {
                **shared,
                **texels,
                **gradients,
                "decoderAdam": _adam(),
                "latentScale": _scale(BETA_2),
                "visits": memory.visits,
                "losses": memory.losses,
            },
        )
        update_groups = spec.parameter_count // _PARAMETERS_PER_GROUP + 1
        update_groups += -(-batch * spec.latent_channels // _UPDATE_THREADS)
        rotate = _bind_rotation(programs, {**shared, **gradients, "bases": memory.bases})
        step = (
            _Launch(train, plan.group_count(batch)),
            _Launch(update, update_groups),
            _Launch(rotate, 1 + len(spec.layers)),
        )
        copies = programs.bind(_UPDATE, "copyDecoder", network)
        return cls(step, _Launch(copies, -(-spec.parameter_count // _UPDATE_THREADS)))

    def record_step(self, compute: slangpy.ComputePassEncoder) -> None:
        for launch in self.step:
            launch.record(compute)

    def record_copies(self, compute: slangpy.ComputePassEncoder) -> None:
        """Fills what the matrix kernels read from the decoder."""
        self.copies.record(compute)


def step_programs(device: Device, spec: NetworkSpec, loss: str, plan: GroupPlan) -> StudentKernels:
    """What a step compiles: no size of a texture is part of it, so that one texture's programs
    serve the next."""
    constants = {**plan.constants(), "kSquareSide": square_side(spec)}
    return StudentKernels(device, Recipe(spec, loss, constants, plan.defines()))


def _arguments(
    parameters: Parameters, settings: TrainingSettings, plan: GroupPlan
) -> dict[str, Any]:
    """TrainArguments of trainer_state.slang."""
    layout, quantisation = parameters.layout, settings.quantisation
    return {
        "batch": settings.batch,
        "chunkSteps": TENSOR_CHUNK_STEPS,
        "groups": plan.group_count(settings.batch),
        "texels": layout.texel_count,
        "lossScale": LOSS_SCALE,
        "codes": float(quantisation.codes if quantisation else 0),
        "layout": {
            "width": layout.width,
            "height": layout.height,
            "levels": layout.levels,
            "materials": layout.materials,
        },
    }


def _scale(beta_2: float) -> dict[str, float]:
    """ScaleArguments of adam.slang."""
    return {"beta2": beta_2, "epsilon": EPSILON}


def _adam() -> dict[str, Any]:
    """AdamArguments of adam.slang."""
    return {"beta1": BETA_1, "scale": _scale(DECODER_BETA_2)}


def _bind_rotation(programs: StudentKernels, arguments: dict[str, Any]) -> Bound:
    rotation = {"beta": BASIS_BETA, "floor": BASIS_FLOOR, "steps": BASIS_STEPS}
    chosen = {"decoderAdam": _adam(), "rotation": rotation}
    return programs.bind(_ROTATE, "rotatedStep", {**arguments, **chosen})
