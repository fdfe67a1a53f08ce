"""The figures of a result: its errors, and the picture that shows them.

What needs no student is computed ahead, in a thread beside the training.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from verdigris.core.baking.finish.heads_process import HEADS
from verdigris.core.baking.measure.measure import (
    draw_held_out,
    measure_pictures,
    measure_student,
    once,
    picture_of,
    sphere_to_compare,
    texel_footprint,
)
from verdigris.core.baking.measure.sky import measure_sky
from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.files.arithmetic import PORTABLE
from verdigris.core.bundle.runtime.runtime_files import compiling_ahead
from verdigris.core.pictures.compare.comparison import Drawn, compare_materials, draw_reference
from verdigris.core.pictures.compare.metrics import (
    PictureMetrics,
    SampleMetrics,
    SkyMetrics,
    load_flip,
)
from verdigris.core.pictures.picture_files import encode_png
from verdigris.core.pictures.render import Lighting

if TYPE_CHECKING:
    from verdigris.core.baking.finish.heads import FinishEffort
    from verdigris.core.base.device import Device
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.settings.bake_settings import BakeSettings


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
def preparing_finish(teachers: Sequence[Teacher], settings: BakeSettings) -> Iterator[None]:
    """Does in threads, beside the training inside of the context, what the end of a bake needs: it
    compiles shaders, and on a GPU measures the teacher and starts the process that fits heads. A
    trainer on the CPU needs its time itself.
    """
    jobs: list[Callable[[], object]] = []
    if len(teachers) == 1 and not teachers[0].device.is_software:
        teacher = teachers[0]
        jobs += (
            HEADS.begin,
            load_flip,
            lambda: picture_of(teacher, sphere_to_compare()),
            lambda: reference_picture(teacher, preview_plan(teacher.device, settings)),
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


def measure_result(
    teacher: Teacher, student: Student, resolution: int, effort: FinishEffort
) -> tuple[SampleMetrics, PictureMetrics]:
    """Errors on held-out samples and of the picture of a sphere."""
    footprint = texel_footprint(resolution)
    held_out = draw_held_out(teacher, effort.samples, 0, footprint, student.index_below)
    return measure_student(student, held_out), measure_pictures(teacher, student, effort.sphere)


def figures_of(
    teacher: Teacher,
    student: Student,
    resolution: int,
    effort: FinishEffort,
    measured: tuple[SampleMetrics, PictureMetrics],
) -> Figures:
    """All figures, with those that are measured already."""
    sky = measure_sky(teacher, student, resolution, effort.sky)
    return Figures(*measured, sky, draw_preview(teacher, student, effort.preview))


def preview_plan(device: Device, settings: BakeSettings) -> PreviewPlan:
    """The size of a result's picture."""
    if not device.is_software:
        return _PREVIEW
    return _SMALL_PREVIEW if settings.resolution < _SMALL_RESOLUTION else _SOFTWARE_PREVIEW


def draw_preview(teacher: Teacher, student: Student, plan: PreviewPlan) -> bytes:
    """The picture as PNG."""
    compared = compare_materials(
        teacher, student, "sphere", plan.size, _lighting(plan), plan.subpixels,
        takes_coverage=True, drawn=reference_picture(teacher, plan),
    )  # fmt: skip
    return encode_png(np.asarray(compared.picture, np.float32))


def reference_picture(teacher: Teacher, plan: PreviewPlan) -> Drawn:
    """The part of the picture that needs no student, drawn once."""
    return once(
        teacher,
        ("preview", plan),
        lambda: draw_reference(teacher, "sphere", plan.size, _lighting(plan), plan.subpixels),
    )


def _lighting(plan: PreviewPlan) -> Lighting:
    return Lighting(samples=plan.directions, emission=0.0)
