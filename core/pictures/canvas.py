"""The canvas of a picture: its raster and tiles, the light of each pixel, and its bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.process.processor import on_all_cores
from verdigris.core.pictures.backdrop import ground_of, over
from verdigris.core.pictures.compare.heat import NOT_COMPARED
from verdigris.core.pictures.compare.metrics import display
from verdigris.core.pictures.gbuffer import Background, Camera, PlacedMesh, make_gbuffer
from verdigris.core.pictures.picture_files import resized
from verdigris.core.pictures.render import ALL, over_backdrop
from verdigris.core.pictures.smoothing import APRON, smoothed, window_sums, without_grain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from verdigris.core.base.array_types import Bytes, Floats, Ints
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.pictures.gbuffer import GBuffer
    from verdigris.core.pictures.quick_light import Lit
    from verdigris.core.pictures.tone import Tone
    from verdigris.core.pictures.view import View


_BACKDROP_SIDE = 64
_WHOLE = 65_535
# Rows of a band: its data fits into the cache.
_BAND = 48
# With more of them, grain is removed around all of them at once.
_MOST_AREAS = 16

_Slices = tuple[slice, slice]
_Numbers = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Tile:
    """A square of the picture, by its upper left corner. It may reach beyond the picture."""

    left: int
    top: int
    side: int

    def pixels(self, width: int, height: int) -> Ints:
        """Indices of its pixels that are in the picture."""
        columns = np.arange(max(0, self.left), min(width, self.left + self.side))
        rows = np.arange(max(0, self.top), min(height, self.top + self.side))
        return np.asarray((rows[:, None] * width + columns).reshape(-1))


class Placed(Protocol):
    """What a raster shows, placed in front of a camera once for all pictures of a view."""

    @property
    def camera(self) -> Camera: ...

    def gbuffer(self, size: int, camera: Camera) -> GBuffer:
        """The part that a camera with the same turn and pitch sees."""

    def background(self, camera: Camera) -> Background:
        """What the camera sees beside it."""


class PlacedShape:
    """The shape of a view."""

    def __init__(self, view: View, mesh: Mesh | None) -> None:
        self.camera = view.camera
        self._kind, self._mesh = view.shape, mesh

    @cached_property
    def _placed(self) -> PlacedMesh | None:
        return PlacedMesh(self._mesh, self.camera) if self._mesh is not None else None

    def gbuffer(self, size: int, camera: Camera) -> GBuffer:
        if self._placed is not None:
            return self._placed.gbuffer(size, camera)
        return make_gbuffer(self._kind, size, None, camera)

    def background(self, camera: Camera) -> Background:
        return Background(camera, np.eye(3) if self._mesh is None else camera.placing)


class PlacedGround:
    """The ground below the mesh of a view."""

    def __init__(self, view: View, mesh: Mesh) -> None:
        self.camera, self._kind, self._mesh = view.camera, view.shape, mesh

    def gbuffer(self, size: int, camera: Camera) -> GBuffer:
        return ground_of(self._kind, self._mesh, size, camera)

    def background(self, camera: Camera) -> Background:
        return Background(camera, np.eye(3) if self._kind == "sphere" else camera.placing)


@dataclass(frozen=True)
class Raster:
    """The pixels of a picture. The shape fits into its shorter side."""

    shape: Placed
    width: int
    height: int

    @classmethod
    def of(cls, shape: Placed, short: int, aspect: float) -> Raster:
        """A raster with `short` pixels on its shorter side; `aspect` is the width by the height."""
        long = max(1, round(short * max(aspect, 1 / aspect)))
        return cls(shape, *((long, short) if aspect >= 1 else (short, long)))

    @property
    def count(self) -> int:
        return self.width * self.height

    @property
    def short(self) -> int:
        return min(self.width, self.height)

    def whole(self) -> Tile:
        side = max(self.width, self.height)
        return Tile((self.width - side) // 2, (self.height - side) // 2, side)

    def tiles(self, side: int) -> list[Tile]:
        """Tiles that cover the picture, those in the middle first."""
        tiles = [
            Tile(left, top, side)
            for top in range(0, self.height, side)
            for left in range(0, self.width, side)
        ]

        def away(tile: Tile) -> float:
            half = side / 2
            x, y = tile.left + half - self.width / 2, tile.top + half - self.height / 2
            return x * x + y * y

        return sorted(tiles, key=away)

    def gbuffer(self, tile: Tile, shift: tuple[float, float] = (0.0, 0.0)) -> GBuffer:
        """The pixels of a tile, by their index in the picture. `shift` moves the places at which
        they are seen, in pixels to the right and downwards."""
        camera, half = self.shape.camera, self.short / 2
        across = tile.left + tile.side / 2 + shift[0] - self.width / 2
        down = tile.top + tile.side / 2 + shift[1] - self.height / 2
        seen = self.shape.gbuffer(
            tile.side,
            replace(
                camera,
                zoom=camera.zoom * self.short / tile.side,
                x=camera.x + across / half / camera.zoom,
                y=camera.y - down / half / camera.zoom,
            ),
        )
        row, column = np.divmod(seen.pixel, tile.side)
        row, column = row + tile.top, column + tile.left
        inside = (row >= 0) & (row < self.height) & (column >= 0) & (column < self.width)
        seen = replace(seen, pixel=row * self.width + column, size=self.width)
        return seen if inside.all() else seen.take(np.flatnonzero(inside))

    def rays(self) -> tuple[NDArray[np.float64], tuple[int, int]]:
        """Directions through a coarse grid over the picture, for what is behind the shape, and the
        number of the grid's rows and columns."""
        coarse = Raster.of(
            self.shape, _BACKDROP_SIDE, self.width / self.height if self.height else 1.0
        )
        tile = coarse.whole()
        camera = self.shape.camera
        zoom = camera.zoom * coarse.short / tile.side
        seen = self.shape.background(replace(camera, zoom=zoom)).rays(tile.side)
        seen = seen.reshape(tile.side, tile.side, 3)
        part = seen[-tile.top :, -tile.left :][: coarse.height, : coarse.width]
        return part.reshape(-1, 3), (coarse.height, coarse.width)


