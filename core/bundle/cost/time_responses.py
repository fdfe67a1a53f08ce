"""Measures the nanoseconds of an evaluation on a device, for each way to decode a bundle."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Protocol

from verdigris.core.base.device import MOST_THREADS, Device
from verdigris.core.base.errors import DeviceError
from verdigris.core.base.kernels import Source
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.bundle.runtime.device_materials import (
    RuntimeChoice,
    StoredMaterial,
    fastest_advised,
)
from verdigris.core.bundle.runtime.evaluate_queries import has_cooperative_matrices
from verdigris.core.bundle.runtime.network_module import fits_in_constants
from verdigris.core.bundle.runtime.runtime_files import gains_by_constants
from verdigris.core.material.evaluator import DEFAULT_SLOPE_STEP, POINT, Footprint

if TYPE_CHECKING:
    from collections.abc import Callable

    import slangpy

    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher.teacher import Teacher

_RESPONSES = Source("bundle/cost/time_responses"), "timeResponses"
_FILTERED = _RESPONSES[0], "timeFilteredResponses"
_TOGETHER = Source("bundle/cost/time_together"), "timeTogether"
# Least number of evaluations in a thread.
_ROUNDS = 16
_FIRST_THREADS = {True: 1 << 10, False: 1 << 20}
_REPEATS = 5
# A GPU that rests for a second lowers its clock, to a sixth on an H200, and raises it again after
# .3 s without a pause.
_WAKE_SECONDS = 0.5


@dataclass(frozen=True)
class Nanoseconds:
    """Nanoseconds of an evaluation in one lane; None if not measured."""

    portable: float
    """The plain decoder with exact trilinear latents."""
    sampler: float | None = None
    """The same, with latents from the texture unit."""
    constants: float | None = None
    """The same, with the decoder in a constant buffer, if it fits."""
    cooperative: float | None = None
    """Cooperative vectors, with exact trilinear latents."""
    cooperative_sampler: float | None = None
    """Cooperative vectors, with latents from the texture unit."""
    cooperative_stochastic: float | None = None
    """Cooperative vectors, with one texel of one level."""
    cooperative_constants: float | None = None
    """Cooperative vectors, with latents from the texture unit and the decoder in a constant
    buffer."""
    cooperative_registers: float | None = None
    """The fastest of the cooperative variants, with computed instead of fetched latents."""
    together: float | None = None
    """Cooperative matrices for a group of points, with latents from the texture unit and plain
    layers from a constant buffer, if they fit. Only for passes over many points of a material."""
    teacher: float | None = None
    """The source's graph, at a point."""
    teacher_filtered: float | None = None
    """The same, averaged over the places of a texel that the bake used: what the neural material
    represents. None if that is one place, or unknown."""

    @property
    def way(self) -> str:
        """Name of the fastest neural variant without noise."""
        others = {"cooperative_stochastic", "cooperative_registers", "together"}
        others |= {"teacher", "teacher_filtered"}
        names = [each.name for each in fields(self) if each.name not in others]
        found = {name: getattr(self, name) for name in names}
        return min(
            (name for name in names if found[name] is not None), key=lambda name: found[name]
        )

    @property
    def neural(self) -> float:
        """Nanoseconds of that variant."""
        return float(getattr(self, self.way))

    @property
    def ratio(self) -> float | None:
        """Speed-up over the graph at a point."""
        return None if self.teacher is None else self.teacher / self.neural

    @property
    def filtered_ratio(self) -> float | None:
        """Speed-up over the graph averaged over a texel."""
        return None if self.teacher_filtered is None else self.teacher_filtered / self.neural


def measure(
    stored: StoredMaterial,
    device: Device,
    teacher: Teacher | None,
    footprint: Footprint = POINT,
    advised: str | None = None,
    is_brief: bool = False,
) -> Nanoseconds:
    """Times every variant that `advised` allows, and the graph. `is_brief`: on a CPU, whose
    variants hardly differ, only one of them."""

    def measure_choice(choice: RuntimeChoice, from_registers: bool = False) -> float:
        material = BundleMaterial(stored, device, choice, from_registers=from_registers)
        return time_material(material, is_together=choice.is_together).nanoseconds

    found: dict[str, float] = {"portable": measure_choice(RuntimeChoice())}
    is_brief = is_brief and device.is_software
    if not is_brief:
        found["sampler"] = measure_choice(RuntimeChoice(filter="sampler"))
    has_constants = fits_in_constants(stored.spec)
    if has_constants and not is_brief:
        found["constants"] = measure_choice(RuntimeChoice(filter="sampler", is_constant=True))
    cooperative = fastest_advised(device, advised)
    if cooperative.is_cooperative:
        found["cooperative"] = measure_choice(cooperative)
        for filter in ("sampler", "stochastic"):
            found[f"cooperative_{filter}"] = measure_choice(replace(cooperative, filter=filter))
        sampled = replace(cooperative, filter="sampler")
        if has_constants:
            found["cooperative_constants"] = measure_choice(replace(sampled, is_constant=True))
        fastest = replace(sampled, is_constant=gains_by_constants(stored.spec, advised))
        found["cooperative_registers"] = measure_choice(fastest, from_registers=True)
    if has_cooperative_matrices(device):
        together = RuntimeChoice(filter="sampler", is_constant=has_constants, is_together=True)
        found["together"] = measure_choice(together)
    if teacher is not None:
        found["teacher"] = time_material(teacher).nanoseconds
        if footprint.places > 1:
            taken = time_material(teacher, footprint=footprint)
            found["teacher_filtered"] = taken.nanoseconds
    return Nanoseconds(**found)


