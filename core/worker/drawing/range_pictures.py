"""Small pictures of a material over the range of a live input."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.worker.drawing.canvas import Canvas
from verdigris.core.worker.drawing.frame import Frame, Shape
from verdigris.core.worker.protocol.commands import GREY, View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.worker.drawing.studio import Studio
    from verdigris.core.worker.protocol.commands import Range


def draw_range(
    studio: Studio, teacher: Teacher, material: Teacher | Student, seen: View, wanted: Range
) -> NDArray[np.uint8]:
    """Spheres from the low end of the range to the high one, side by side, under the light of the
    view. The other live inputs have their values of the view."""
    values = list(studio.live_of(teacher, seen))
    command = View(
        light=seen.light,
        environment=seen.environment,
        exposure=seen.exposure,
        size=wanted.size,
        lit_by=seen.lit_by,
        rotate=seen.rotate,
        backdrop=GREY,
        tone=seen.tone,
    )
    frame = Frame.of(Shape(command, None), wanted.size, 1.0)
    view = frame.view(frame.whole())
    pictures = []
    for number in range(wanted.count):
        values[wanted.input] = number / (wanted.count - 1)
        at = replace(command, live=tuple(values))
        canvas = Canvas(frame, studio.tone(at))
        canvas.put(view.pixel, studio.quick(material, view, at, places=1))
        pictures.append(canvas.pixels())
    return np.concatenate(pictures, 1)
