"""The figures of a result: its errors, and the picture that shows them.

What needs no student is computed ahead, in a thread beside the training.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from verdigris.core.baking.measure.measure import (
    draw_held_out,
    measure_student,
    once,
    picture_of,
    pictures_of_both,
    sphere_to_compare,
    texel_footprint,
)
from verdigris.core.base.process.beside import Beside
from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.files.arithmetic import PORTABLE
from verdigris.core.bundle.runtime.runtime_files import compiling_ahead
from verdigris.core.pictures.compare.comparison import (
    Drawn,
    compare_drawn,
    draw_beside,
    draw_reference,
)
from verdigris.core.pictures.compare.metrics import (
    PictureMetrics,
    SampleMetrics,
    SkyMetrics,
    load_flip,
    measure_picture,
)
from verdigris.core.pictures.picture_files import encode_png
from verdigris.core.pictures.render import Lighting

if TYPE_CHECKING:
    from verdigris.core.baking.finish.heads import FinishEffort
    from verdigris.core.baking.measure.measure import HeldOut
    from verdigris.core.base.array_types import Floats
    from verdigris.core.base.device import Device
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.settings.bake_settings import BakeSettings

Result = TypeVar("Result")

# What computes beside a bake on a GPU.
HEADS = Beside("verdigris.core.baking.finish.fit_heads")
CHECKS = Beside("verdigris.core.baking.finish.figures")


class PreviewPlan(NamedTuple):
    """The size of a bundle's picture."""

    size: int
    """Pixels per side."""
    subpixels: int
    """Subpixels along a side of a pixel."""
    directions: int
    """Directions of the studio for each subpixel."""


# A small bake on a CPU gets a picture that takes no longer than the bake.
_PREVIEW, _SOFTWARE_PREVIEW = PreviewPlan(256, 3, 16), PreviewPlan(192, 2, 12)
_SMALL_PREVIEW, _SMALL_RESOLUTION = PreviewPlan(128, 2, 4), 128


@dataclass(frozen=True)
class Figures:
    """What was measured and drawn of a result."""

    samples: SampleMetrics
    picture: PictureMetrics
    sky: SkyMetrics
    preview: bytes
    """A PNG with reference, neural material and difference in a row."""


@contextlib.contextmanager
def preparing_finish(
    teachers: Sequence[Teacher], settings: BakeSettings, samples: int
) -> Iterator[None]:
    """Does in threads, beside the training inside of the context, what the end of a bake needs: it
    compiles shaders, and on a GPU starts processes, and measures the teacher with this number of
    samples. A trainer on the CPU needs its time itself.
    """
    jobs: list[Callable[[], object]] = []
    if len(teachers) == 1 and not teachers[0].device.is_software:
        teacher = teachers[0]
        jobs += (
            HEADS.begin,
            CHECKS.begin,
            load_flip,
            lambda: picture_of(teacher, sphere_to_compare()),
            lambda: reference_picture(teacher, preview_plan(teacher.device, settings)),
            lambda: held_out_of(teacher, settings.resolution, samples, teacher.index_below),
        )
    # shaders with cooperative vectors depend on the trained numbers
    transmits = any(teacher.index_below for teacher in teachers)
    with compiling_ahead(settings.spec, PORTABLE, transmits):
        pool = ThreadPoolExecutor(1, "finish")
        begun = [
            pool.submit(copy_context().run, profiled("prepare the finish")(job)) for job in jobs
        ]
        try:
            yield
        finally:
            pool.shutdown(cancel_futures=True)
            # a failure appears where the result is needed
            del begun


class Later(Protocol):
    """Begins a computation, and gives a function that waits for its result."""

    def __call__(self, function: Callable[..., Result], *values: Any) -> Callable[[], Result]: ...


def at_once(function: Callable[..., Result], *values: Any) -> Callable[[], Result]:
    """Computes in this thread."""
    found = function(*values)
    return lambda: found


@contextlib.contextmanager
def comparing_pictures(is_beside: bool) -> Iterator[Later]:
    """Gives what compares pictures: this thread, or a process beside the work inside of the
    context."""
    if not is_beside:
        yield at_once
        return
    with ThreadPoolExecutor(1, "checks") as thread:

        def later(function: Callable[..., Result], *values: Any) -> Callable[[], Result]:
            return thread.submit(CHECKS.call, function, *values).result

        yield later


def measure_result(
    teacher: Teacher,
    student: Student,
    resolution: int,
    effort: FinishEffort,
    later: Later = at_once,
) -> tuple[SampleMetrics, Callable[[], PictureMetrics]]:
    """Errors on held-out samples and of the picture of a sphere."""
    held_out = held_out_of(teacher, resolution, effort.samples, student.index_below)
    samples = measure_student(student, held_out)
    return samples, later(measure_picture, *pictures_of_both(teacher, student, effort.sphere))


def held_out_of(teacher: Teacher, resolution: int, samples: int, index_below: float) -> HeldOut:
    """The samples that a result is measured on, drawn once."""
    footprint = texel_footprint(resolution)
    return once(
        teacher,
        ("held-out", resolution, samples, index_below),
        lambda: draw_held_out(teacher, samples, 0, footprint, index_below),
    )


def figures_of(
    teacher: Teacher,
    student: Student,
    effort: FinishEffort,
    measured: tuple[SampleMetrics, Callable[[], PictureMetrics]],
    sky_of: Callable[[], SkyMetrics],
    later: Later = at_once,
) -> Figures:
    """All figures, with those that are measured already; `sky_of` waits for another."""
    samples, picture = measured
    preview = later(
        _preview_png,
        reference_picture(teacher, effort.preview).picture,
        draw_preview(teacher, student, effort.preview),
    )
    sky = sky_of()
    return Figures(samples, picture(), sky, preview())


def preview_plan(device: Device, settings: BakeSettings) -> PreviewPlan:
    """The size of a result's picture."""
    if not device.is_software:
        return _PREVIEW
    return _SMALL_PREVIEW if settings.resolution < _SMALL_RESOLUTION else _SOFTWARE_PREVIEW


@profiled("draw pictures")
def draw_preview(teacher: Teacher, student: Student, plan: PreviewPlan) -> Floats:
    """The student's picture beside that of `reference_picture`."""
    first = reference_picture(teacher, plan)
    return draw_beside(first, student, _lighting(plan), plan.subpixels, takes_coverage=True)


def _preview_png(first: Floats, second: Floats) -> bytes:
    """A PNG with both pictures and their difference in a row."""
    return encode_png(np.asarray(compare_drawn(first, second).picture, np.float32))


def reference_picture(teacher: Teacher, plan: PreviewPlan) -> Drawn:
    """The part of the picture that needs no student, drawn once."""
    return once(
        teacher,
        ("preview", plan),
        lambda: draw_reference(teacher, "sphere", plan.size, _lighting(plan), plan.subpixels),
    )


def _lighting(plan: PreviewPlan) -> Lighting:
    return Lighting(samples=plan.directions, emission=0.0)