class Canvas:
    """Light by pixel, and what the screen shows of it."""

    def __init__(self, raster: Raster, tone: Tone, behind: Floats | None = None) -> None:
        """`behind` is the light of a backdrop, (N, 3); grey by default."""
        self.raster, self._tone = raster, tone
        # the sums of two halves of the passes, and the mean of all without grain
        self._drawn = np.zeros((2, raster.count, 4), np.float32)
        self._light = np.zeros((raster.count, 4), np.float32)
        self._passes = np.zeros(raster.count, np.uint16)
        self._guide: Floats | None = None
        # areas with grain: first and last rows, first and last columns
        self._grainy: list[tuple[int, int, int, int]] = []
        self._behind = behind
        self._ground: Floats | None = None
        self._grey: Floats | None = None
        if behind is None:
            empty = np.zeros((raster.height, 1, 4), np.float32)
            self._grey = np.repeat(over_backdrop(empty), raster.width, 1).reshape(-1, 3)
        self._shown = np.zeros((raster.count, 3), np.uint8)
        self._show(ALL)

    def put(self, pixels: Ints, lit: Lit) -> None:
        """Replaces what was drawn."""
        self._drawn[0, pixels], self._drawn[1, pixels], self._passes[pixels] = lit.light, 0, 1
        self._update(pixels, pixels, lit.guide)

    def draw(self, area: Ints, pixels: Ints, lit: Lit, is_first: bool = True) -> None:
        """Draws a pass of an area. Its pixels without light become empty."""
        whole = np.zeros((self.raster.count, 4), np.float32) if len(area) > 1 << 18 else None
        if whole is None:
            # pixels of small areas are found by their order
            values = np.zeros((len(area), 4), np.float32)
            values[np.searchsorted(area, pixels)] = lit.light
        else:
            whole[pixels] = lit.light
            values = whole[area]
        if is_first:
            self._drawn[:, area], self._passes[area] = 0, 0
        half = _half_of(self._passes[area])
        self._drawn[half, area] += values
        self._passes[area] += 1
        self._update(area, pixels, lit.guide)

    def fill_from(self, other: Canvas, pixels: Ints | slice = ALL) -> None:
        """Fills the canvas, or these pixels, from the same picture, perhaps in another size."""
        raster, before = self.raster, other.raster
        light = other.light
        if (before.height, before.width) != (raster.height, raster.width):
            picture = light.reshape(before.height, before.width, 4)
            light = resized(picture, raster.height, raster.width).reshape(-1, 4)
        elif other._guide is not None:
            self._update(np.arange(0), np.arange(raster.count)[pixels], other._guide[pixels])
        self._light[pixels] = self._drawn[0, pixels] = light[pixels]
        self._drawn[1, pixels], self._passes[pixels] = 0, 1
        self._show(pixels)

    def lay_ground(self, ground: Floats) -> None:
        """Shows a ground, (height, width, 4), behind the shape and before the backdrop."""
        self._ground = resized(ground, self.raster.height, self.raster.width).reshape(-1, 4)
        self._show(ALL)

    def expose(self, tone: Tone) -> None:
        if tone != self._tone:
            self._tone = tone
            self._show(ALL)

    def _update(self, area: Ints, pixels: Ints, guide: Floats | None) -> None:
        """Updates the light of an area after a pass; later, and around it, if it has grain."""
        if guide is not None:
            if self._guide is None:
                self._guide = np.full((self.raster.count, 3), -1, np.float32)
            self._guide[pixels] = guide
        if self._guide is None:
            self._light[area] = self._mean(area)
            self._show(area)
        elif len(area):
            row, column = np.divmod(area, self.raster.width)
            self._grainy.append((row.min(), row.max() + 1, column.min(), column.max() + 1))

    def _settle(self) -> None:
        """Removes the grain of what was drawn."""
        areas, self._grainy = self._grainy, []
        if len(areas) > _MOST_AREAS:
            top, bottom, left, right = zip(*areas, strict=True)
            areas = [(min(top), max(bottom), min(left), max(right))]
        on_all_cores(self._smooth, [band for area in areas for band in self._bands(*area)])

    def _bands(self, top: int, bottom: int, left: int, right: int) -> Iterator[_Slices]:
        """The rows and columns of an area and of what is beside it, in bands."""
        last, most = min(bottom + APRON, self.raster.height), self.raster.width
        columns = slice(max(0, left - APRON), min(right + APRON, most))
        for row in range(max(0, top - APRON), last, _BAND):
            yield slice(row, min(row + _BAND, last)), columns

    def _mean(self, pixels: Ints) -> Floats:
        passes = np.maximum(self._passes[pixels], 1).astype(np.float32)
        return np.asarray(self._drawn[:, pixels].sum(0) / passes[:, None])

    def _smooth(self, band: _Slices) -> None:
        """Removes the grain of a band."""
        assert self._guide is not None
        wide = tuple(slice(max(0, each.start - APRON), each.stop + APRON) for each in band)
        passes = self._by_row(self._passes)[wide]
        drawn = self._drawn.reshape(2, *self._shape, 4)[:, *wide]
        guide = self._by_row(self._guide)[wide]
        light = drawn.sum(0)
        if passes.max() > 1:
            light /= np.maximum(passes, 1).astype(np.float32)[..., None]
        is_drawn = guide[..., 0] >= 0
        several = is_drawn & (passes > 1)
        even = light[..., :3]
        if not several.all():
            even = smoothed(even, guide, is_drawn & (passes == 1))
        if several.any():
            first, second = (
                drawn[half, ..., :3] / np.maximum(count, 1)[..., None]
                for half, count in enumerate(_counts_of_halves(passes))
            )
            even[several] = without_grain(first, second, guide, several, int(passes.max()))[several]
        np.copyto(light[..., :3], even, where=is_drawn[..., None])
        within = tuple(
            slice(each.start - around.start, each.stop - around.start)
            for each, around in zip(band, wide, strict=True)
        )
        self._by_row(self._light)[band] = light[within]
        self._show(self._by_row(np.arange(self.raster.count))[band].reshape(-1))

    @property
    def _shape(self) -> tuple[int, int]:
        return self.raster.height, self.raster.width

    def _by_row(self, values: NDArray[Any]) -> NDArray[Any]:
        """A view by row and column of values by pixel."""
        return values.reshape(*self._shape, *values.shape[1:])

    def _show(self, pixels: Ints | slice) -> None:
        light = self._light[pixels]
        behind = 1.0 - light[:, 3:]
        shown = light[:, :3]
        base = self._base(pixels)
        if self._ground is not None:
            ground = self._ground[pixels]
            base = ground[:, :3] + (1 - ground[:, 3:]) * base
        self._shown[pixels] = self._tone.bytes(shown + behind * base)

    def _base(self, pixels: Ints | slice) -> Floats:
        """The light of the backdrop."""
        if self._behind is not None:
            return self._behind[pixels]
        # a grey backdrop is no light, and stays as it is
        assert self._grey is not None
        return self._grey[pixels] / np.float32(2.0**self._tone.exposure)

    @property
    def light(self) -> Floats:
        """Light and coverage of each pixel, (N, 4): the mean of all passes without their grain."""
        self._settle()
        return self._light

    def linear(self, behind: Floats | None = None) -> Floats:
        """Light over the backdrop, or over `behind`, (height, width, 3), not exposed."""
        if behind is None:
            behind = self._grey if self._behind is None else self._behind
        assert behind is not None
        light = self.light.reshape(self.raster.height, self.raster.width, 4)
        return over(light, behind.reshape(self.raster.height, self.raster.width, 3))

    @property
    def covered(self) -> Floats:
        """Coverage of the pixels."""
        return np.asarray(self.light[:, 3])

    def pixels(self) -> Bytes:
        self._settle()
        return self._shown.reshape(self.raster.height, self.raster.width, 3)


