"""Colours of heat maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# From 0 to the largest value, in linear light: black, violet, red, orange, pale yellow.
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
_PERCENTILE = 99.0


def heat_colours(errors: Floats, largest: float | None = None) -> Floats:
    """Linear colours of an error map. By default the scale ends at the 99th percentile, so that the
    largest errors of a good result are visible, too."""
    top = largest or float(np.percentile(errors, _PERCENTILE)) or 1.0
    share = np.clip(np.asarray(errors, np.float64) / top, 0.0, 1.0)
    channels = [np.interp(share, _STOPS, _COLOURS[:, channel]) for channel in range(3)]
    return np.stack(channels, axis=-1).astype(np.float32)
