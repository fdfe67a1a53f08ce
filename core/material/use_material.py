"""Runs the kernels of a material, use_material.slang.

The code of a material is most of any kernel that evaluates it, and takes seconds to compile. One
kernel evaluates it for measurements, pictures and training samples. Where only points are
evaluated, as by `inspect`, a smaller one compiles in half the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from verdigris.core.base.device import Device, Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    import slangpy

# What the kernel does in a dispatch. The shader has the same numbers.
RESPONSE, UNLIT, VIEW, SAMPLES = range(4)
_SOURCE, _ENTRY, _AT_POINTS = Source("material/use_material"), "useMaterial", "usePoints"
_READ = (
    *("gUv", "gFrames", "gLive", "gIncoming", "gOutgoing", "gPixel"),
    *("gImportanceSums", "gDirectionSums"),
)
_WRITTEN = ("gResult", "gLit", "gSamples")


class UsedMaterial(Protocol):
    """The interface of a material for its kernel; a DeviceMaterial implements it."""

    @property
    def device(self) -> Device: ...

    @property
    def lanes_per_sample(self) -> int: ...

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel: ...

    def has_kernel(self, source: Source, entry: str) -> bool: ...

    def bindings(self) -> dict[str, Any]: ...


def compile_material(material: UsedMaterial) -> slangpy.ComputeKernel:
    """The kernel for all jobs, compiled now or before. Who needs more than points calls this first:
    a second kernel is then not compiled."""
    return material.kernel(_SOURCE, _ENTRY)


def use_material(
    material: UsedMaterial,
    job: int,
    count: int,
    slope_step: float,
    variables: Mapping[str, Any],
    encoder: slangpy.CommandEncoder | None = None,
    **parameters: Any,
) -> None:
    """Runs or records a job for so many points. `parameters` are those of the shader."""
    device = material.device
    is_small = job in (RESPONSE, UNLIT) and not material.has_kernel(_SOURCE, _ENTRY)
    device.dispatch(
        material.kernel(_SOURCE, _AT_POINTS if is_small else _ENTRY),
        count * material.lanes_per_sample,
        {
            **_unused(device),
            "gUse": {"job": job, "count": count, "slopeStep": slope_step, **parameters},
            **variables,
            **material.bindings(),
        },
        encoder,
    )


def _unused(device: Device) -> dict[str, slangpy.Buffer]:
    """Buffers for the other jobs: some devices want one in each place."""
    if _SOURCE not in device.memo:
        nothing = np.zeros(4, np.float32)
        read, written = device.new_buffer(nothing), device.new_buffer(nothing)
        device.memo[_SOURCE] = dict.fromkeys(_READ, read) | dict.fromkeys(_WRITTEN, written)
    buffers: dict[str, slangpy.Buffer] = device.memo[_SOURCE]
    return buffers