def _half_of(number: _Numbers) -> _Numbers:
    """The half, 0 or 1, of passes with these numbers: first, second, second, first and so on. Every
    other pass would look to the same side of the middle of its pixels (progressive.shift_of), and
    detail would differ between the halves as grain does."""
    return np.asarray((number ^ (number >> 1)) & 1)


def _counts_of_halves(passes: _Numbers) -> tuple[_Numbers, _Numbers]:
    """How many of so many passes are in each half."""
    first = 2 * (passes // 4) + (passes % 4 > 0)
    return np.asarray(first), np.asarray(passes - first)


def heat_of(
    reference: Canvas, neural: Canvas, exposure: float = 0.0, radius: int = 0
) -> NDArray[np.uint16]:
    """The difference of two canvases by pixel, (height, width, 1): 65,535 is 100%. `exposure` is
    that of the light, not the exposure that the artist has set. With a radius, both are smoothed
    over the square around each pixel: grain is no difference."""
    raster = reference.raster
    seen = (reference.covered > 0) | (neural.covered > 0)
    gain = np.float32(2.0**exposure)
    first, second = (display(each.light[seen, :3] * gain) for each in (reference, neural))
    apart = second - first
    if radius:
        whole = np.zeros((raster.height, raster.width, 3), np.float32)
        mask = seen.reshape(raster.height, raster.width)
        whole[mask] = apart
        count = np.maximum(window_sums(mask[..., None].astype(np.float32), radius), 1)
        apart = (window_sums(whole, radius) / count)[mask]
    values = np.zeros(raster.count, np.uint16)
    values[seen] = np.clip(np.abs(apart).mean(-1) * _WHOLE + 0.5, 0, NOT_COMPARED - 1)
    return values.reshape(raster.height, raster.width, 1)
