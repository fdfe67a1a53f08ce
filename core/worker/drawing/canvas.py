"""A picture that is drawn in parts, and gets better with each pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.pictures.compare.heat import difference
from verdigris.core.pictures.picture_files import resized, srgb_from_linear, with_shoulder
from verdigris.core.pictures.render import over_backdrop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.worker.drawing.frame import Frame

    Floats = NDArray[np.float32]
    Bytes = NDArray[np.uint8]
    Pixels = NDArray[np.int64]

_LEVELS = 1 << 15
# Brighter light is white behind the shoulder.
_MOST = 64.0
_WHOLE = 65_535


@dataclass(frozen=True)
class Tone:
    """From light to the screen."""

    exposure: float = 0.0
    """In stops."""
    has_shoulder: bool = False
    """Whether highlights are compressed, as by film."""

    def bytes(self, light: Floats) -> Bytes:
        table = _table(self.has_shoulder)
        most = _MOST if self.has_shoulder else 1.0
        scaled = np.sqrt(np.clip(light * np.float32(2.0**self.exposure), 0, most) / most)
        return np.asarray(table[(scaled * (_LEVELS - 1) + 0.5).astype(np.uint16)])


@cache
def _table(has_shoulder: bool) -> Bytes:
    """Bytes of the screen, by the square root of light: powers of all pixels would take long."""
    most = _MOST if has_shoulder else 1.0
    light = np.linspace(0, 1, _LEVELS, dtype=np.float32) ** 2 * most
    shown = srgb_from_linear(with_shoulder(light) if has_shoulder else light)
    return np.asarray((shown * 255 + 0.5).astype(np.uint8))


class Canvas:
    """Light by pixel, and what the screen shows of it."""

    def __init__(self, frame: Frame, tone: Tone, behind: Floats | None = None) -> None:
        """`behind` is the light of a backdrop, (N, 3); grey by default."""
        self.frame, self._tone = frame, tone
        self._light = np.zeros((frame.count, 4), np.float32)
        self._passes = np.zeros(frame.count, np.uint16)
        self._behind = behind
        self._grey: Floats | None = None
        if behind is None:
            empty = np.zeros((frame.height, 1, 4), np.float32)
            self._grey = np.repeat(over_backdrop(empty), frame.width, 1).reshape(-1, 3)
        self.shown = np.zeros((frame.count, 3), np.uint8)
        self._show(np.arange(frame.count))

    def put(self, pixels: Pixels, light: Floats) -> None:
        """Replaces what was drawn."""
        self._light[pixels] = light
        self._passes[pixels] = 1
        self._show(pixels)

    def draw(self, area: Pixels, pixels: Pixels, light: Floats, is_first: bool = True) -> None:
        """Draws a pass of an area, whose other pixels are empty."""
        found = np.zeros((self.frame.count, 4), np.float32) if len(area) > 1 << 18 else None
        if found is None:
            # small areas are found by their order
            values = np.zeros((len(area), 4), np.float32)
            values[np.searchsorted(area, pixels)] = light
        else:
            found[pixels] = light
            values = found[area]
        if is_first:
            self._light[area], self._passes[area] = values, 1
        else:
            self._light[area] += values
            self._passes[area] += 1
        self._show(area)

    def fill_from(self, coarse: Canvas) -> None:
        """Fills the canvas from another size of the same picture."""
        frame, other = self.frame, coarse.frame
        self._light = coarse.light
        if (other.height, other.width) != (frame.height, frame.width):
            picture = self._light.reshape(other.height, other.width, 4)
            self._light = resized(picture, frame.height, frame.width).reshape(-1, 4)
        self._passes[:] = 1
        self._show(np.arange(frame.count))

    def expose(self, tone: Tone) -> None:
        if tone != self._tone:
            self._tone = tone
            self._show(np.arange(self.frame.count))

    def _show(self, pixels: Pixels) -> None:
        light = self.light_at(pixels)
        behind = 1.0 - light[:, 3:]
        shown = light[:, :3]
        if self._behind is not None:
            self.shown[pixels] = self._tone.bytes(shown + behind * self._behind[pixels])
            return
        # a grey backdrop is no light, and stays as it is
        assert self._grey is not None
        gain = np.float32(2.0**self._tone.exposure)
        self.shown[pixels] = self._tone.bytes(shown + behind * self._grey[pixels] / gain)

    def light_at(self, pixels: Pixels) -> Floats:
        """The mean of all passes."""
        passes = np.maximum(self._passes[pixels], 1).astype(np.float32)
        return np.asarray(self._light[pixels] / passes[:, None])

    @property
    def light(self) -> Floats:
        return self.light_at(np.arange(self.frame.count))

    @property
    def covered(self) -> Floats:
        """Coverage of the pixels."""
        return np.asarray(self._light[:, 3])

    def pixels(self) -> Bytes:
        return self.shown.reshape(self.frame.height, self.frame.width, 3)


def heat_of(reference: Canvas, neural: Canvas, exposure: float = 0.0) -> NDArray[np.uint16]:
    """The difference of two canvases by pixel, (height, width, 1): 65,535 is 100%. The exposure of
    the light counts, and not the one that the artist has set."""
    frame = reference.frame
    found = np.zeros(frame.count, np.uint16)
    seen = np.flatnonzero((reference.covered > 0) | (neural.covered > 0))
    gain = np.float32(2.0**exposure)
    sides = [canvas.light_at(seen)[:, :3] * gain for canvas in (reference, neural)]
    found[seen] = np.clip(difference(*sides) * _WHOLE + 0.5, 0, _WHOLE)
    return found.reshape(frame.height, frame.width, 1)
