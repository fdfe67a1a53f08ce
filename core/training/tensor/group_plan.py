"""Divides a training step into thread groups, with or without matrix hardware."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.spec import TILE, NetworkSpec, pad_to_tile

if TYPE_CHECKING:
    import slangpy

# The wave size that the matrix kernels are written for.
WAVE = 32
# Bytes of shared memory of a group, on devices with matrix hardware and on all others.
TENSOR_MEMORY = 48 << 10
PORTABLE_MEMORY = 32 << 10
# Samples per group. More samples mean fewer partial sums, but fewer groups to hide latency.
MOST_SAMPLES = 64
# Threads per sample. More threads hide more latency, if each has enough work.
MOST_PARTS = 4
_WIDTH_FOR_MOST_PARTS = 64
# Row padding in elements against bank conflicts: 16 bytes, the alignment of matrix tiles, or one
# word where each thread reads its own row.
TENSOR_PADDING, PORTABLE_PADDING = 8, 1


@dataclass(frozen=True)
class GroupPlan:
    """The sizes of a step's thread groups."""

    uses_tensor: bool
    """Half floats on matrix hardware; otherwise fp32 arithmetic."""

    samples: int
    """Samples per group."""

    parts: int = 2
    """Threads per sample."""

    unrolls: bool = True
    """Whether loops are unrolled: that is faster on a GPU, but compiles for minutes on a software
    device."""

    def constants(self) -> dict[str, int | float]:
        return {
            "kTile": TILE,
            "kGroupSamples": self.samples,
            "kGroupParts": self.parts,
            "kElementPadding": TENSOR_PADDING if self.uses_tensor else PORTABLE_PADDING,
        }

    def defines(self) -> dict[str, str]:
        return {
            "ELEMENT": "half" if self.uses_tensor else "float",
            "TENSOR_MATRICES": "1" if self.uses_tensor else "0",
            "UNROLL": "[ForceUnroll]" if self.unrolls else "[loop]",
            "ROLLED": "" if self.unrolls else "[loop]",
        }

    @property
    def element_bytes(self) -> int:
        return 2 if self.uses_tensor else 4

    def group_count(self, batch: int) -> int:
        return -(-batch // self.samples)


def group_bytes(spec: NetworkSpec, plan: GroupPlan) -> int:
    """Bytes of shared memory that group_memory.slang and latent_gradients.slang declare."""
    padding = TENSOR_PADDING if plan.uses_tensor else PORTABLE_PADDING
    inputs = pad_to_tile(spec.inputs) + padding
    hidden = spec.hidden_layers * (pad_to_tile(spec.hidden_width) + padding)
    last = max(pad_to_tile(spec.outputs), pad_to_tile(spec.frame_rows)) + padding
    raw = max(pad_to_tile(spec.outputs), plan.parts * spec.latent_channels)
    corners = 2 * 4
    return plan.samples * ((inputs + hidden + last) * plan.element_bytes + 4 * (raw + corners)) + 4


def slot_count(spec: NetworkSpec) -> int:
    """The number of partial sums of a group, as in slots.slang."""
    layers = sum(
        layer.padded_outputs * layer.padded_inputs + TILE * layer.padded_outputs
        for layer in spec.layers
    )
    return layers + pad_to_tile(spec.frame_rows) * pad_to_tile(spec.place_inputs) + TILE


def has_matrix_hardware(gpu: slangpy.Device) -> bool:
    """Whether the matrix kernels run on this device: they need half floats and waves of 32."""
    import slangpy

    limits = gpu.info.limits
    return (
        gpu.has_feature(slangpy.Feature.cooperative_matrix)
        and gpu.has_feature(slangpy.Feature.half)
        and limits.min_wave_size in (0, WAVE)
    )


def plan_groups(spec: NetworkSpec, uses_tensor: bool, unrolls: bool = True) -> GroupPlan:
    """The largest groups that fit into shared memory. Raises SettingsError if none fits."""
    if spec.latent_channels not in (4, 8, 16, 32, 64):
        raise SettingsError(
            f"latent_channels is {spec.latent_channels}: use 4, 8, 16, 32 or 64, "
            "or the numpy trainer"
        )
    limit = TENSOR_MEMORY if uses_tensor else PORTABLE_MEMORY
    least = WAVE if uses_tensor else 8
    has_enough_work = not uses_tensor or spec.hidden_width >= _WIDTH_FOR_MOST_PARTS
    parts = MOST_PARTS if has_enough_work else MOST_PARTS // 2
    samples = MOST_SAMPLES
    while samples >= least:
        plan = GroupPlan(uses_tensor, samples, parts, unrolls)
        if group_bytes(spec, plan) <= limit:
            return plan
        samples //= 2
    raise SettingsError(
        f"decoder {spec.name} is too wide for the tensor trainer: "
        "use a smaller decoder or the numpy trainer"
    )
