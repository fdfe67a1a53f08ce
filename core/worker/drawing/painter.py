"""Draws what the panel shows: the reference, the student, and how far they are apart.

While a bake trains, the student is drawn anew as a whole, as small as it takes to be in time. When
nothing trains, its picture is drawn in full size, a few pixels at a time, as the reference is. The
student is a material on the device, or the network that trains in this process.
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

# Pixels that are drawn together when nothing trains: commands wait for no longer than that.
_GROUP = {True: 2048, False: 65_536}
_COARSE = 3
# Pixels that a texel must have, on average, to be drawn as a square.
_PIXELS_A_TEXEL = 36
_TEXTURE_SIZE = 256
TEXTURE = "texture"
# Sides of live pictures.
LIVE_SIZES = (48, 64, 80, 96, 128, 160, 192, 256, 384, 512, 768, 1024)
_FIRST_LIVE_SIZE = 64
# A larger picture must promise to be this much quicker than it has to be, or sizes would flicker.
_RESERVE = 0.75


class Painter:
    """Pictures of one teacher, and of the student that learns from it."""

    wanted: ViewCommand

    def __init__(
        self,
        teacher: Teacher,
        wanted: ViewCommand,
        resolution: int,
        clock: Callable[[], float] = time.perf_counter,
        meshes: Mapping[str, Mesh] | None = None,
    ) -> None:
        self.teacher = teacher
        self._clock = clock
        self._given = {} if meshes is None else meshes
        self._studio = Studio(teacher, resolution)
        # by file and when it was written
        self._meshes: dict[tuple[str, int], Mesh] = {}
        self._seconds_a_pixel: float | None = None
        self._live_side = 0
        self._lit: dict[int, LitView] = {}
        self._show(wanted)

    def look(self, wanted: ViewCommand, is_new: bool = False) -> None:
        """Takes another view: everything is drawn again, but for a mere change of exposure, unless
        what is looked at is another."""
        is_same = _shape_of(self.wanted) == _shape_of(wanted) and self._is_current(wanted)
        if is_same and not is_new:
            pairs = self._live.values()
            for canvas in (self.reference, self.neural, *(each for pair in pairs for each in pair)):
                canvas.expose(wanted.exposure)
            self.wanted = wanted
            self._changed = {"reference", "neural"} if self.has_neural else {"reference"}
        else:
            self._show(wanted)

    def _show(self, wanted: ViewCommand) -> None:
        # a mesh that cannot be read leaves everything as it was
        mesh = self._mesh(wanted.mesh) if wanted.shape == "mesh" else None
        self._frame(wanted, mesh)
        # one that is shown stays, whatever becomes of its file
        self.wanted, self._shown_mesh = wanted, mesh
        self.reference = self._canvas(wanted.size)
        self.neural = self._canvas(wanted.size)
        self.has_neural = False
        self._live: dict[int, tuple[Canvas, Canvas]] = {}
        self._lit = {}
        self._views: dict[int, View] = {}
        self._changed = {"reference"}
        self._fill(self.teacher, self.reference)
        self._reference_parts: Iterator[float] | None = self._parts(self.teacher, self.reference)
        self._neural_parts: Iterator[float] | None = None
        self._sharp = {"reference": 0.0, "neural": 0.0}

    def _frame(self, wanted: ViewCommand, mesh: Mesh | None) -> None:
        """Finds what each pixel shows: a place, or the whole texel around it."""
        seen = _seen(wanted, wanted.size, mesh)
        self.seen_uv = seen.uv
        self.texels = self._count_texels(wanted, seen)
        self.view = _by_texel(seen, self.texels)

    def _count_texels(self, wanted: ViewCommand, seen: View) -> int:
        """How many there are a side, if each is to be drawn as a square; otherwise 0."""
        texels = max(1, self._studio.resolution >> wanted.level)
        if wanted.zoom < PIXELATED_FROM or not len(seen.uv):
            return 0
        shown = np.unique(np.floor(seen.uv * texels), axis=0)
        return texels if len(seen.uv) >= _PIXELS_A_TEXEL * len(shown) else 0

    def rescale(self, resolution: int) -> None:
        """Shows the reference as texels of another size see it."""
        if resolution != self._studio.resolution:
            self._studio.resolution = resolution
            self._frame(self.wanted, self._shown_mesh)
            self._live = {}
            self._lit = {}
            self._views = {}
            self._reference_parts = self._parts(self.teacher, self.reference)

    @property
    def is_reference_whole(self) -> bool:
        return self._reference_parts is None

    @property
    def is_neural_whole(self) -> bool:
        return self.has_neural and self._neural_parts is None

    def draw_reference(self) -> None:
        """A part of the reference."""
        self._reference_parts = self._advance(self._reference_parts, "reference")

    def forget_network(self) -> None:
        """The next one may be of another form."""
        self._lit = {}
        self.forget_neural()

    def draw_neural(self, student: Student | LiveNetwork) -> None:
        """A part of the student in full size; first a coarse guess of all of it."""
        if not self.has_neural:
            self._fill(student, self.neural)
            self.has_neural = True
            self._changed.add("neural")
        elif self._neural_parts is not None:
            self._neural_parts = self._advance(self._neural_parts, "neural")
        if self._neural_parts is None and self._sharp["neural"] < 1:
            self._neural_parts = self._parts(student, self.neural)

    def forget_neural(self) -> None:
        """There is no student any more, or it has changed."""
        self.has_neural = False
        self._neural_parts = None
        self._sharp["neural"] = 0.0
        self._changed.discard("neural")

    def draw_live(self, student: Student | LiveNetwork, step: int, seconds: float) -> list[Picture]:
        """The student as it is, whole, and as large as it can be in this time."""
        self.forget_neural()
        size = self._live_side = self._live_size(seconds)
        is_new = size not in self._live
        if is_new:
            self._live[size] = self._canvas(size), self._canvas(size)
            self._fill(self.teacher, self._live[size][0], size)
            self._prepare(student, size)
        reference, neural = self._live[size]
        begun = self._clock()
        self._fill(student, neural, size)
        found = self._compared(reference, neural, step, size / self.wanted.size)
        self._note_cost((self._clock() - begun) / size**2, is_new)
        return found

    def _note_cost(self, seconds_a_pixel: float, is_first: bool) -> None:
        before = self._seconds_a_pixel
        if before is None:
            self._seconds_a_pixel = seconds_a_pixel
        elif not is_first:
            # what is compiled is compiled once; a machine that is busy for a moment must not decide
            mixed = 0.7 * before + 0.3 * seconds_a_pixel
            self._seconds_a_pixel = min(mixed, seconds_a_pixel)

    def _live_size(self, seconds: float) -> int:
        if self._seconds_a_pixel is None:
            wanted = float(_FIRST_LIVE_SIZE)
        else:
            wanted = (seconds / self._seconds_a_pixel) ** 0.5
            if wanted > self._live_side:
                wanted = max(self._live_side, (_RESERVE * wanted**2) ** 0.5)
        most = min(wanted, self.wanted.size)
        least = min(LIVE_SIZES[0], self.wanted.size)
        return max((size for size in LIVE_SIZES if size <= most), default=least)

    def news(self, step: int) -> list[Picture]:
        """The pictures in full size that have changed since they were last asked for."""
        found = []
        sharp = self._sharp
        if "reference" in self._changed:
            pixels = self.reference.pixels()
            number = self.wanted.number
            found.append(Picture(pixels, "reference", number, step, sharp["reference"]))
        if "neural" in self._changed:
            found += self._compared(self.reference, self.neural, step, sharp["neural"])
        self._changed = set()
        return found

    def _compared(
        self, reference: Canvas, neural: Canvas, step: int, sharp: float
    ) -> list[Picture]:
        heat, top = heat_of(reference, neural)
        number = self.wanted.number
        return [
            Picture(neural.pixels(), "neural", number, step, sharp),
            Picture(heat, "heat", number, step, sharp, top),
        ]

    def texture(self) -> Picture:
        """The material on the unit square, to paint on; v grows upwards."""
        canvas = Canvas(_TEXTURE_SIZE, 0.0)
        view = make_view("plane", _TEXTURE_SIZE)
        canvas.put(view.pixel, self._studio.shade(self.teacher, view, ViewCommand()))
        return Picture(canvas.pixels(), TEXTURE, self.wanted.number, 0, 1.0)

    def places(self) -> Places:
        """The uv of every pixel."""
        size = self.wanted.size
        uv = np.full((size * size, 2), np.nan, np.float32)
        uv[self.view.pixel] = self.seen_uv
        return Places(uv.reshape(size, size, 2), self.wanted.number, self.texels)

    def _canvas(self, size: int) -> Canvas:
        return Canvas(size, self.wanted.exposure)

    def _view_of(self, size: int) -> View:
        """What is looked at, with so many pixels a side; kept, since live pictures ask often."""
        if size == self.wanted.size:
            return self.view
        if size not in self._views:
            seen = _seen(self.wanted, size, self._shown_mesh)
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

    def _is_current(self, wanted: ViewCommand) -> bool:
        """No file of a mesh was written since it was read."""
        if wanted.shape != "mesh" or wanted.mesh in self._given:
            return True
        return _file_key(wanted.mesh) in self._meshes

    def _prepare(self, student: Student | LiveNetwork, size: int) -> None:
        if not isinstance(student, DeviceMaterial):
            self._lit_view(student, size)

    def _lit_view(self, network: LiveNetwork, size: int) -> LitView:
        if size not in self._lit:
            lights = plain_lights(self.wanted)
            self._lit[size] = LitView(network, self._view_of(size), lights, self.wanted.level)
        return self._lit[size]

    def _fill(self, material: Drawn, canvas: Canvas, size: int | None = None) -> None:
        """All of a canvas at once, from a picture of this size: by default from a coarse one."""
        size = size or max(1, canvas.size // _COARSE)
        if not isinstance(material, DeviceMaterial):
            lit = self._lit_view(material, size)
            pieces = [lit.draw(material, number) for number in range(lit.parts)]
            pixel = np.concatenate([piece[0] for piece in pieces])
            found = np.concatenate([piece[1] for piece in pieces])
        else:
            view = self._view_of(size)
            pixel, found = view.pixel, self._studio.shade(material, view, self.wanted)
        if size == canvas.size:
            canvas.put(pixel, found)
            return
        light = np.zeros((size**2, 4), np.float32)
        light[pixel] = found
        canvas.fill_from(light.reshape(size, size, 4))

    def _parts(self, material: Drawn, canvas: Canvas) -> Iterator[float]:
        """Draws a canvas part by part; tells which share is drawn."""
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
            canvas.put(group.pixel, self._studio.shade(material, group, self.wanted))
            yield number / len(parts)

    def _advance(self, parts: Iterator[float] | None, name: str) -> Iterator[float] | None:
        """Draws one part; None when that was the last."""
        share = next(parts, 1.0) if parts else 1.0
        self._sharp[name] = share
        self._changed.add(name)
        if self.has_neural:
            self._changed.add("neural")
        return parts if share < 1 else None


def _seen(wanted: ViewCommand, size: int, mesh: Mesh | None) -> View:
    camera = Camera(wanted.turn, wanted.pitch, wanted.zoom, wanted.x, wanted.y)
    return make_view(wanted.shape, size, mesh, camera)


def _file_key(name: str) -> tuple[str, int]:
    """A file as it was written last; whoever reads it says what is wrong with one that is not
    there."""
    try:
        return name, Path(name).stat().st_mtime_ns
    except OSError:
        return name, 0


def _by_texel(view: View, texels: int) -> View:
    """Every pixel shows the middle of its texel, where nothing is mixed with a neighbour."""
    if not texels:
        return view
    return replace(view, uv=((np.floor(view.uv * texels) + 0.5) / texels).astype(np.float32))


def _shape_of(wanted: ViewCommand) -> ViewCommand:
    """A view without what needs no drawing to change."""
    return replace(wanted, exposure=0.0, number=0, wants_places=False)
