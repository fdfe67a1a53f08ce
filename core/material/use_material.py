"""Runs the kernels of a material, use_material.slang and use_points.slang.

The code of a material is most of any kernel that evaluates it, and takes seconds to compile. One
kernel evaluates it for measurements, pictures and training samples. Where only points are
evaluated, as by `inspect`, a smaller one compiles in half the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.base.kernels import Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import slangpy

# What the kernel does in a dispatch. The shaders have the same numbers.
RESPONSE, UNLIT, VIEW, SAMPLES = range(4)
_ALL_JOBS = Source("material/use_material"), "useMaterial"
_POINTS = Source("material/use_points"), "usePoints"
_OF_POINTS = ("gUv", "gFrames", "gLive", "gIncoming", "gOutgoing", "gResult")
_OF_JOBS = (*_OF_POINTS, "gPixel", "gImportanceSums", "gDirectionSums", "gLit", "gSamples")
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
    return material.kernel(*_ALL_JOBS)


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
    is_small = job in (RESPONSE, UNLIT) and not material.has_kernel(*_ALL_JOBS)
    device.dispatch(
        material.kernel(*(_POINTS if is_small else _ALL_JOBS)),
        count * material.lanes_per_sample,
        {
            **_unused(device, _OF_POINTS if is_small else _OF_JOBS),
            "gUse": {"job": job, "count": count, "slopeStep": slope_step, **parameters},
            **variables,
            **material.bindings(),
        },
        encoder,
    )


def _unused(device: Device, names: Sequence[str]) -> dict[str, slangpy.Buffer]:
    """Buffers for the variables that a job leaves out: some devices want one in each place."""
    if _ALL_JOBS not in device.memo:
        nothing = np.zeros(4, np.float32)
        device.memo[_ALL_JOBS] = device.new_buffer(nothing), device.new_buffer(nothing)
    read, written = device.memo[_ALL_JOBS]
    return {name: written if name in _WRITTEN else read for name in names}
