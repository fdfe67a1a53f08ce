"""How far a student is from its materials in pictures: what tells whole bakes of one apart, since
errors of samples hide a highlight that few of them meet."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.training.measure import PICTURE_LIGHTING, draw_sphere, sphere_to_compare
from verdigris.core.training.metrics import display

if TYPE_CHECKING:
    from verdigris.core.training.run import Run

# Lights from all around; that of the picture by which results are measured is not among them.
_DIRECTIONS = (
    (0.505, 0.303, 0.808),
    (0.0, 0.8, 0.6),
    (-0.803, -0.201, 0.562),
    (0.1, -0.1, 0.99),
    (0.722, -0.619, 0.309),
)
# Pixels a side.
_SIZE = 64


def picture_error(run: Run) -> float:
    """The mean squared difference on a display, of what bundles would hold, under all lights and of
    all materials; infinite where a student is no number."""
    view, student = sphere_to_compare(_SIZE), run.current_student(run.stored_parameters())
    errors = []
    for student.material, teacher in enumerate(run.teachers):
        for direction in _DIRECTIONS:
            lighting = replace(PICTURE_LIGHTING, direction=direction)
            pictures = (draw_sphere(each, view, lighting) for each in (student, teacher))
            drawn, wanted = map(display, pictures)
            errors.append(float(np.mean((drawn - wanted) ** 2)))
    student.material = 0
    error = float(np.mean(errors))
    return error if np.isfinite(error) else float("inf")
