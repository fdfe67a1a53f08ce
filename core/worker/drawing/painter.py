"""Draws the panel's pictures: the reference, the student, and their difference.

A new view is drawn coarsely at once. When nothing trains, both sides are then drawn in full size,
tile by tile: by few lights first, then pass by pass under the whole environment. During training,
`live_drawing` draws the whole student again and again. Only what is in sight is drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.pictures.render import make_gbuffer
from verdigris.core.worker.drawing.canvas import Canvas
from verdigris.core.worker.drawing.easel import Easel
from verdigris.core.worker.drawing.frame import Frame, Shape
from verdigris.core.worker.drawing.live_drawing import LiveDrawing
from verdigris.core.worker.drawing.range_pictures import draw_range
from verdigris.core.worker.drawing.shown_meshes import ShownMeshes
from verdigris.core.worker.drawing.side import Side, shift_of
from verdigris.core.worker.drawing.studio import Studio
from verdigris.core.worker.protocol.commands import (
    ALL,
    NEURAL,
    REFERENCE,
    WIPE,
    Range,
)
from verdigris.core.worker.protocol.commands import View as ViewCommand
from verdigris.core.worker.protocol.worker_events import Picture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.material.live_inputs.live_input import LiveInput
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.worker.drawing.easel import Drawn

# Sides of tiles: commands wait for at most one tile. Is it a processor?
_TILE = {True: 48, False: 512}
# Shorter side of the picture that comes at once.
COARSE = 128
_TEXTURE_SIZE = 256
TEXTURE = "texture"
# Beside the wipe, as a part of the width: it can be moved before the next picture comes.
_BESIDE_WIPE = 0.02


class Painter:
    """Pictures of a teacher and its student."""

    def __init__(
        self,
        teacher: Teacher,
        command: ViewCommand,
        resolution: int,
        clock: Callable[[], float] = time.perf_counter,
        meshes: Mapping[str, Mesh] | None = None,
    ) -> None:
        self.teacher = teacher
        self._original: Drawn = teacher
        """What the reference shows: the material, or another bake of it."""
        self._meshes = ShownMeshes(meshes, teacher.tiles)
        self._studio = Studio(teacher, resolution)
        self._compiled: set[int] = set()
        self._changed: set[str] = set()
        self._has_student = False
        self.live = LiveDrawing(clock)
        self._show(command)

    @property
    def command(self) -> ViewCommand:
        """The view."""
        return self.easel.command

    def look(self, command: ViewCommand, is_new: bool = False) -> None:
        """Shows another view. It is drawn again, unless only what is in sight and the exposure
        differ, or `is_new` is false for an equal view."""
        is_same = _shape_of(self.command) == _shape_of(command) and self._meshes.is_current(command)
        if not is_same or is_new:
            self._show(command)
            return
        self.easel.command = command
        tone = self._studio.tone(command)
        for side in (self.reference, self.neural):
            side.expose(tone)
        self.live.expose(tone)
        self._look_at_sides()
        self._changed |= {REFERENCE, NEURAL} if self.neural.has_content else {REFERENCE}

    def _show(self, command: ViewCommand) -> None:
        # what cannot be read changes nothing
        mesh = self._meshes.of(command)
        self._studio.check(command)
        self.easel = easel = Easel(self._studio, command, mesh)
        tile = _TILE[self.teacher.device.is_software]
        self.reference, self.neural = (
            Side(easel.frame, tile, lambda: easel.new_canvas(easel.frame)) for _ in range(2)
        )
        self.live.draw_on(easel, self.neural, self._original)
        self._look_at_sides()
        self._changed = set()
        self._draw_coarse(self._original, self.reference, REFERENCE)

    def _look_at_sides(self) -> None:
        shows, wipe = self.command.shows, self.command.wipe
        if not self._has_student:
            self.reference.columns = (0.0, 1.0)
        elif shows == WIPE:
            self.reference.columns = (0.0, min(1.0, wipe + _BESIDE_WIPE))
            self.neural.columns = (max(0.0, wipe - _BESIDE_WIPE), 1.0)
        else:
            # nothing is between equal ends
            self.reference.columns = (0.0, 0.0) if shows == NEURAL else (0.0, 1.0)
            self.neural.columns = (0.0, 0.0) if shows == REFERENCE else (0.0, 1.0)

    def expect(self, has_student: bool) -> None:
        """Without a student, the reference is all that is in sight."""
        if has_student != self._has_student:
            self._has_student = has_student
            self._look_at_sides()

    def compare_with(self, original: Drawn, resolution: int) -> None:
        """Shows this as the reference, at this texture resolution."""
        if original is not self._original:
            self._original, self._studio.resolution = original, resolution
            self._show(self.command)
        elif resolution != self._studio.resolution:
            self._studio.resolution = resolution
            self.easel.find_places()
            self.reference.forget()
            self.live.forget()

    @property
    def is_reference_whole(self) -> bool:
        return self.reference.has_content and self.reference.next_quick() is None

    @property
    def is_neural_whole(self) -> bool:
        return self.neural.has_content and self.neural.next_quick() is None

    def is_complete(self, student: Drawn | None) -> bool:
        """Whether nothing is left to draw while nothing trains."""
        sides = [(self._original, self.reference)]
        sides += [(student, self.neural)] if student is not None else []
        if any(not side.has_content or side.next_quick() for _, side in sides):
            return False
        return not self._converges(student) or all(side.next_fine() is None for _, side in sides)

    def _converges(self, student: Drawn | None) -> bool:
        """Whether there is an environment, and both sides can be lit by all of it."""
        drawn = [each for each in (self._original, student) if each is not None]
        return bool(self.command.lit_by) and all(isinstance(x, DeviceMaterial) for x in drawn)

    def draw_reference(self) -> None:
        """Draws a part of the reference by few lights."""
        self._draw_quick(self._original, self.reference, REFERENCE)

    def draw_neural(self, student: Drawn) -> None:
        """Draws a part of the student by few lights; first a coarse picture of all of it."""
        self._draw_quick(student, self.neural, NEURAL)

    def complete(self, student: Drawn | None) -> None:
        """Draws the next part of both sides."""
        if not self.is_reference_whole:
            self.draw_reference()
        elif student is not None and not self.is_neural_whole:
            self.draw_neural(student)
        elif self._converges(student):
            self._draw_fine(student)

    def _draw_quick(self, material: Drawn, side: Side, name: str) -> None:
        if not side.has_content:
            self._draw_coarse(material, side, name)
            return
        tile = side.next_quick()
        if tile is not None:
            view = self.easel.view_of(self.easel.frame, tile)
            side.draw_quick(tile, view, self.easel.light(material, view))
            self._changed.add(name)

    def _draw_coarse(self, material: Drawn, side: Side, name: str) -> None:
        coarse = self.easel.frame_of(min(COARSE, self.command.size))
        canvas = self.easel.new_canvas(coarse)
        view = self.easel.view_of(coarse, coarse.whole())
        canvas.put(view.pixel, self.easel.light(material, view, places=1))
        side.coarse = canvas
        self._changed.add(name)

    def _draw_fine(self, student: Drawn | None) -> None:
        found = self.reference.next_fine()
        sides = [(self._original, self.reference, REFERENCE)]
        if student is not None:
            sides.append((student, self.neural, NEURAL))
        waiting = [(side.next_fine(), material, side, name) for material, side, name in sides]
        passes = [found[1] for found, *_ in waiting if found is not None]
        for found, material, side, name in waiting:
            if found is not None and found[1] == min(passes):
                tile, number = found
                view = self.easel.view_of(self.easel.frame, tile, shift_of(number))
                assert isinstance(material, DeviceMaterial)
                self._compiled.add(id(material))
                side.draw_fine(tile, number, view, self.easel.fine_light(material, view, number))
                self._changed.add(name)
                return

    def must_compile(self, student: Drawn | None) -> bool:
        """Whether the next part is the first one under an environment of its material."""
        sides = [self._original] + ([student] if student is not None else [])
        if all(id(each) in self._compiled for each in sides):
            return False
        is_quick_whole = self.is_reference_whole and (student is None or self.is_neural_whole)
        return is_quick_whole and self._converges(student)

    def forget_network(self) -> None:
        """Forgets a network: the next one may have another layout."""
        self.live.forget()
        self.forget_neural()

    def forget_neural(self) -> None:
        """Forgets the student's picture."""
        self.neural.forget()
        self._changed.discard(NEURAL)

    def news(self, step: int, student: Drawn | None = None) -> list[Picture]:
        """Pictures in full size that have changed since the last call."""
        has_neural = self.neural.has_content
        is_fine = self.reference.is_fine and self._converges(student)
        if has_neural:
            is_fine = is_fine and self.neural.is_fine
        changed, self._changed = self._changed, set()
        if self.reference.is_fine and not has_neural and NEURAL in changed:
            changed.add(REFERENCE)
        refined = self._refined(student)
        found = []
        number = self.command.number
        # both, as they must have the same light
        if REFERENCE in changed or (NEURAL in changed and is_fine):
            sharp = self.reference.sharp
            reference = self.reference.canvas(is_fine)
            found.append(Picture(reference.pixels(), REFERENCE, number, step, sharp, refined))
        if has_neural and changed:
            sharp, neural = self.neural.sharp, self.neural.canvas(is_fine)
            found.append(Picture(neural.pixels(), NEURAL, number, step, sharp, refined))
            if self.command.shows == ALL:
                # of equal sizes
                is_coarse = self.reference.is_coarse or self.neural.is_coarse
                pair = [each.canvas(is_fine, is_coarse) for each in (self.reference, self.neural)]
                found.append(self.easel.heat(pair[0], pair[1], step, sharp, refined))
        return found

    def _refined(self, student: Drawn | None) -> float:
        if not self._converges(student):
            return 1.0
        sides = [self.reference] + ([self.neural] if student is not None else [])
        return sum(side.refined for side in sides) / len(sides)

    def texture(self) -> Picture:
        """The material on the unit square, v upwards, to paint on."""
        command = ViewCommand(shape="plane", size=_TEXTURE_SIZE)
        frame = Frame.of(Shape(command, None), _TEXTURE_SIZE, 1.0)
        canvas = Canvas(frame, self._studio.tone(command))
        view = make_gbuffer("plane", _TEXTURE_SIZE)
        canvas.put(view.pixel, self._studio.quick(self.teacher, view, command))
        return Picture(canvas.pixels(), TEXTURE, self.command.number, 0, 1.0)

    def range_pictures(self, material: Teacher | Student, command: Range) -> NDArray[np.uint8]:
        """Small pictures over the range of a live input, side by side."""
        return draw_range(self._studio, self.teacher, material, self.command, command)

    def know_inputs(self, inputs_of: Mapping[int, Sequence[LiveInput]]) -> None:
        """Live inputs of bundles by the identity of their students, before they are shown."""
        self._studio.inputs_of = inputs_of


def _shape_of(command: ViewCommand) -> ViewCommand:
    """The view without fields that need no redraw."""
    return replace(
        command, exposure=0.0, number=0, wants_places=False, shows=ALL, wipe=0.5, tone="film"
    )
