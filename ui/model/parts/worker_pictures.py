"""The pictures that the worker sends, and the texels in them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from verdigris.ui.signals import Signal


@dataclass(frozen=True, eq=False)
class Picture:
    """The pixels and facts of a picture."""

    pixels: Any
    view: int
    """The number of the view that it shows."""
    step: int
    sharp: float
    """Its size as a share of the requested size."""
    refined: float = 1.0
    """The share of the passes that make it free of noise and stairs."""


@dataclass(frozen=True)
class Texel:
    """A texel under the pointer, where texels are drawn as squares."""

    uv: tuple[float, float]
    """The uv under the pointer."""
    column: int
    row: int
    """The row, counted from v = 0."""
    across: int
    """Texels per side of the texture."""
    colours: Mapping[str, tuple[int, int, int]]
    """Colours by picture: `reference`, and `neural` if there is one."""


class Pictures:
    """The latest `reference`, `neural`, `heat` and `texture` pictures, and the map of errors."""

    def __init__(self) -> None:
        self.parts: dict[str, Picture] = {}
        self.error_map: Any = None
        self.changed = Signal()
        self.error_map_changed = Signal()
        self.places: Any = None
        """The uv of each pixel, (height, width, 2), while the brush needs it; else None."""
        self.places_view = self._texels = 0
        self._is_held = self._is_new = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Reports all pictures that come meanwhile at once: those of a view come together, and are
        drawn together."""
        self._is_held, self._is_new = True, False
        try:
            yield
        finally:
            self._is_held = False
            if self._is_new:
                self.changed.emit()

    def _report(self) -> None:
        if self._is_held:
            self._is_new = True
        else:
            self.changed.emit()

    def clear(self) -> None:
        """Drops all pictures, for another material."""
        self.parts.clear()
        self.places = None
        self.changed.emit()
        self.clear_errors()

    def drop_neural(self) -> None:
        """Drops the neural pictures: the worker has opened the material again, without a
        student."""
        for part in ("neural", "heat"):
            self.parts.pop(part, None)
        self.changed.emit()

    def clear_errors(self) -> None:
        """Drops the map of errors, for another bake."""
        self.error_map = None
        self.error_map_changed.emit()

    def handle(self, event: Mapping[str, Any], pixels: Any) -> None:
        """Handles an event that carries an array."""
        kind = event.get("event")
        if kind == "picture" and pixels.ndim == 3:
            self.parts[str(event.get("part"))] = Picture(
                pixels,
                int(event.get("view", 0)),
                int(event.get("step", 0)),
                float(event.get("sharp", 1.0)),
                float(event.get("refined", 1.0)),
            )
            self._report()
        elif kind == "places":
            self.places = pixels
            self.places_view = int(event.get("view", 0))
            self._texels = int(event.get("texels", 0))
            self._report()
        elif kind == "errormap":
            self.error_map = pixels
            self.error_map_changed.emit()

    def uv_at(self, x: float, y: float) -> tuple[float, float] | None:
        """The uv of the surface at a point of the picture, 0 to 1 to the right and downwards."""
        places = self.places
        if places is None or places.ndim != 3 or not (0 <= x < 1 and 0 <= y < 1):
            return None
        height, width = places.shape[:2]
        u, v = places[int(y * height), int(x * width)]
        return (float(u), float(v)) if np.isfinite(u) and np.isfinite(v) else None

    def texel_at(self, x: float, y: float, view: int) -> Texel | None:
        """The texel at a point of this view. None unless texels are drawn as squares."""
        uv = self.uv_at(x, y)
        if uv is None or not self._texels or self.places_view != view:
            return None
        column, row = (math.floor(each * self._texels) % self._texels for each in uv)
        colours = {}
        for part in ("reference", "neural"):
            picture = self.parts.get(part)
            if picture is not None and picture.view == view:
                height, width = picture.pixels.shape[:2]
                red, green, blue = picture.pixels[int(y * height), int(x * width)]
                colours[part] = (int(red), int(green), int(blue))
        return Texel(uv, column, row, self._texels, colours)
