"""Evaluates a material on the device: the common part of teacher and student.

The code of a material is most of any kernel that evaluates it, and takes seconds to compile. So one
kernel (use_material.slang) does measurements, pictures and training samples. If only points are
evaluated, as `inspect` does, a smaller kernel (use_points.slang) compiles in half the time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import MOST_THREADS, Device
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.kernels import Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import slangpy

    from verdigris.core.base.array_types import Floats, Ints
    from verdigris.core.material.domain import Tiles


# The jobs of the kernel. The shaders have the same numbers.
RESPONSE, UNLIT, VIEW, SAMPLES, HIGHLIGHTS = range(5)
_OF_CHANNELS = {3: RESPONSE, 4: UNLIT, 8: HIGHLIGHTS}
_ALL_JOBS = Source("material/use_material"), "useMaterial"
_POINTS = Source("material/use_points"), "usePoints"
_OF_POINTS = ("gUv", "gFrames", "gLive", "gIncoming", "gOutgoing", "gResult")
_OF_JOBS = (*_OF_POINTS, "gPixel", "gImportanceSums", "gDirectionSums", "gLit", "gSamples")
# The global variables of kernels and of generated code, which those of a shader file must not be.
KERNEL_VARIABLES = (*_OF_JOBS, "gUse", "gDraw", "gLight", "gMeshPoints", "gLiveValues")
_WRITTEN = ("gResult", "gLit", "gSamples")
DEFAULT_SLOPE_STEP = 1.0 / 1024.0
# Number of quantiles for the density of a live input's values, with both ends.
LIVE_KNOTS = 9


@dataclass(frozen=True)
class Frames:
    """Positions and tangent frames of points, (N, 3) each, for 3D patterns on a mesh."""

    position: Floats
    tangent: Floats
    bitangent: Floats
    normal: Floats

    @classmethod
    def unpacked(cls, packed: Floats) -> Frames:
        return cls(*(packed[:, first : first + 3] for first in range(0, 12, 3)))

    def take(self, chosen: Ints) -> Frames:
        return Frames.unpacked(self.packed()[chosen])

    def packed(self) -> Floats:
        parts = (self.position, self.tangent, self.bitangent, self.normal)
        return np.concatenate(parts, axis=1).astype(np.float32)


@dataclass(frozen=True)
class Footprint:
    """The area of a sample: its width in uv, and the number of places that are averaged."""

    width: float = 0.0
    places: int = 1

    def uniform(self) -> dict[str, Any]:
        import slangpy

        return {"extent": slangpy.float2(self.width, self.width), "places": self.places}


POINT = Footprint()


def even_knots(inputs: int) -> Floats:
    """Quantiles of a uniform density, [knots, inputs]."""
    return np.tile(np.linspace(0, 1, LIVE_KNOTS, dtype=np.float32)[:, None], inputs)


class DeviceMaterial(ABC):
    """A function of place and two directions on a device.

    Directions are unit vectors in the tangent frame of the surface, with z along the normal.
    Without `frames` the surface is the unit square. `shaders/material/teacher/interface.slang`
    defines each function.
    """

    device: Device
    lanes_per_sample: int = 1
    """The number of threads that evaluate one sample together."""
    is_dark_and_opaque: bool = False
    """Whether the material certainly emits nothing and is opaque, at all places and from all view
    directions."""
    tiles: Tiles | None = None
    """The UDIM tiles whose atlas is the unit square."""
    index_below: float = 0.0
    """0 for an opaque surface; for one that transmits the index of the medium below, or 1 if it is
    a thin wall."""
    live_steps: tuple[int, ...] = ()
    """For each live input, the number of steps of its range that training draws more often."""
    live: tuple[float, ...] = ()
    """Live values from 0 to 1 for samples without live values. Set it between pictures."""

    @abstractmethod
    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel:
        """A kernel that evaluates this material, from the cache or compiled now."""

    def has_kernel(self, source: Source, entry: str) -> bool:
        """Whether this kernel is compiled, or will soon be for other uses of the material."""
        return True

    @abstractmethod
    def bindings(self) -> dict[str, Any]:
        """The variables for each kernel that is linked with this material."""

    @property
    def live_knots(self) -> Floats:
        """Quantiles of the live values that training draws, [knots, live inputs]."""
        return even_knots(len(self.live))

    @property
    def live_uniform(self) -> slangpy.float3:
        import slangpy

        return slangpy.float3(*self.live, *(0.0,) * (3 - len(self.live)))

    def response(
        self,
        uv: Floats,
        wi: Floats,
        wo: Floats,
        frames: Frames | None = None,
        footprint: Footprint = POINT,
        live: Floats | None = None,
    ) -> Floats:
        """The response, (N, 3): BSDF x cos for light from `wi` and the view direction `wo`. Light
        from below has a negative z. `live` are live values, (N, inputs)."""
        return self._evaluate(3, uv, wi, wo, frames, footprint, live)

    def unlit(
        self, uv: Floats, wo: Floats, frames: Frames | None = None, live: Floats | None = None
    ) -> Floats:
        """Emission towards `wo`, and coverage, (N, 4)."""
        return self._evaluate(4, uv, wo, wo, frames, live=live)

    def highlights(self, uv: Floats, wo: Floats) -> Floats:
        """Where highlights are, (N, 8): of the two narrowest, normal and width (GGX's alpha). A
        width of 0 is unknown."""
        return self._evaluate(8, uv, wo, wo, None)

    def _evaluate(
        self,
        channels: int,
        uv: Floats,
        wi: Floats,
        wo: Floats,
        frames: Frames | None,
        footprint: Footprint = POINT,
        live: Floats | None = None,
    ) -> Floats:
        packed = frames.packed() if frames else None
        count = len(uv)
        uv, wi, wo = (
            _rows(name, each, count, width)
            for name, each, width in (("uv", uv, 2), ("wi", wi, 3), ("wo", wo, 3))
        )
        if live is not None:
            live = _rows("live", live, count, len(self.live))
        result = np.empty((count, channels), np.float32)
        most = MOST_THREADS // self.lanes_per_sample
        for start in range(0, count, most):
            part = slice(start, min(count, start + most))
            size = len(uv[part])
            places, towards, outwards = (
                self.device.new_buffer(each[part]) for each in (uv, wi, wo)
            )
            frames_of = None if packed is None else packed[part]
            live_of = None if live is None else live[part]
            output = self._dispatch(
                channels, size, places, towards, outwards, frames_of, footprint, live_of
            )
            result[part] = output.to_numpy().view(np.float32).reshape(size, channels)
        return result

    def response_on_device(
        self,
        count: int,
        uv: slangpy.Buffer,
        wi: slangpy.Buffer,
        wo: slangpy.Buffer,
        footprint: Footprint = POINT,
        frames: slangpy.Buffer | None = None,
        is_lit: bool = True,
    ) -> slangpy.Buffer:
        """`response` or `unlit` in one dispatch, from and into device buffers. Without packed
        `frames` the surface is the unit square."""
        return self._dispatch(3 if is_lit else 4, count, uv, wi, wo, frames, footprint)

    def _dispatch(
        self,
        channels: int,
        count: int,
        uv: slangpy.Buffer,
        wi: slangpy.Buffer,
        wo: slangpy.Buffer,
        packed: Floats | slangpy.Buffer | None,
        footprint: Footprint,
        live: Floats | None = None,
    ) -> slangpy.Buffer:
        variables = {"gUv": uv, "gIncoming": wi, "gOutgoing": wo}
        if isinstance(packed, np.ndarray):
            packed = self.device.new_buffer(packed)
        if packed is not None:
            variables["gFrames"] = packed
        if live is not None:
            values = np.zeros((count, 3), np.float32)
            values[:, : live.shape[1]] = live
            variables["gLive"] = self.device.new_buffer(values)
        output = variables["gResult"] = self.device.new_space(channels * count)
        use_material(
            self,
            _OF_CHANNELS[channels],
            count,
            DEFAULT_SLOPE_STEP,
            variables,
            hasFrames=int(packed is not None),
            hasLive=int(live is not None),
            footprint=footprint.uniform(),
        )
        return output


def compile_material(material: DeviceMaterial) -> slangpy.ComputeKernel:
    """The kernel for all jobs, from the cache or compiled now. Call it first if you need more than
    points: the smaller kernel is then not compiled."""
    return material.kernel(*_ALL_JOBS)


def compile_points(material: DeviceMaterial) -> slangpy.ComputeKernel:
    """The smaller kernel, for points only."""
    return material.kernel(*_POINTS)


def use_material(
    material: DeviceMaterial,
    job: int,
    count: int,
    slope_step: float,
    variables: Mapping[str, Any],
    encoder: slangpy.CommandEncoder | None = None,
    linked: tuple[str, ...] = (),
    **parameters: Any,
) -> None:
    """Runs or records a job for `count` points. `parameters` are those of the shader. The kernel of
    all jobs is linked with the modules `linked`."""
    device = material.device
    is_small = job in _OF_CHANNELS.values() and not material.has_kernel(*_ALL_JOBS)
    source, entry = _POINTS if is_small else _ALL_JOBS
    device.dispatch(
        material.kernel(replace(source, linked=linked), entry),
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
    """Buffers for the variables that a job does not use: some devices need a buffer in each
    place."""
    if _ALL_JOBS not in device.memo:
        nothing = np.zeros(4, np.float32)
        device.memo[_ALL_JOBS] = device.new_buffer(nothing), device.new_buffer(nothing)
    read, written = device.memo[_ALL_JOBS]
    return {name: written if name in _WRITTEN else read for name in names}


def _rows(name: str, values: Floats, count: int, width: int) -> Floats:
    rows = np.asarray(values, np.float32)
    if rows.shape != (count, width):
        raise SettingsError(f"{name} has the shape {rows.shape}: use {(count, width)}")
    return rows
