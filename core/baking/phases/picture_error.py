"""How far a student is from its materials in pictures: what tells whole bakes of one apart, since
errors of samples hide a highlight that few of them meet."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.measure.measure import PICTURE_LIGHTING, sphere_to_compare
from verdigris.core.base.device import Source
from verdigris.core.pictures.picture_limits import PICTURE_SUBPIXELS
from verdigris.core.pictures.render import Placed, shade_placed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import slangpy
    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.pictures.render import Lighting
    from verdigris.core.pictures.views import View

_LIGHTS = 16
# From one to the next, in radians: twice that of the golden section.
_TURN = 2 * math.pi * (1 + math.sqrt(5))
# Pixels a side: in half as many the narrow highlight of a coat does not tell the best.
_SIZE = 128
_COMPARE = Source("baking/phases/compare_pictures")


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
    """Holds bakes of some materials against these, whose pictures are drawn once. Pictures stay on
    the device: a bake in several starts draws hundreds."""

    def __init__(self, teachers: Sequence[Teacher], size: int | None = None) -> None:
        """Pictures are of `size` pixels a side, or of as many as tell the best."""
        self._size = size or _SIZE
        view, first = _by_pixel(sphere_to_compare(self._size))
        self._pixels, material = len(first) - 1, teachers[0]
        self._placed = Placed.of(material, view, PICTURE_SUBPIXELS)
        self._first, self._lit = material.buffer(len(first), first), self._placed.room(material)
        self._lights = [replace(PICTURE_LIGHTING, direction=each) for each in light_directions()]
        self._wanted = [[self._shown(each, light) for light in self._lights] for each in teachers]

    def error(self, run: Run) -> float:
        """The mean squared difference on a display, of what bundles would hold, under all lights
        and of all materials; infinite where a student is no number."""
        return self.error_of(run.current_student(run.stored_parameters()))

    def error_of(self, student: Student) -> float:
        """The same of what a student has."""
        errors = student.buffer(self._pixels, np.zeros(self._pixels, np.float32))
        for student.material, wanted in enumerate(self._wanted):
            for light, shown in zip(self._lights, wanted, strict=True):
                self._dispatch("comparePixels", student, light, gShown=shown, gErrors=errors)
        student.material = 0
        total = float(errors.to_numpy().view(np.float32).sum(dtype=np.float64))
        numbers = len(self._wanted) * len(self._lights) * 3 * self._size**2
        return total / numbers if np.isfinite(total) else float("inf")

    def _shown(self, teacher: Teacher, light: Lighting) -> slangpy.Buffer:
        shown = teacher.buffer(3 * self._pixels, None)
        self._dispatch("showPixels", teacher, light, gShown=shown)
        return shown

    def _dispatch(
        self, entry: str, material: DeviceMaterial, light: Lighting, **pictures: slangpy.Buffer
    ) -> None:
        shade_placed(material, self._placed, light, is_flat=True, into=self._lit)
        material.device.dispatch(
            material.device.shared_kernels({}, ()).get((_COMPARE,), entry),
            self._pixels,
            {
                "gParameters": {"pixels": self._pixels, "points": PICTURE_SUBPIXELS**2},
                "gFirst": self._first,
                "gLit": self._lit,
                **pictures,
            },
        )


def _by_pixel(view: View) -> tuple[View, NDArray[np.float32]]:
    """The points of a view by the pixels of the picture that they belong to, and where those of
    each pixel begin, and the last ones end."""
    row, column = np.divmod(view.pixel, view.size)
    pixel = row // PICTURE_SUBPIXELS * view.size + column // PICTURE_SUBPIXELS
    order = np.argsort(pixel, kind="stable")
    first = np.flatnonzero(np.diff(pixel[order], prepend=-1))
    return view.take(order), np.append(first, len(order)).astype(np.float32)
