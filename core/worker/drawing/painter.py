"""Draws the panel's pictures: the reference, the student, and their difference.

A new view is drawn coarsely at once. When nothing trains, both sides are then drawn in full size,
tile by tile: by few lights first, then pass by pass under the whole environment. During training,
`live_drawing` draws the whole student again and again. Only what is in sight is drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.geometry.mesh import Mesh, in_atlas, load_mesh
from verdigris.core.geometry.shapes import SHAPES, shape_mesh
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.pictures.render import make_view
from verdigris.core.worker.drawing.canvas import Canvas, heat_of
from verdigris.core.worker.drawing.frame import Frame, Shape, Tile
from verdigris.core.worker.drawing.live_drawing import LiveDrawing
from verdigris.core.worker.drawing.live_network import LitView
from verdigris.core.worker.drawing.range_pictures import draw_range
from verdigris.core.worker.drawing.side import Side, shift_of
from verdigris.core.worker.drawing.studio import Studio, few_lights
from verdigris.core.worker.protocol.commands import (
    ALL,
    NEURAL,
    PIXELATED_FROM,
    REFERENCE,
    WIPE,
    Range,
)
from verdigris.core.worker.protocol.commands import View as ViewCommand
from verdigris.core.worker.protocol.worker_events import Picture, Places

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from verdigris.core.material.live_inputs.live_input import LiveInput
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.pictures.views import View
    from verdigris.core.training.numpy.numpy_trainer import LiveNetwork

    Drawn = Teacher | Student | LiveNetwork

# Sides of tiles: commands wait for at most one tile. Is it a processor?
_TILE = {True: 48, False: 512}
# Shorter side of the picture that comes at once.
COARSE = 128
# uv by pixel is not needed any finer.
_PLACES_SIDE = 320
# Pixels per texel from which a texel is drawn as a square.
_PIXELS_A_TEXEL = 36
_TEXTURE_SIZE = 256
TEXTURE = "texture"
# Beside the wipe, as a part of the width: it can be moved before the next picture comes.
_BESIDE_WIPE = 0.02


class Painter:
    """Pictures of a teacher and its student."""

    command: ViewCommand

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
        self._given = {} if meshes is None else meshes
        self._studio = Studio(teacher, resolution)
        # by file and modification time
        self._meshes: dict[tuple[str, int], Mesh] = {}
        self._compiled: set[int] = set()
        self._changed: set[str] = set()
        self._has_student = False
        self.live = LiveDrawing(self, clock)
        self._show(command)

    def look(self, command: ViewCommand, is_new: bool = False) -> None:
        """Shows another view. It is drawn again, unless only what is in sight and the exposure
        differ, or `is_new` is false for an equal view."""
        is_same = _shape_of(self.command) == _shape_of(command) and self._is_current(command)
        if not is_same or is_new:
            self._show(command)
            return
        self.command = command
        tone = self._studio.tone(command)
        for side in (self.reference, self.neural):
            side.expose(tone)
        self.live.expose(tone)
        self._look_at_sides()
        self._changed |= {REFERENCE, NEURAL} if self.neural.has_content else {REFERENCE}

    def _show(self, command: ViewCommand) -> None:
        # what cannot be read changes nothing
        mesh = self._mesh(command)
        self._studio.check(command)
        self.command, self._shown_mesh = command, mesh
        self._shape = Shape(command, mesh)
        self.frame = Frame.of(self._shape, command.size, command.aspect)
        tile = _TILE[self.teacher.device.is_software]
        self._behind: dict[tuple[int, int], NDArray[np.float32] | None] = {}
        self.reference, self.neural = (
            Side(self.frame, tile, lambda: self.new_canvas(self.frame)) for _ in range(2)
        )
        self._find_places()
        self.live.forget()
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

    def _find_places(self) -> None:
        """Finds the uv of each pixel: a place, or the centre of its texel."""
        side = min(_PLACES_SIDE, self.command.size)
        self._places_frame = Frame.of(self._shape, side, self.command.aspect)
        self._seen: View | None = None
        self.texels = 0
        if self.command.zoom >= PIXELATED_FROM:
            self.texels = self._count_texels(self._places_view())

    def _places_view(self) -> View:
        if self._seen is None:
            self._seen = self._places_frame.view(self._places_frame.whole())
        return self._seen

    @property
    def seen_uv(self) -> NDArray[np.float32]:
        """The places in sight, to train them more."""
        return self._places_view().uv

    def _count_texels(self, seen: View) -> int:
        """Texels per side if each is drawn as a square; otherwise 0."""
        texels = max(1, self._studio.resolution >> self.command.level)
        if not len(seen.uv):
            return 0
        shown = np.unique(np.floor(seen.uv * texels), axis=0)
        pixels = len(seen.uv) * (self.frame.count / self._places_frame.count)
        return texels if pixels >= _PIXELS_A_TEXEL * len(shown) else 0

    def compare_with(self, original: Drawn, resolution: int) -> None:
        """Shows this as the reference, at this texture resolution."""
        if original is not self._original:
            self._original, self._studio.resolution = original, resolution
            self._show(self.command)
        elif resolution != self._studio.resolution:
            self._studio.resolution = resolution
            self._find_places()
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
            view = self.view_of(self.frame, tile)
            side.draw_quick(tile, view, self.light(material, view))
            self._changed.add(name)

    def _draw_coarse(self, material: Drawn, side: Side, name: str) -> None:
        coarse = Frame.of(self._shape, min(COARSE, self.command.size), self.command.aspect)
        canvas = self.new_canvas(coarse)
        view = self.view_of(coarse, coarse.whole())
        canvas.put(view.pixel, self.light(material, view, places=1))
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
                view = self.view_of(self.frame, tile, shift_of(number))
                assert isinstance(material, DeviceMaterial)
                self._compiled.add(id(material))
                light = self._studio.fine(material, view, self.command, number, self._shown_mesh)
                side.draw_fine(tile, number, view, light)
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
                found.append(self.heat(pair[0], pair[1], step, sharp, refined))
        return found

    def _refined(self, student: Drawn | None) -> float:
        if not self._converges(student):
            return 1.0
        sides = [self.reference] + ([self.neural] if student is not None else [])
        return sum(side.refined for side in sides) / len(sides)

    def heat(
        self, reference: Canvas, neural: Canvas, step: int, sharp: float, refined: float = 1.0
    ) -> Picture:
        values = heat_of(reference, neural, self._studio.exposure(self.command))
        return Picture(values, "heat", self.command.number, step, sharp, refined)

    def texture(self) -> Picture:
        """The material on the unit square, v upwards, to paint on."""
        command = ViewCommand(shape="plane", size=_TEXTURE_SIZE)
        frame = Frame.of(Shape(command, None), _TEXTURE_SIZE, 1.0)
        canvas = Canvas(frame, self._studio.tone(command))
        view = make_view("plane", _TEXTURE_SIZE)
        canvas.put(view.pixel, self._studio.quick(self.teacher, view, command))
        return Picture(canvas.pixels(), TEXTURE, self.command.number, 0, 1.0)

    def range_pictures(self, material: Teacher | Student, command: Range) -> NDArray[np.uint8]:
        """Small pictures over the range of a live input, side by side."""
        return draw_range(self._studio, self.teacher, material, self.command, command)

    def know_inputs(self, inputs_of: Mapping[int, Sequence[LiveInput]]) -> None:
        """Live inputs of bundles by the identity of their students, before they are shown."""
        self._studio.inputs_of = inputs_of

    def places(self) -> Places:
        """The uv of the pixels of a picture that may be smaller."""
        frame, seen = self._places_frame, self._places_view()
        uv = np.full((frame.count, 2), np.nan, np.float32)
        uv[seen.pixel] = seen.uv
        array = uv.reshape(frame.height, frame.width, 2)
        return Places(array, self.command.number, self.texels)

    # for live pictures, too

    def new_canvas(self, frame: Frame) -> Canvas:
        size = (frame.width, frame.height)
        if size not in self._behind:
            self._behind[size] = self._studio.behind(self.command, frame)
        return Canvas(frame, self._studio.tone(self.command), self._behind[size])

    def frame_of(self, short: int) -> Frame:
        return Frame.of(self._shape, short, self.command.aspect)

    def view_of(self, frame: Frame, tile: Tile, shift: tuple[float, float] = (0.0, 0.0)) -> View:
        """A tile, with every pixel at the centre of its texel if texels are drawn as squares."""
        view = frame.view(tile, shift)
        if not self.texels:
            return view
        uv = (np.floor(view.uv * self.texels) + 0.5) / self.texels
        return replace(view, uv=uv.astype(np.float32))

    def light(self, material: Drawn, view: View, places: int = 4) -> NDArray[np.float32]:
        """Light and coverage at the pixels of a view, by few lights."""
        if isinstance(material, DeviceMaterial):
            return self._studio.quick(material, view, self.command, self._shown_mesh, places)
        lit = self.lit_view(material, view)
        return np.concatenate([lit.draw(material, number)[1] for number in range(lit.parts)])

    def lit_view(self, network: LiveNetwork, view: View) -> LitView:
        live = self._studio.live_of(network, self.command)
        return LitView(network, view, few_lights(self.command), self.command.level, live)

    @property
    def original(self) -> Drawn:
        return self._original

    def _mesh(self, command: ViewCommand) -> Mesh | None:
        if command.shape in SHAPES:
            return shape_mesh(command.shape)
        if command.shape != "mesh":
            return None
        given = self._given.get(command.mesh)
        if given is not None:
            return in_atlas(given, self.teacher.tiles)
        key = _file_key(command.mesh)
        if key not in self._meshes:
            self._meshes = {key: in_atlas(load_mesh(Path(command.mesh)), self.teacher.tiles)}
        return self._meshes[key]

    def _is_current(self, command: ViewCommand) -> bool:
        """Whether the file of the mesh is unchanged."""
        if command.shape != "mesh" or command.mesh in self._given:
            return True
        return _file_key(command.mesh) in self._meshes


def _file_key(name: str) -> tuple[str, int]:
    """The key of a file by its modification time. Missing files are reported by their reader."""
    try:
        return name, Path(name).stat().st_mtime_ns
    except OSError:
        return name, 0


def _shape_of(command: ViewCommand) -> ViewCommand:
    """The view without fields that need no redraw."""
    return replace(
        command, exposure=0.0, number=0, wants_places=False, shows=ALL, wipe=0.5, tone="film"
    )
