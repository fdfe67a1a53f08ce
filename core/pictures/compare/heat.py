"""Differences of pictures, their scale, and the colours of heat maps.

One scale is the default everywhere, so that maps of several bakes can be compared by eye.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.pictures.compare.metrics import display

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

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


def difference(reference: Floats, other: Floats) -> Floats:
    """The mean difference of display values of two pictures of linear radiance, (..., 3), by pixel.

    The display transform has no upper end: highlights that a screen would clip count, too.
    """
    apart = np.abs(display(other) - display(reference))
    return np.asarray(apart.mean(-1), np.float32)


def automatic_top(errors: Floats) -> float:
    """The end of a scale that holds nearly all errors, however small they are."""
    largest = float(np.percentile(errors, _PERCENTILE)) if errors.size else 0.0
    return next((top for top in _TOPS if largest <= top * _ROUNDED), _TOPS[-1])


def heat_colours(errors: Floats, top: float = LOCKED_TOP) -> Floats:
    """Linear colours of an error map, whose scale ends at `top`."""
    share = np.clip(np.asarray(errors, np.float64) / top, 0.0, 1.0)
    channels = [np.interp(share, _STOPS, _COLOURS[:, channel]) for channel in range(3)]
    return np.stack(channels, axis=-1).astype(np.float32)


def scale_ticks(top: float) -> tuple[tuple[float, str], ...]:
    """The ticks of a scale from 0 to `top`: values, and their labels in percent. Larger errors have
    the last colour, too, which its label shows."""
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
