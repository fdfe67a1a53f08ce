"""The light of the panel's pictures: quick where a processor draws them, rich where a GPU does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.material.evaluator import Footprint
from verdigris.core.pictures.render import Lighting, shade

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.pictures.views import View
    from verdigris.core.worker.commands import View as Wanted

_STUDIO_SAMPLES = 24
_PLACES = 4
_COARSE_LEVEL_PLACES = 16
# On a processor two soft lights stand for the studio: without noise, and a third of the cost.
_FILLS = (
    Lighting((0.35, 0.35, 0.87), (0.75, 0.78, 0.82), environment=0.0, emission=0.0),
    Lighting((0.9, 0.2, 0.1), (0.9, 1.05, 1.3), environment=0.0, emission=0.0),
)


class Studio:
    """Lights teacher and student alike."""

    def __init__(self, teacher: Teacher, resolution: int) -> None:
        self._teacher = teacher
        self.resolution = resolution

    def shade(self, material: DeviceMaterial, view: View, wanted: Wanted) -> NDArray[np.float32]:
        """Light and coverage at the pixels of a view."""
        if not len(view.pixel):
            return np.zeros((0, 4), np.float32)
        if material is self._teacher:
            return self._lit(material, view, wanted, self._footprint(wanted.level))
        student: Student = material  # type: ignore[assignment]
        student.level = float(wanted.level)
        try:
            return self._lit(student, view, wanted, Footprint())
        finally:
            # the bake measures with the same student, on its finest level
            student.level = 0.0

    def _lit(
        self, material: DeviceMaterial, view: View, wanted: Wanted, footprint: Footprint
    ) -> NDArray[np.float32]:
        is_quick = material.device.is_software
        key = Lighting(
            direction=wanted.light,
            environment=0.0 if is_quick else wanted.environment,
            emission=0.0,
            samples=_STUDIO_SAMPLES,
        )
        light = shade(material, view, key, is_flat=True, footprint=footprint)
        if is_quick and wanted.environment > 0:
            for fill in _FILLS:
                colour = tuple(wanted.environment * part for part in fill.colour)
                dimmed = replace(fill, colour=(colour[0], colour[1], colour[2]))
                more = shade(material, view, dimmed, is_flat=True, footprint=footprint)
                light[:, :3] += more[:, :3]
        return light

    def _footprint(self, level: int) -> Footprint:
        """The patch that a texel of this level stands for: what a student can be right about."""
        places = _COARSE_LEVEL_PLACES if level else _PLACES
        return Footprint(min(1.0, 2.0**level / self.resolution), places)
