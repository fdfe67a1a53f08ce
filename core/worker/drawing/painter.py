"""Draws the panel's pictures: the reference, the student, and their difference.

During training, the whole student is drawn again and again, in a size that fits into the time. When
nothing trains, student and reference are drawn in full size, a few pixels at a time. The student is
a material on the device, or the network that trains in this process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.geometry.mesh import Mesh, load_mesh
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.pictures.render import make_view
from verdigris.core.pictures.views import Camera
from verdigris.core.worker.drawing.canvas import Canvas, heat_of
from verdigris.core.worker.drawing.live_network import LitView
from verdigris.core.worker.drawing.studio import Studio, plain_lights
from verdigris.core.worker.protocol.commands import PIXELATED_FROM
from verdigris.core.worker.protocol.commands import View as ViewCommand
from verdigris.core.worker.protocol.worker_events import Picture, Places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.pictures.views import View
    from verdigris.core.training.numpy.numpy_trainer import LiveNetwork

    Drawn = Teacher | Student | LiveNetwork

# Pixels of one part in full size: commands wait for at most one part.
_GROUP = {True: 2048, False: 65_536}
_COARSE = 3
# Pixels per texel from which a texel is drawn as a square.
_PIXELS_A_TEXEL = 36
_TEXTURE_SIZE = 256
TEXTURE = "texture"
# Sides of live pictures.
LIVE_SIZES = (48, 64, 80, 96, 128, 160, 192, 256, 384, 512, 768, 1024)
_FIRST_LIVE_SIZE = 64
# Safety factor before a larger picture is chosen, against flicker.
_RESERVE = 0.75


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
        self._clock = clock
        self._given = {} if meshes is None else meshes
        self._studio = Studio(teacher, resolution)
        # by file and modification time
        self._meshes: dict[tuple[str, int], Mesh] = {}
        self._seconds_a_pixel: float | None = None
        self._live_side = 0
        self._lit: dict[int, LitView] = {}
        self._show(command)

    def look(self, command: ViewCommand, is_new: bool = False) -> None:
        """Shows another view. It is drawn again, unless only the exposure differs or `is_new` is
        false for an equal view."""
        is_same = _shape_of(self.command) == _shape_of(command) and self._is_current(command)
        if is_same and not is_new:
            pairs = self._live.values()
            for canvas in (self.reference, self.neural, *(each for pair in pairs for each in pair)):
                canvas.expose(command.exposure)
            self.command = command
            self._changed = {"reference", "neural"} if self.has_neural else {"reference"}
        else:
            self._show(command)

    def _show(self, command: ViewCommand) -> None:
        # a mesh that cannot be read changes nothing
        mesh = self._mesh(command.mesh) if command.shape == "mesh" else None
        self._frame(command, mesh)
        # the mesh stays, whatever happens to its file
        self.command, self._shown_mesh = command, mesh
        self.reference = self._canvas(command.size)
        self.neural = self._canvas(command.size)
        self.has_neural = False
        self._live: dict[int, tuple[Canvas, Canvas]] = {}
        self._lit = {}
        self._views: dict[int, View] = {}
        self._changed = {"reference"}
        self._fill(self._original, self.reference)
        self._reference_parts: Iterator[float] | None = self._parts(self._original, self.reference)
        self._neural_parts: Iterator[float] | None = None
        self._sharp = {"reference": 0.0, "neural": 0.0}

    def _frame(self, command: ViewCommand, mesh: Mesh | None) -> None:
        """Finds the uv of each pixel: a place, or the centre of its texel."""
        seen = _seen(command, command.size, mesh)
        self.seen_uv = seen.uv
        self.texels = self._count_texels(command, seen)
        self.view = _by_texel(seen, self.texels)

    def _count_texels(self, command: ViewCommand, seen: View) -> int:
        """Texels per side if each is drawn as a square; otherwise 0."""
        texels = max(1, self._studio.resolution >> command.level)
        if command.zoom < PIXELATED_FROM or not len(seen.uv):
            return 0
        shown = np.unique(np.floor(seen.uv * texels), axis=0)
        return texels if len(seen.uv) >= _PIXELS_A_TEXEL * len(shown) else 0

    def compare_with(self, original: Drawn, resolution: int) -> None:
        """Shows this as the reference, at this texture resolution."""
        if original is self._original:
            self.rescale(resolution)
        else:
            self._original, self._studio.resolution = original, resolution
            self._show(self.command)

    def rescale(self, resolution: int) -> None:
        """Shows the reference at another texture resolution."""
        if resolution != self._studio.resolution:
            self._studio.resolution = resolution
            self._frame(self.command, self._shown_mesh)
            self._live = {}
            self._lit = {}
            self._views = {}
            self._reference_parts = self._parts(self._original, self.reference)

    @property
    def is_reference_whole(self) -> bool:
        return self._reference_parts is None

    @property
    def is_neural_whole(self) -> bool:
        return self.has_neural and self._neural_parts is None

    def draw_reference(self) -> None:
        """Draws a part of the reference."""
        self._reference_parts = self._advance(self._reference_parts, "reference")

    def forget_network(self) -> None:
        """Forgets a network: the next one may have another layout."""
        self._lit = {}
        self.forget_neural()

    def draw_neural(self, student: Student | LiveNetwork) -> None:
        """Draws a part of the student in full size; first a coarse picture of all of it."""
        if not self.has_neural:
            self._fill(student, self.neural)
            self.has_neural = True
            self._changed.add("neural")
        elif self._neural_parts is not None:
            self._neural_parts = self._advance(self._neural_parts, "neural")
        if self._neural_parts is None and self._sharp["neural"] < 1:
            self._neural_parts = self._parts(student, self.neural)

    def forget_neural(self) -> None:
        """Forgets the student's picture."""
        self.has_neural = False
        self._neural_parts = None
        self._sharp["neural"] = 0.0
        self._changed.discard("neural")

    def draw_live(self, student: Student | LiveNetwork, step: int, seconds: float) -> list[Picture]:
        """The whole student, as large as this time allows."""
        self.forget_neural()
        size = self._live_side = self._live_size(seconds)
        is_new = size not in self._live
        if is_new:
            self._live[size] = self._canvas(size), self._canvas(size)
            self._fill(self._original, self._live[size][0], size)
            self._prepare(student, size)
        reference, neural = self._live[size]
        begun = self._clock()
        self._fill(student, neural, size)
        found = self._compared(reference, neural, step, size / self.command.size)
        self._note_cost((self._clock() - begun) / size**2, is_new)
        return found

    def _note_cost(self, seconds_a_pixel: float, is_first: bool) -> None:
        before = self._seconds_a_pixel
        if before is None:
            self._seconds_a_pixel = seconds_a_pixel
        elif not is_first:
            # the first picture compiles, and short delays must not count
            mixed = 0.7 * before + 0.3 * seconds_a_pixel
            self._seconds_a_pixel = min(mixed, seconds_a_pixel)

    def _live_size(self, seconds: float) -> int:
        if self._seconds_a_pixel is None:
            side = float(_FIRST_LIVE_SIZE)
        else:
            side = (seconds / self._seconds_a_pixel) ** 0.5
            if side > self._live_side:
                side = max(self._live_side, (_RESERVE * side**2) ** 0.5)
        most = min(side, self.command.size)
        least = min(LIVE_SIZES[0], self.command.size)
        return max((size for size in LIVE_SIZES if size <= most), default=least)

    def news(self, step: int) -> list[Picture]:
        """Pictures in full size that have changed since the last call."""
        found = []
        sharp = self._sharp
        if "reference" in self._changed:
            pixels = self.reference.pixels()
            number = self.command.number
            found.append(Picture(pixels, "reference", number, step, sharp["reference"]))
        if "neural" in self._changed:
            found += self._compared(self.reference, self.neural, step, sharp["neural"])
        self._changed = set()
        return found

    def _compared(
        self, reference: Canvas, neural: Canvas, step: int, sharp: float
    ) -> list[Picture]:
        heat, top = heat_of(reference, neural)
        number = self.command.number
        return [
            Picture(neural.pixels(), "neural", number, step, sharp),
            Picture(heat, "heat", number, step, sharp, top),
        ]

    def texture(self) -> Picture:
        """The material on the unit square, v upwards, to paint on."""
        canvas = Canvas(_TEXTURE_SIZE, 0.0)
        view = make_view("plane", _TEXTURE_SIZE)
        canvas.put(view.pixel, self._studio.shade(self.teacher, view, ViewCommand()))
        return Picture(canvas.pixels(), TEXTURE, self.command.number, 0, 1.0)

    def places(self) -> Places:
        """The uv of every pixel."""
        size = self.command.size
        uv = np.full((size * size, 2), np.nan, np.float32)
        uv[self.view.pixel] = self.seen_uv
        return Places(uv.reshape(size, size, 2), self.command.number, self.texels)

    def _canvas(self, size: int) -> Canvas:
        return Canvas(size, self.command.exposure)

    def _view_of(self, size: int) -> View:
        """The view with another number of pixels per side, cached for live pictures."""
        if size == self.command.size:
            return self.view
        if size not in self._views:
            seen = _seen(self.command, size, self._shown_mesh)
            self._views[size] = _by_texel(seen, self.texels)
        return self._views[size]

    def _mesh(self, name: str) -> Mesh:
        given = self._given.get(name)
        if given is not None:
            return given
        key = _file_key(name)
        if key not in self._meshes:
            self._meshes = {key: load_mesh(Path(name))}
        return self._meshes[key]

    def _is_current(self, command: ViewCommand) -> bool:
        """Whether the file of the mesh is unchanged."""
        if command.shape != "mesh" or command.mesh in self._given:
            return True
        return _file_key(command.mesh) in self._meshes

    def _prepare(self, student: Student | LiveNetwork, size: int) -> None:
        if not isinstance(student, DeviceMaterial):
            self._lit_view(student, size)

    def _lit_view(self, network: LiveNetwork, size: int) -> LitView:
        if size not in self._lit:
            lights = plain_lights(self.command)
            self._lit[size] = LitView(network, self._view_of(size), lights, self.command.level)
        return self._lit[size]

    def _fill(self, material: Drawn, canvas: Canvas, size: int | None = None) -> None:
        """Fills a canvas at once, from a picture of this size; a coarse one by default."""
        size = size or max(1, canvas.size // _COARSE)
        if not isinstance(material, DeviceMaterial):
            lit = self._lit_view(material, size)
            pieces = [lit.draw(material, number) for number in range(lit.parts)]
            pixel = np.concatenate([piece[0] for piece in pieces])
            found = np.concatenate([piece[1] for piece in pieces])
        else:
            view = self._view_of(size)
            pixel, found = view.pixel, self._studio.shade(material, view, self.command)
        if size == canvas.size:
            canvas.put(pixel, found)
            return
        light = np.zeros((size**2, 4), np.float32)
        light[pixel] = found
        canvas.fill_from(light.reshape(size, size, 4))

    def _parts(self, material: Drawn, canvas: Canvas) -> Iterator[float]:
        """Draws a canvas in parts; yields the share that is drawn."""
        beside = np.setdiff1d(np.arange(canvas.size**2), self.view.pixel)
        canvas.put(beside, np.zeros((len(beside), 4), np.float32))
        if not isinstance(material, DeviceMaterial):
            lit = self._lit_view(material, canvas.size)
            for number in range(lit.parts):
                canvas.put(*lit.draw(material, number))
                yield (number + 1) / lit.parts
            return
        size = _GROUP[self.teacher.device.is_software]
        order = np.arange(len(self.view.pixel))
        parts = np.array_split(order, -(-len(order) // size) or 1)
        for number, part in enumerate(parts, 1):
            group = self.view.take(part)
            canvas.put(group.pixel, self._studio.shade(material, group, self.command))
            yield number / len(parts)

    def _advance(self, parts: Iterator[float] | None, name: str) -> Iterator[float] | None:
        """Draws one part; None after the last."""
        share = next(parts, 1.0) if parts else 1.0
        self._sharp[name] = share
        self._changed.add(name)
        if self.has_neural:
            self._changed.add("neural")
        return parts if share < 1 else None


def _seen(command: ViewCommand, size: int, mesh: Mesh | None) -> View:
    camera = Camera(command.turn, command.pitch, command.zoom, command.x, command.y)
    return make_view(command.shape, size, mesh, camera)


def _file_key(name: str) -> tuple[str, int]:
    """The key of a file by its modification time. Missing files are reported by their reader."""
    try:
        return name, Path(name).stat().st_mtime_ns
    except OSError:
        return name, 0


def _by_texel(view: View, texels: int) -> View:
    """The view with every pixel at the centre of its texel, without filtering."""
    if not texels:
        return view
    return replace(view, uv=((np.floor(view.uv * texels) + 0.5) / texels).astype(np.float32))


def _shape_of(command: ViewCommand) -> ViewCommand:
    """The view without fields that need no redraw."""
    return replace(command, exposure=0.0, number=0, wants_places=False)
