"""The pictures that the worker has sent, and what is to be read off them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from verdigris.ui.signal import Signal


@dataclass(frozen=True)
class Shown:
    """A picture and what is known about it."""

    pixels: Any
    view: int
    step: int
    sharp: float
    top: float


@dataclass(frozen=True)
class Texel:
    """One that is shown as a square, and the colours that it is shown in."""

    uv: tuple[float, float]
    """Of the place that is pointed at."""
    column: int
    row: int
    """From v = 0 upwards."""
    across: int
    """How many there are a side."""
    colours: Mapping[str, tuple[int, int, int]]
    """By picture: `reference`, and `neural` if there is one."""


class Pictures:
    """The latest of each part of the view: `reference`, `neural`, `heat`, `texture`; and the map of
    errors over the texture."""

    def __init__(self) -> None:
        self.parts: dict[str, Shown] = {}
        self.error_map: Any = None
        self.changed = Signal()
        self.error_map_changed = Signal()
        self._places: Any = None
        self._places_view = self._texels = 0

    def clear(self) -> None:
        """They are of another material."""
        self.parts.clear()
        self._places = None
        self.changed.emit()
        self.clear_errors()

    def clear_errors(self) -> None:
        """They are of another bake."""
        self.error_map = None
        self.error_map_changed.emit()

    def take(self, said: Mapping[str, Any], pixels: Any) -> None:
        """An event of the worker with numbers behind it."""
        event = said.get("event")
        if event == "picture" and pixels.ndim == 3:
            self.parts[str(said.get("part"))] = Shown(
                pixels,
                int(said.get("view", 0)),
                int(said.get("step", 0)),
                float(said.get("sharp", 1.0)),
                float(said.get("top", 0.0)),
            )
            self.changed.emit()
        elif event == "places":
            self._places = pixels
            self._places_view = int(said.get("view", 0))
            self._texels = int(said.get("texels", 0))
            self.changed.emit()
        elif event == "errormap":
            self.error_map = pixels
            self.error_map_changed.emit()

    def place_at(self, x: float, y: float) -> tuple[float, float] | None:
        """The uv of the surface at a place of the picture, 0 to 1 to the right and downwards."""
        places = self._places
        if places is None or places.ndim != 3 or not (0 <= x < 1 and 0 <= y < 1):
            return None
        height, width = places.shape[:2]
        u, v = places[int(y * height), int(x * width)]
        return (float(u), float(v)) if np.isfinite(u) and np.isfinite(v) else None

    def texel_at(self, x: float, y: float, view: int) -> Texel | None:
        """Which texel a view of this number shows there, if it is so near that texels are
        squares."""
        uv = self.place_at(x, y)
        if uv is None or not self._texels or self._places_view != view:
            return None
        column, row = (math.floor(each * self._texels) % self._texels for each in uv)
        colours = {}
        for part in ("reference", "neural"):
            shown = self.parts.get(part)
            if shown is not None and shown.view == view:
                height, width = shown.pixels.shape[:2]
                red, green, blue = shown.pixels[int(y * height), int(x * width)]
                colours[part] = (int(red), int(green), int(blue))
        return Texel(uv, column, row, self._texels, colours)
