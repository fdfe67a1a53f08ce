"""The kernels of a training step, compiled for one student, with their arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verdigris.core.base.device import Device
from verdigris.core.base.kernels import Source, constants_module
from verdigris.core.network.latents.block_lines import QUAD
from verdigris.core.network.losses import LIGHT_RATIO
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import ACTIVATIONS, LOSSES, NetworkSpec
from verdigris.core.settings.schedule import TrainingSettings
from verdigris.core.training.latent_rounding import block_offsets
from verdigris.core.training.optimiser import (
    BASIS_BETA,
    BASIS_FLOOR,
    BASIS_STEPS,
    BETA_1,
    BETA_2,
    DECODER_BETA_2,
    EPSILON,
    square_side,
)
from verdigris.core.training.tensor.group_plan import GroupPlan
from verdigris.core.training.tensor.trainer_memory import TENSOR_CHUNK_STEPS, TensorMemory

if TYPE_CHECKING:
    from collections.abc import Mapping

    import slangpy

# Scales the gradients of single samples, not yet divided by the batch size, to the range of half
# floats. They are hundreds in sharp highlights and thousandths in dark places. The published value
# 128 is for gradients of a mean, and overflows here.
LOSS_SCALE = 1.0
_TRAIN, _UPDATE = Source("training/train_step"), Source("training/update")
_ROTATE, _BLOCKS = Source("training/rotated_adam"), Source("training/latent_blocks")
# The same numbers as in update.slang and latent_blocks.slang.
_UPDATE_THREADS, _BLOCK_THREADS = 256, 64
_PARAMETERS_PER_GROUP = 8
# The same number as in rotated_adam.slang. Waves on a CPU without AVX have four threads.
_BASIS_THREADS, _SOFTWARE_LANES = 256, 4


@dataclass(frozen=True)
class Launch:
    """A kernel with its arguments and its number of thread groups, which every step reuses."""

    pipeline: slangpy.ComputePipeline
    arguments: slangpy.ShaderObject
    groups: int

    def record(self, encoder: slangpy.ComputePassEncoder) -> None:
        encoder.bind_pipeline(self.pipeline, self.arguments)
        encoder.dispatch_compute([self.groups, 1, 1])


class StudentKernels:
    """Kernels compiled for one student, whose sizes are constants of the programs.

    Texture sizes are arguments, so that textures of all sizes share the programs.
    """

    def __init__(
        self, device: Device, spec: NetworkSpec, loss: str, plan: GroupPlan, sides: int = 1
    ) -> None:
        self.device = device
        side = square_side(spec)
        constants = {
            **plan.constants(),
            "kSquareSide": side,
            "kBasisLanes": _SOFTWARE_LANES if device.is_software else _BASIS_THREADS // side,
            "kLightRatio": LIGHT_RATIO,
            "kSides": sides,
        }
        self._kernels = device.shared_kernels(
            {"ACTIVATION": ACTIVATIONS[spec.activation], "LOSS": LOSSES[loss], **plan.defines()},
            (
                constants_module("network_constants", spec.slang_constants()),
                constants_module("trainer_constants", constants),
            ),
        )

    def bind(
        self, source: Source, entry: str, arguments: Mapping[str, Any], groups: int = 1
    ) -> Launch:
        """Raises KeyError for an argument that the kernel does not have."""
        import slangpy

        kernel = self._kernels.get((source,), entry)
        root = self.device.gpu.create_root_shader_object(kernel.program)
        # the kernel's own `dispatch` ignores arguments of the entry point without an error
        cursor = slangpy.ShaderCursor(root).find_entry_point(0)
        for name, value in arguments.items():
            if not cursor.has_field(name):
                raise KeyError(f"kernel {entry} has no argument {name!r}")
            cursor[name] = value
        return Launch(kernel.pipeline, root, groups)


@dataclass(frozen=True)
class StepKernels:
    """The launches of a step in order, and those for new parameters and for moves to blocks."""

    step: tuple[Launch, ...]
    copies: Launch
    moves: Launch

    @classmethod
    def bind(
        cls,
        kernels: StudentKernels,
        parameters: Parameters,
        settings: TrainingSettings,
        plan: GroupPlan,
        memory: TensorMemory,
        pairs: int,
    ) -> StepKernels:
        spec, batch, sides = parameters.spec, settings.batch, len(parameters.sides)
        network = memory.pick("decoder", "weights", "biases")
        shared = {
            **memory.pick("rates", "state"),
            "arguments": _arguments(parameters, settings, plan, pairs),
        }
        blocks = memory.pick("texels", "ranges", "ends")
        samples = {
            **network,
            **shared,
            **blocks,
            **memory.pick("partials", "samples"),
            "texelGradients": memory.texels,
        }
        decoder = {**memory.pick("moments", "gradients"), "decoderAdam": _adam()}
        update = {**decoder, **memory.pick("visits", "losses"), "latentScale": _scale(BETA_2)}
        rotation = {"beta": BASIS_BETA, "floor": BASIS_FLOOR, "steps": BASIS_STEPS}
        rotate = {**network, **shared, **decoder, "bases": memory.bases, "rotation": rotation}
        updates = sides * (spec.parameter_count // _PARAMETERS_PER_GROUP + 1)
        updates += -(-batch * spec.latent_channels // _UPDATE_THREADS)
        copies = -(-spec.joined_count(sides) // _UPDATE_THREADS)
        layers = block_offsets(parameters.layout)[-1] * spec.latent_channels // QUAD
        return cls(
            (
                kernels.bind(
                    _TRAIN, "trainStep", samples, sides * plan.group_count(batch // sides)
                ),
                kernels.bind(_UPDATE, "updateStep", {**samples, **update}, updates),
                kernels.bind(_ROTATE, "rotatedStep", rotate, sides * (1 + len(spec.layers))),
            ),
            kernels.bind(_UPDATE, "copyDecoder", network, copies),
            kernels.bind(
                _BLOCKS, "moveToBlocks", {**shared, **blocks}, -(-layers // _BLOCK_THREADS)
            ),
        )

    def record_moves(self, compute: slangpy.ComputePassEncoder) -> None:
        """Moves latents towards what their blocks can hold."""
        self.moves.record(compute)

    def record_step(self, compute: slangpy.ComputePassEncoder) -> None:
        for launch in self.step:
            launch.record(compute)

    def record_copies(self, compute: slangpy.ComputePassEncoder) -> None:
        """Copies the decoder to the layout of the matrix kernels."""
        self.copies.record(compute)


def _arguments(
    parameters: Parameters, settings: TrainingSettings, plan: GroupPlan, pairs: int
) -> dict[str, Any]:
    """The struct TrainArguments of trainer_state.slang."""
    layout, quantisation = parameters.layout, settings.quantisation
    return {
        "batch": settings.batch,
        "pairs": pairs,
        "indexBelow": parameters.index_below,
        "chunkSteps": TENSOR_CHUNK_STEPS,
        "groups": plan.group_count(settings.batch // len(parameters.sides)),
        "lossScale": LOSS_SCALE,
        "hasBlocks": int(quantisation is not None and quantisation.lines is not None),
        "layout": {
            "width": layout.width,
            "height": layout.height,
            "levels": layout.levels,
            "materials": layout.materials,
        },
    }


def _scale(beta_2: float) -> dict[str, float]:
    """The struct ScaleArguments of adam.slang."""
    return {"beta2": beta_2, "epsilon": EPSILON}


def _adam() -> dict[str, Any]:
    """The struct AdamArguments of adam.slang."""
    return {"beta1": BETA_1, "scale": _scale(DECODER_BETA_2)}
