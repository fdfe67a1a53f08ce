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

from verdigris.core.base.process.processor import single_threaded_blas
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.network.forward_pass import ForwardPass, Places
from verdigris.core.pictures.illumination import few_directions
from verdigris.core.pictures.quick_light import joined
from verdigris.core.pictures.renderer import HEAT, Renderer, Shown
from verdigris.core.pictures.view import ALL, NEURAL
from verdigris.core.sampling.draw_samples import TRAINING_SAMPLE
from verdigris.core.training.numpy.prepared_batch import BatchPreparation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verdigris.core.base.array_types import Floats, Ints
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.network.student import Student
    from verdigris.core.pictures.canvas import Canvas, Raster
    from verdigris.core.pictures.gbuffer import GBuffer
    from verdigris.core.pictures.quick_light import Directions, Lit
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
# Factor of the cost of the first picture of a size.
_NEW_SIZE = 1.8
# Points of one evaluation: their data fits into the cache.
_POINTS = 512


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
    lit: LitPixels | None = None
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
        self._spent = 0.0
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
        self._size, self._spent = size, 0.0
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
            # what is prepared costs as much again, and a reserve keeps sizes from flickering
            extra = 1.0 if size in self._sized else _NEW_SIZE
            return size <= most and cost * extra * size**2 <= seconds

        return max((size for size in LIVE_SIZES if fits(size)), default=least)

    def _note_cost(self) -> None:
        sized = self._sized[self._size]
        share = sized.columns[1] - sized.columns[0] if sized.lit is not None else 1.0
        cost, before = self._spent / self._size**2 / max(share, 0.1), self._seconds_a_pixel
        if before is None:
            self._seconds_a_pixel = cost
        elif not self._is_new:
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
            gbuffer = renderer.gbuffer_of(sized.raster, sized.raster.whole())
            left, right = (share * sized.raster.width for share in columns)
            column = gbuffer.pixel % sized.raster.width
            seen = gbuffer.take(np.flatnonzero((column >= left) & (column <= right)))
            sized.lit = _lit_pixels(student, seen, renderer.view, self._materials)
            sized.columns = columns
            self._is_new = True
            yield
        for number in range(sized.lit.parts):
            sized.neural.put(*sized.lit.draw(student, number))
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


def _lit_pixels(
    network: LiveNetwork, gbuffer: GBuffer, view: View, materials: ShownMaterials
) -> LitPixels:
    """The pixels of a G-buffer, prepared to draw a network in place."""
    live = materials.live_of(network, view)
    return LitPixels(network, gbuffer, few_directions(view, gbuffer), int(view.level), live)


def _light_in_place(
    network: LiveNetwork, gbuffer: GBuffer, view: View, materials: ShownMaterials
) -> Lit:
    """What the pixels of a G-buffer show, from a network in training."""
    pixels = _lit_pixels(network, gbuffer, view, materials)
    return joined([pixels.draw(network, number)[1] for number in range(pixels.parts)])


class PreparedPlaces:
    """Places and directions that a network evaluates repeatedly."""

    def __init__(
        self,
        network: LiveNetwork,
        uv: Floats,
        wi: Floats,
        wo: Floats,
        level: int = 0,
        live: Floats | None = None,
    ) -> None:
        """Prepares them for networks with this layout. `uv` is (N, 2), `wi` (N, directions, 3),
        `wo` (N, 3), and `live` (N, live inputs)."""
        spec, layout = network.decoder.spec, network.layout
        self.count, self.directions = len(wi), wi.shape[1]
        self.parts: int = max(1, -(-self.count // _POINTS))
        self._points = -(-self.count // self.parts)
        self._kernel = ForwardPass(spec, max(1, self._points) * self.directions, self.directions)
        self._prepared: list[Places] = []
        batch = np.zeros((self._points, self.directions), TRAINING_SAMPLE)
        batch["level"] = min(level, layout.levels - 1)
        for number in range(self.parts if self.count else 0):
            part = self._slice(number)
            size = part.stop - part.start
            batch["uv"][:size] = uv[part, None]
            batch["wi"][:size] = wi[part]
            batch["wo"][:size] = wo[part, None]
            if live is not None:
                batch["live"][:size, :, : live.shape[1]] = live[part, None]
            preparation = BatchPreparation(layout, batch.size, self.directions)
            preparation.load(0, batch.reshape(-1))
            preparation.prepare()
            self._prepared.append(preparation.batch().places)

    def part_of(self, place: int) -> int:
        return place // self._points

    def _slice(self, number: int) -> slice:
        start = number * self._points
        return slice(start, min(self.count, start + self._points))

    def evaluate(self, network: LiveNetwork, number: int) -> tuple[slice, Floats]:
        """The places of a part and their responses, (n, directions, 3)."""
        part = self._slice(number)
        if not self._prepared:
            return part, np.zeros((0, self.directions, 3), np.float32)
        self._kernel.round_latents = network.round_latents
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            found = self._kernel.evaluate(network.decoder, network.latents, self._prepared[number])
        by_place = found.reshape(3, self.directions, self._points).transpose(2, 1, 0)
        return part, by_place[: part.stop - part.start]


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
        self.pixel, self._directions = gbuffer.pixel, directions
        wi, wo = directions.wi, directions.wo
        values = np.tile(np.array(live, np.float32), (len(wi), 1))
        self._places = PreparedPlaces(network, gbuffer.uv, wi, wo, level, values)

    @property
    def parts(self) -> int:
        return self._places.parts

    def draw(self, network: LiveNetwork, number: int) -> tuple[Ints, Lit]:
        """The pixels of a part, and what they show."""
        part, response = self._places.evaluate(network, number)
        return self.pixel[part], self._directions.part(part).lit(response)
