"""The rectangle of a picture, and views of parts of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.pictures.gbuffer import Background, Camera, PlacedMesh
from verdigris.core.pictures.render import make_gbuffer, placed_camera

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.pictures.gbuffer import GBuffer
    from verdigris.core.worker.protocol.commands import View as ViewCommand

    Floats = NDArray[np.float32]

_BACKDROP_SIDE = 64


@dataclass(frozen=True)
class Tile:
    """A square of the picture, by its left upper corner. It may reach beyond the picture."""

    left: int
    top: int
    side: int

    def pixels(self, width: int, height: int) -> NDArray[np.int64]:
        """Indices of its pixels that are in the picture."""
        columns = np.arange(max(0, self.left), min(width, self.left + self.side))
        rows = np.arange(max(0, self.top), min(height, self.top + self.side))
        return np.asarray((rows[:, None] * width + columns).reshape(-1))


class Shape:
    """What a view command shows, placed once for all its pictures."""

    def __init__(self, command: ViewCommand, mesh: Mesh | None) -> None:
        self.kind = command.shape
        camera = Camera(command.turn, command.pitch, command.zoom, command.x, command.y)
        self.camera = placed_camera(command.shape, camera)
        self._mesh = mesh

    @cached_property
    def _placed(self) -> PlacedMesh | None:
        return PlacedMesh(self._mesh, self.camera) if self._mesh is not None else None

    def background(self, camera: Camera) -> Background:
        is_mesh = self._mesh is not None
        return Background(camera, camera.placing if is_mesh else np.eye(3))

    def view(self, size: int, camera: Camera) -> GBuffer:
        if self._placed is not None:
            return self._placed.gbuffer(size, camera)
        return make_gbuffer(self.kind, size, None, camera)


@dataclass(frozen=True)
class Frame:
    """A picture of this size. The shape fits into its shorter side."""

    shape: Shape
    width: int
    height: int

    @classmethod
    def of(cls, shape: Shape, short: int, aspect: float) -> Frame:
        """With `short` pixels on the shorter side; `aspect` is the width by the height."""
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
        found = [
            Tile(left, top, side)
            for top in range(0, self.height, side)
            for left in range(0, self.width, side)
        ]

        def away(tile: Tile) -> float:
            half = side / 2
            x, y = tile.left + half - self.width / 2, tile.top + half - self.height / 2
            return x * x + y * y

        return sorted(found, key=away)

    def view(self, tile: Tile, shift: tuple[float, float] = (0.0, 0.0)) -> GBuffer:
        """The pixels of a tile, by their index in the picture. `shift` moves the places at which
        they are seen, in pixels to the right and downwards."""
        camera, half = self.shape.camera, self.short / 2
        across = tile.left + tile.side / 2 + shift[0] - self.width / 2
        down = tile.top + tile.side / 2 + shift[1] - self.height / 2
        seen = self.shape.view(
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
        number of its rows and columns."""
        coarse = Frame.of(
            self.shape, _BACKDROP_SIDE, self.width / self.height if self.height else 1.0
        )
        tile = coarse.whole()
        camera = self.shape.camera
        zoom = camera.zoom * coarse.short / tile.side
        seen = self.shape.background(replace(camera, zoom=zoom)).rays(tile.side)
        seen = seen.reshape(tile.side, tile.side, 3)
        part = seen[-tile.top :, -tile.left :][: coarse.height, : coarse.width]
        return part.reshape(-1, 3), (coarse.height, coarse.width)
