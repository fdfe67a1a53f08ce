"""How far a student is from its materials in pictures: what tells whole bakes of one apart, since
errors of samples hide a highlight that few of them meet."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.training.measure import PICTURE_LIGHTING, draw_sphere, sphere_to_compare
from verdigris.core.training.metrics import FloatArray, display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.training.run import Run

_LIGHTS = 16
# From one to the next, in radians: twice that of the golden section.
_TURN = 2 * math.pi * (1 + math.sqrt(5))
# Pixels a side.
_SIZE = 64


def light_directions() -> list[tuple[float, float, float]]:
    """Of lights evenly over the half of all directions that the viewer is in, from the rim inwards.
    That of the picture by which results are measured is not among them."""
    directions = []
    for number in range(_LIGHTS):
        place = number + 0.25
        height, turn = place / _LIGHTS, _TURN * place
        across = math.sqrt(1 - height**2)
        directions.append((across * math.cos(turn), across * math.sin(turn), height))
    return directions


class PictureJudge:
    """Holds bakes of some materials against these, whose pictures are drawn once."""

    def __init__(self, teachers: Sequence[Teacher]) -> None:
        self._view = sphere_to_compare(_SIZE)
        self._wanted = [self._pictures(each) for each in teachers]

    def error(self, run: Run) -> float:
        """The mean squared difference on a display, of what bundles would hold, under all lights
        and of all materials; infinite where a student is no number."""
        return self.error_of(run.current_student(run.stored_parameters()))

    def error_of(self, student: Student) -> float:
        """The same of what a student has."""
        errors = []
        for student.material, wanted in enumerate(self._wanted):
            errors.append(np.mean((self._pictures(student) - wanted) ** 2))
        student.material = 0
        error = float(np.mean(errors))
        return error if np.isfinite(error) else float("inf")

    def _pictures(self, material: DeviceMaterial) -> FloatArray:
        """As a display shows them, under each light."""
        lights = (replace(PICTURE_LIGHTING, direction=each) for each in light_directions())
        return display(np.stack([draw_sphere(material, self._view, each) for each in lights]))
