"""Pictures of a student in training: each of a state of its own, in a size that fits the time.

Few sharp pictures show more than many coarse ones. A picture is drawn in parts between runs of
steps, from a copy of the network, and shown when it is whole.

On a CPU, the network is evaluated where it trains. This takes a sixth of the time of the device's
kernel: nothing is uploaded, texels out of view are not touched, and geometry and lighting are
prepared once per view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.process.processor import on_all_cores, usable_processors
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.network.prepared_places import PreparedPlaces, highlights_of
from verdigris.core.pictures.light_of_view import few_directions
from verdigris.core.pictures.quick_light import Lit, joined
from verdigris.core.pictures.renderer import HEAT, Renderer, Shown
from verdigris.core.pictures.view import ALL, NEURAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verdigris.core.base.array_types import Floats, Ints
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.network.student import Student
    from verdigris.core.pictures.canvas import Canvas, Raster
    from verdigris.core.pictures.gbuffer import GBuffer
    from verdigris.core.pictures.quick_light import Directions
    from verdigris.core.pictures.tone import Tone
    from verdigris.core.pictures.view import View
    from verdigris.core.training.numpy.numpy_trainer import LiveNetwork
    from verdigris.core.worker.drawing.shown import ShownMaterials

# Shorter side of the picture that comes at once.
COARSE = 128
# Shorter sides of live pictures. Only a smaller viewport has a picture smaller than the first.
LIVE_SIZES = (128, 160, 192, 256, 320, 384, 512, 640, 768, 1024)
# A network that is drawn in place has no larger pictures: what is prepared once for them would take
# hundreds of megabytes.
_LARGEST_IN_PLACE = 384
# Tiles of a reference: on a CPU and on a GPU.
_TILES = 48, 1024
# Share of the time that a picture with another size may fill, which keeps sizes from flickering.
_OF_ANOTHER_SIZE = 0.9
# Pixels that one core draws before training may go on: some milliseconds.
_PIXELS = 2048


def new_renderer(materials: ShownMaterials, view: View, mesh: Mesh | None) -> Renderer:
    """A renderer that shows the teacher, and also draws networks in training."""
    return Renderer(
        materials.illumination,
        materials.teacher,
        view,
        mesh,
        COARSE,
        materials.resolution,
        partial(_light_in_place, materials=materials),
    )


@dataclass
class _Sized:
    """What is kept for a size."""

    raster: Raster
    neural: Canvas
    is_drawn: bool = False
    """Whether a picture in this size is drawn or begun."""
    lit: list[_Part] | None = None
    columns: tuple[float, float] = (0.0, 0.0)
    """The part of the width that `lit` covers."""
    reference: Canvas | None = None


class LiveDrawing:
    """The live picture of a view."""

    def __init__(
        self, renderer: Renderer, materials: ShownMaterials, clock: Callable[[], float]
    ) -> None:
        """Draws what is in sight in the view of the renderer."""
        self._renderer, self._materials, self._clock = renderer, materials, clock
        self._seconds_a_pixel: float | None = None
        self.forget()

    def forget(self) -> None:
        """Forgets all pictures, for another view or a network with another layout."""
        self._sized: dict[int, _Sized] = {}
        self._parts: Iterator[None] | None = None
        self._size = 0
        self._spent = self._preparing = 0.0
        self.drawn = 0
        """The number of pictures of this view."""

    def expose(self, tone: Tone) -> None:
        for sized in self._sized.values():
            for canvas in (sized.neural, sized.reference):
                if canvas is not None:
                    canvas.expose(tone)

    @property
    def is_busy(self) -> bool:
        """Whether a picture is begun and not whole yet."""
        return self._parts is not None

    def begin(self, student: Student | LiveNetwork, seconds: float) -> None:
        """Begins a picture with the largest size that takes at most this long."""
        self._begin(student, self._fitting(student, seconds))

    def _begin(self, student: Student | LiveNetwork, size: int) -> None:
        is_copied = not isinstance(student, DeviceMaterial)
        drawn = student.snapshot() if is_copied else student  # type: ignore[union-attr]
        self._size, self._spent, self._preparing = size, 0.0, 0.0
        self._parts = self._draw(drawn, size)

    def advance(self) -> bool:
        """Draws a part. Returns whether the picture is whole."""
        if self._parts is None:
            return False
        begun = self._clock()
        is_whole = next(self._parts, True) is True
        self._spent += self._clock() - begun
        if is_whole:
            self._parts = None
            self.drawn += 1
            self._note_cost()
        return is_whole

    def draw_at_once(self, student: Student | LiveNetwork) -> list[Shown]:
        """A whole picture with the smallest size."""
        self._begin(student, min(LIVE_SIZES[0], self._renderer.view.size))
        while not self.advance():
            pass
        return self.pictures()

    def pictures(self) -> list[Shown]:
        """The picture that is whole now, with its difference to the reference."""
        sized, view = self._sized[self._size], self._renderer.view
        sharp = min(1.0, self._size / view.size)
        shown = [Shown(NEURAL, sized.neural.pixels(), sharp, 0.0)]
        if sized.reference is not None and view.shows == ALL:
            heat = self._renderer.heat(sized.reference, sized.neural)
            shown.append(Shown(HEAT, heat, sharp, 0.0))
        return shown

    def _fitting(self, student: Student | LiveNetwork, seconds: float) -> int:
        least = min(LIVE_SIZES[0], self._renderer.view.size)
        if self._seconds_a_pixel is None:
            return least
        left, right = self._renderer.neural.columns
        cost = self._seconds_a_pixel * max(right - left, 0.1)
        most = self._renderer.view.size
        if not isinstance(student, DeviceMaterial):
            most = min(most, _LARGEST_IN_PLACE)

        def fits(size: int) -> bool:
            share = 1.0 if size == self._size else _OF_ANOTHER_SIZE
            return size <= most and cost * size**2 <= share * seconds

        return max((size for size in LIVE_SIZES if fits(size)), default=least)

    def _note_cost(self) -> None:
        sized = self._sized[self._size]
        share = sized.columns[1] - sized.columns[0] if sized.lit is not None else 1.0
        # what is prepared once for a size says nothing about the next picture
        spent = self._spent - self._preparing
        cost, before = spent / self._size**2 / max(share, 0.1), self._seconds_a_pixel
        if before is None:
            self._seconds_a_pixel = cost
        elif not self._is_new or self._preparing:
            # the first picture compiles, and short delays must not count
            self._seconds_a_pixel = min(0.7 * before + 0.3 * cost, cost)

    def _draw(self, student: Student | LiveNetwork, size: int) -> Iterator[None]:
        renderer = self._renderer
        sized = self._of_size(size)
        self._is_new = not sized.is_drawn
        others = [other for other in self._sized.values() if other.is_drawn]
        if self._is_new and others:
            # what is not in sight has some content
            sized.neural.fill_from(others[-1].neural)
        sized.is_drawn = True
        if renderer.view.shows == ALL or renderer.is_coarser_than(sized.raster):
            yield from self._draw_reference(sized)
        if isinstance(student, DeviceMaterial):
            gbuffer = renderer.gbuffer_of(sized.raster, sized.raster.whole())
            sized.neural.put(gbuffer.pixel, renderer.light(student, gbuffer))
            return
        # all of the first picture, so that nothing is empty, and then what is in sight
        columns = renderer.neural.columns if others else (0.0, 1.0)
        if sized.lit is None or sized.columns != columns:
            begun = self._clock()
            gbuffer = renderer.gbuffer_of(sized.raster, sized.raster.whole())
            left, right = (share * sized.raster.width for share in columns)
            column = gbuffer.pixel % sized.raster.width
            seen = gbuffer.take(np.flatnonzero((column >= left) & (column <= right)))
            sized.lit = _parts_of(seen, renderer.view, self._materials)
            sized.columns = columns
            self._is_new = True
            self._preparing += self._clock() - begun
            yield
        at_once = usable_processors()
        for start in range(0, len(sized.lit), at_once):
            parts = sized.lit[start : start + at_once]
            if self._is_new:
                begun = self._clock()
                on_all_cores(lambda part: part.prepare(student), parts)
                self._preparing += self._clock() - begun
                yield
            for drawn in on_all_cores(lambda part: part.draw(student), parts):
                sized.neural.put(*drawn)
            yield

    def draw_reference(self) -> Iterator[None]:
        """Draws the reference in the largest size of pictures in place."""
        yield from self._draw_reference(
            self._of_size(min(_LARGEST_IN_PLACE, self._renderer.view.size))
        )

    def _of_size(self, size: int) -> _Sized:
        if size not in self._sized:
            raster = self._renderer.raster_of(size)
            self._sized[size] = _Sized(raster, self._renderer.new_canvas(raster))
        return self._sized[size]

    def _draw_reference(self, sized: _Sized) -> Iterator[None]:
        """The reference in the same size, to compare pixel by pixel."""
        renderer, raster, reference = self._renderer, sized.raster, self._renderer.material
        first = renderer.reference.coarse
        if first is not None and (first.raster.width, first.raster.height) == (
            raster.width,
            raster.height,
        ):
            sized.reference = first
        if sized.reference is not None:
            return
        is_on_gpu = isinstance(reference, DeviceMaterial) and not reference.device.is_software
        canvas = renderer.new_canvas(raster)
        for tile in raster.tiles(_TILES[is_on_gpu]):
            gbuffer = renderer.gbuffer_of(raster, tile)
            canvas.put(gbuffer.pixel, renderer.light(reference, gbuffer, places=1))
            yield
        sized.reference = canvas
        renderer.begin_with(canvas)


class _Part:
    """Some pixels, which are prepared when they are drawn for the first time."""

    def __init__(self, gbuffer: GBuffer, view: View, materials: ShownMaterials) -> None:
        self._gbuffer, self._view, self._materials = gbuffer, view, materials
        self._lit: LitPixels | None = None

    def prepare(self, network: LiveNetwork) -> LitPixels:
        """Finds places and directions, unless they are known."""
        if self._lit is None:
            view, gbuffer = self._view, self._gbuffer
            live, level = self._materials.live_of(network, view), int(view.level)
            of_pixels = np.tile(np.array(live, np.float32), (len(gbuffer.uv), 1))
            level = min(level, network.layout.levels - 1)
            found = highlights_of(network, gbuffer.uv, of_pixels, level) if view.lit_by else None
            directions = few_directions(view, gbuffer, found, index=network.index_below)
            self._lit = LitPixels(network, gbuffer, directions, level, live)
        return self._lit

    def draw(self, network: LiveNetwork) -> tuple[Ints, Lit]:
        """The pixels, and what they show."""
        return self.prepare(network).draw(network)


def _parts_of(gbuffer: GBuffer, view: View, materials: ShownMaterials) -> list[_Part]:
    pixels = np.arange(len(gbuffer.pixel))
    return [
        _Part(gbuffer.take(pixels[start : start + _PIXELS]), view, materials)
        for start in range(0, len(pixels), _PIXELS)
    ]


def _light_in_place(
    network: LiveNetwork, gbuffer: GBuffer, view: View, materials: ShownMaterials
) -> Lit:
    """What the pixels of a G-buffer show, from a network in training."""
    parts = _parts_of(gbuffer, view, materials) or [_Part(gbuffer, view, materials)]
    return joined([lit for _, lit in on_all_cores(lambda part: part.draw(network), parts)])


class LitPixels:
    """The pixels of a G-buffer in the light of quick pictures."""

    def __init__(
        self,
        network: LiveNetwork,
        gbuffer: GBuffer,
        directions: Directions,
        level: int,
        live: Sequence[float] = (),
    ) -> None:
        self.pixel = gbuffer.pixel
        values = np.tile(np.array(live, np.float32), (len(self.pixel), 1))
        self._places = PreparedPlaces(
            network, gbuffer.uv, directions.wi, directions.wo, level, values, directions.above
        )
        # in the order in which networks are evaluated
        self._gain = np.ascontiguousarray(directions.gain.transpose(2, 1, 0))
        self._guide: Floats | None = None
        if directions.guide is not None:
            self._guide = np.ascontiguousarray(directions.guide.transpose(2, 1, 0))

    def draw(self, network: LiveNetwork) -> tuple[Ints, Lit]:
        """The pixels, and what they show."""
        count = len(self.pixel)
        light = np.ones((count, 4), np.float32)
        guide = np.empty((count, 3), np.float32)
        for number in range(self._places.parts):
            part = self._places.slice_of(number)
            response = self._places.evaluate(network, number)
            light[part, :3] = _sum(response, self._gain[..., part])
            if self._guide is not None:
                guide[part] = _sum(response, self._guide[..., part])
        return self.pixel, Lit(light, None if self._guide is None else guide)


def _sum(response: Floats, gain: Floats) -> Floats:
    """The light (n, 3) of the first directions, from (3, directions, n)."""
    return np.asarray((response[:, : gain.shape[1]] * gain).sum(1).T)
