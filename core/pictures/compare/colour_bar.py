"""The colour bar of heat maps in picture files, with ticks. It needs no font."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.pictures.compare.heat import LOCKED_TOP, heat_colours, scale_ticks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Each sign has five rows of three bits.
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
# In smaller pictures it would cover too much.
_LEAST_SIDE = 96
# Parts of the picture's height.
_HEIGHT, _WIDTH, _MARGIN = 0.42, 0.035, 0.03


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
