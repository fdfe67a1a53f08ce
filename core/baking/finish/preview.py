"""The picture of a bundle: reference, neural material and difference in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.measure.once import once
from verdigris.core.pictures.compare.comparison import Drawn, compare_materials, draw_reference
from verdigris.core.pictures.picture_files import encode_png
from verdigris.core.pictures.render import Lighting

if TYPE_CHECKING:
    from verdigris.core.baking.finish.effort import PreviewPlan
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student


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
