"""Differences of pictures, their scale, and the colours of heat maps.

One scale is the default everywhere, so that maps of several bakes can be compared by eye.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.pictures.compare.metrics import display

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats


# The value of a pixel whose two sides are not equally sharp.
NOT_COMPARED = 65_535
LOCKED_TOP = 0.1
"""The difference at the end of the scale, which anyone can see."""
# Ends of automatic scales: few, so that the scale rarely changes.
_TOPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_PERCENTILE = 99.0
# Differences are sent as whole numbers.
_ROUNDED = 1.001
# From 0 to the end, in linear light: black, violet, red, orange, pale yellow. Luminance rises all
# the way, so that it is read without any colour vision.
_STOPS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
_COLOURS = np.array(
    [
        (0.001, 0.001, 0.004),
        (0.085, 0.006, 0.150),
        (0.470, 0.038, 0.070),
        (0.970, 0.300, 0.010),
        (0.980, 0.960, 0.520),
    ]
)
_MOST_TICKS = 5
_NICE_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
# Signs of the colour bar, which needs no font: each has five rows of three bits.
_ROWS = {
    "0": (7, 5, 5, 5, 7),
    "1": (2, 6, 2, 2, 7),
    "2": (7, 1, 7, 4, 7),
    "3": (7, 1, 7, 1, 7),
    "4": (5, 5, 7, 1, 1),
    "5": (7, 4, 7, 1, 7),
    "6": (7, 4, 7, 5, 7),
    "7": (7, 1, 2, 2, 2),
    "8": (7, 5, 7, 5, 7),
    "9": (7, 5, 7, 1, 7),
    ".": (0, 0, 0, 0, 2),
    "%": (5, 1, 2, 4, 5),
    "+": (0, 2, 7, 2, 0),
}
_INK, _GROUND = 0.75, 0.01
# In smaller pictures, the bar would cover too much.
_LEAST_SIDE = 96
# Height, width and margin of the bar, as shares of the picture's height.
_HEIGHT, _WIDTH, _MARGIN = 0.42, 0.035, 0.03


def difference(reference: Floats, other: Floats) -> Floats:
    """The mean difference of display values of two pictures of linear radiance, (..., 3), by pixel.

    The display transform has no upper end: highlights that a screen would clip count, too.
    """
    apart = np.abs(display(other) - display(reference))
    return np.asarray(apart.mean(-1), np.float32)


def automatic_top(errors: Floats) -> float:
    """The end of a scale that contains nearly all errors, however small they are."""
    largest = float(np.percentile(errors, _PERCENTILE)) if errors.size else 0.0
    return next((top for top in _TOPS if largest <= top * _ROUNDED), _TOPS[-1])


def heat_colours(errors: Floats, top: float = LOCKED_TOP) -> Floats:
    """Linear colours of an error map, whose scale ends at `top`."""
    share = np.clip(np.asarray(errors, np.float64) / top, 0.0, 1.0)
    channels = [np.interp(share, _STOPS, _COLOURS[:, channel]) for channel in range(3)]
    return np.stack(channels, axis=-1).astype(np.float32)


def scale_ticks(top: float) -> tuple[tuple[float, str], ...]:
    """The ticks of a scale from 0 to `top`: values, and their labels in percent. The label of the
    last tick shows that larger errors have the same colour."""
    percent = 100 * top
    magnitude = 10.0 ** math.floor(math.log10(percent / _MOST_TICKS))
    step = next(
        each * magnitude for each in _NICE_STEPS if percent / (each * magnitude) <= _MOST_TICKS
    )
    values = [step * number for number in range(int(percent / step * (1 + 1e-9)) + 1)]
    if values[-1] < percent * (1 - 1e-9):
        values.append(percent)
    labels = [f"{value:.4g}%" for value in values]
    if top < 1:
        labels[-1] += "+"
    return tuple((value / 100, label) for value, label in zip(values, labels, strict=True))


def with_colour_bar(picture: Floats, top: float = LOCKED_TOP) -> Floats:
    """A heat map with a bar in the lower right corner, where shapes leave room."""
    height, width = picture.shape[:2]
    if min(height, width) < _LEAST_SIDE:
        return picture
    result = np.array(picture, np.float32)
    dot = max(1, height // 200)
    margin, bar = round(_MARGIN * height), max(4, round(_WIDTH * height))
    ticks = scale_ticks(top)
    room = max(_text_width(label, dot) for _, label in ticks) + 3 * dot
    length = round(_HEIGHT * height)
    right, bottom = width - margin, height - margin
    left, start = right - bar, bottom - length
    half = 3 * dot
    result[start - half - dot : bottom + half + dot, left - room - dot : right + dot] = _GROUND
    values = (np.arange(length)[::-1, None] + 0.5) / length * top
    result[start:bottom, left:right] = heat_colours(np.asarray(values, np.float32), top)
    for value, label in ticks:
        row = min(bottom - 1, round(bottom - value / top * length))
        result[row : row + dot, left - 2 * dot : left] = _INK
        at = left - 3 * dot - _text_width(label, dot)
        _write(result, label, row + dot // 2 - 5 * dot // 2, at, dot)
    return result


def _text_width(text: str, dot: int) -> int:
    return (4 * len(text) - 1) * dot


def _write(picture: Floats, text: str, top: int, left: int, dot: int) -> None:
    for place, sign in enumerate(text):
        bits = np.array([[row >> 2 & 1, row >> 1 & 1, row & 1] for row in _ROWS[sign]], bool)
        block = np.kron(bits, np.ones((dot, dot), bool))
        x = left + 4 * dot * place
        part = picture[top : top + 5 * dot, x : x + 3 * dot]
        part[block[: len(part)]] = _INK
