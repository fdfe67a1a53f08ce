"""A picture that is coarse at once, then quick by few lights, then fine pass by pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.pictures.canvas import Canvas
from verdigris.core.pictures.quick_light import mirrored

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Bools, Floats
    from verdigris.core.pictures.canvas import Raster, Tile
    from verdigris.core.pictures.gbuffer import GBuffer
    from verdigris.core.pictures.quick_light import Lit
    from verdigris.core.pictures.tone import Tone


# With fewer passes, the quick picture is better than the fine one.
_SHOWN_FROM = 3


class Progressive:
    """Canvases of one picture. It knows which tiles are drawn, and which columns are in sight."""

    def __init__(
        self, raster: Raster, tile_side: int, passes: int, new_canvas: Callable[[], Canvas]
    ) -> None:
        """`passes` is the number of passes of the fine picture, each at another place inside the
        pixels."""
        self.raster, self._most = raster, passes
        self._tiles = raster.tiles(tile_side)
        self._new_canvas = new_canvas
        self.coarse: Canvas | None = None
        """The first picture, which is small. It is shown where no part of a better one is drawn."""
        self._quick: Canvas | None = None
        self.fine: Canvas | None = None
        self._quick_done: set[Tile] = set()
        self._passes: dict[Tile, int] = {}
        self.columns = (0.0, 1.0)
        """The part in sight, from left to right."""

    def visible(self) -> list[Tile]:
        left, right = (share * self.raster.width for share in self.columns)
        return [tile for tile in self._tiles if tile.left + tile.side > left and tile.left < right]

    def forget(self) -> None:
        """Forgets everything, for another material."""
        self.coarse = self._quick = None
        self._quick_done.clear()
        self.forget_fine()

    def forget_fine(self) -> None:
        self.fine = None
        self._passes.clear()

    def next_quick(self) -> Tile | None:
        return next((each for each in self.visible() if each not in self._quick_done), None)

    def next_fine(self) -> tuple[Tile, int] | None:
        """A tile with the fewest passes, and the number of its next pass; None if all are done."""
        done = self.passes
        if done >= self._most:
            return None
        return next((tile, done) for tile in self.visible() if self._passes.get(tile, 0) == done)

    @property
    def passes(self) -> int:
        """The number of passes that all tiles in sight have."""
        return min((self._passes.get(tile, 0) for tile in self.visible()), default=self._most)

    @property
    def has_content(self) -> bool:
        return self.coarse is not None

    def begin_with(self, canvas: Canvas) -> None:
        """Shows a first picture where nothing better is drawn."""
        self.coarse = canvas
        if self._quick is not None:
            missing = [tile for tile in self._tiles if tile not in self._quick_done]
            for tile in missing:
                area = tile.pixels(self.raster.width, self.raster.height)
                self._quick.fill_from(canvas, area)

    def draw_quick(self, tile: Tile, gbuffer: GBuffer, lit: Lit) -> None:
        if self._quick is None:
            self._quick = self._new_canvas()
            if self.coarse is not None:
                self._quick.fill_from(self.coarse)
        area = tile.pixels(self.raster.width, self.raster.height)
        self._quick.draw(area, gbuffer.pixel, lit)
        self._quick_done.add(tile)

    def draw_fine(self, tile: Tile, number: int, gbuffer: GBuffer, lit: Lit) -> None:
        if self.fine is None:
            self.fine = self._new_canvas()
            # what is not in sight has some content
            if self._quick is not None:
                self.fine.fill_from(self._quick)
        area = tile.pixels(self.raster.width, self.raster.height)
        self.fine.draw(area, gbuffer.pixel, lit, is_first=number == 0)
        self._passes[tile] = number + 1

    def pixels_at(self, tile: Tile) -> int:
        """The number of pixels of the picture that is shown in a tile."""
        if tile in self._quick_done or self.coarse is None:
            return self.raster.count
        return self.coarse.raster.count

    def unlike(self, other: Progressive) -> Bools:
        """The pixels at which two pictures with these tiles are not equally sharp."""
        found = np.zeros(self.raster.count, bool)
        for tile in self._tiles:
            if self.pixels_at(tile) != other.pixels_at(tile):
                found[tile.pixels(self.raster.width, self.raster.height)] = True
        return found

    @property
    def sharp(self) -> float:
        """The share of the tiles in sight that are drawn in full size."""
        tiles = self.visible()
        return sum(tile in self._quick_done for tile in tiles) / max(1, len(tiles))

    @property
    def refined(self) -> float:
        """The share of all passes that are drawn."""
        tiles = self.visible()
        done = sum(self._passes.get(tile, 0) for tile in tiles)
        return done / max(1, self._most * len(tiles))

    @property
    def is_fine(self) -> bool:
        """Whether the fine picture is better than the quick one."""
        return self.fine is not None and self.passes >= min(_SHOWN_FROM, self._most)

    @property
    def is_coarse(self) -> bool:
        return self._quick is None

    def canvas(self, is_fine: bool, is_coarse: bool = False) -> Canvas:
        """The best canvas, or the coarse one."""
        best = self.fine if is_fine else None
        best = best or (None if is_coarse else self._quick) or self.coarse
        assert best is not None
        return best

    def expose(self, tone: Tone) -> None:
        for canvas in self._canvases:
            canvas.expose(tone)

    def lay_ground(self, ground: Floats) -> None:
        for canvas in self._canvases:
            canvas.lay_ground(ground)

    @property
    def _canvases(self) -> list[Canvas]:
        return [each for each in (self.coarse, self._quick, self.fine) if each is not None]


def shift_of(number: int) -> tuple[float, float]:
    """Where a pass looks into each pixel: the first one in the middle, then a Halton sequence."""
    return (0.0, 0.0) if number == 0 else (mirrored(number, 2) - 0.5, mirrored(number, 3) - 0.5)
