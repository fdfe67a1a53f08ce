"""How far a student is from its materials in pictures: what tells whole bakes of one apart, since
errors of samples hide a highlight that few of them meet."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.training.measure import PICTURE_LIGHTING, draw_sphere, sphere_to_compare
from verdigris.core.training.metrics import FloatArray, display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher import Teacher
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


class PictureJudge:
    """Holds bakes of some materials against these, whose pictures are drawn once."""

    def __init__(self, teachers: Sequence[Teacher]) -> None:
        self._view = sphere_to_compare(_SIZE)
        self._wanted = [self._pictures(each) for each in teachers]

    def error(self, run: Run) -> float:
        """The mean squared difference on a display, of what bundles would hold, under all lights
        and of all materials; infinite where a student is no number."""
        student, errors = run.current_student(run.stored_parameters()), []
        for student.material, wanted in enumerate(self._wanted):
            errors.append(np.mean((self._pictures(student) - wanted) ** 2))
        student.material = 0
        error = float(np.mean(errors))
        return error if np.isfinite(error) else float("inf")

    def _pictures(self, material: DeviceMaterial) -> FloatArray:
        """As a display shows them, under each light."""
        lights = (replace(PICTURE_LIGHTING, direction=each) for each in _DIRECTIONS)
        return display(np.stack([draw_sphere(material, self._view, each) for each in lights]))