@dataclass(frozen=True)
class Timing:
    """Time of an evaluation, averaged over one dispatch."""

    nanoseconds: float
    """Best of several runs, with the computation of inputs."""
    evaluations: int
    """Evaluations in a run."""


def time_material(
    material: DeviceMaterial,
    seconds: float = 0.02,
    footprint: Footprint = POINT,
    is_together: bool = False,
) -> Timing:
    """Times a dispatch that takes about `seconds`. With several places in the footprint, an
    evaluation is the mean over them. `is_together`: groups of threads evaluate a bundle, with
    cooperative matrices.

    A material with four threads for a sample is charged for one: on a screen the other threads are
    evaluations of its neighbours.
    """
    one = _FILTERED if footprint.places > 1 else _RESPONSES
    lanes = material.lanes_per_sample
    kernel = material.kernel(*(_TOGETHER if is_together else one))

    def run(threads: int, rounds: int) -> float:
        return _run(material, kernel, threads, rounds, footprint)

    return _grow(run, material.device, seconds, lanes)


class Timed(Protocol):
    """A kernel that evaluates something several times a thread."""

    kernel: slangpy.ComputeKernel

    def variables(self, threads: int, rounds: int) -> dict[str, Any]:
        """What a dispatch binds."""


def time_growing(timed: Timed, device: Device, seconds: float = 0.02) -> Timing:
    """Times a dispatch that takes about `seconds`."""

    def run(threads: int, rounds: int) -> float:
        return time_dispatch(device, timed.kernel, threads, timed.variables(threads, rounds))

    return _grow(run, device, seconds)


def _grow(
    run: Callable[[int, int], float], device: Device, seconds: float, lanes: int = 1
) -> Timing:
    """Takes more threads, and then more rounds, until a run takes long enough."""
    most = MOST_THREADS // lanes
    threads, rounds = min(_FIRST_THREADS[device.is_software], most), _ROUNDS
    run(threads, rounds)  # compiles
    while (elapsed := run(threads, rounds)) < seconds / 2:
        growth = min(8.0, max(2.0, seconds / max(elapsed, 1e-6)))
        if 2 * threads <= most:
            threads = min(int(threads * growth), most)
        else:
            rounds = int(rounds * growth)
    if not device.is_software:
        begun = time.monotonic()
        while time.monotonic() - begun < _WAKE_SECONDS:
            elapsed = run(threads, rounds)
    elapsed = min([elapsed, *(run(threads, rounds) for _ in range(_REPEATS - 1))])
    count = threads * rounds
    return Timing(elapsed / count / lanes * 1e9, count)


def _run(
    material: DeviceMaterial,
    kernel: slangpy.ComputeKernel,
    threads: int,
    rounds: int,
    footprint: Footprint,
) -> float:
    """Seconds of one dispatch."""
    lanes = threads * material.lanes_per_sample
    variables = {
        "gTiming": {
            "count": threads,
            "rounds": rounds,
            "seed": 1,
            "slopeStep": DEFAULT_SLOPE_STEP,
            "footprint": footprint.uniform(),
        },
        "gSum": material.device.new_space(lanes),
        **material.bindings(),
    }
    return time_dispatch(material.device, kernel, lanes, variables)


def time_dispatch(
    device: Device, kernel: slangpy.ComputeKernel, threads: int, variables: dict[str, Any]
) -> float:
    """Seconds of one dispatch, by the device's clock if it has one."""
    import slangpy

    gpu = device.gpu
    has_clock = gpu.has_feature(slangpy.Feature.timestamp_query) and not device.is_software
    encoder = gpu.create_command_encoder()
    if has_clock:
        pool = gpu.create_query_pool(slangpy.QueryType.timestamp, 2)
        encoder.write_timestamp(pool, 0)
    device.dispatch(kernel, threads, variables, encoder)
    if has_clock:
        encoder.write_timestamp(pool, 1)
    gpu.wait_for_idle()
    start = time.perf_counter()
    gpu.submit_command_buffer(encoder.finish())
    gpu.wait_for_idle()
    elapsed = time.perf_counter() - start
    if has_clock:
        begin, end = pool.get_timestamp_results(0, 2)
        # some drivers return zeros
        elapsed = end - begin if 0 < end - begin < elapsed else elapsed
    if elapsed <= 0:
        raise DeviceError(f"{device}: its clock does not advance: use another device")
    return elapsed
