"""Pixels of paint and of the brush over a picture, from the uv of its pixels. Without Qt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from verdigris.core.hosts.host import LARGEST_WEIGHT, NORMAL_WEIGHT
from verdigris.ui.brush.contrast import Ink

Floats = NDArray[np.float32]
Pixels = NDArray[np.uint8]

# Hatching: pixels from stripe to stripe, and how much fainter the gaps are.
_PERIOD, _STRIPE, _GAP = 8, 3, 0.45
# The ring of the brush, in pixels, and the share of the radius where its effect is half.
_RING, _HALF, _HALF_ALPHA = 1.6, 0.5, 0.5
_FLAT = 1e-6


def weights_at(weights: Floats, uv: Floats) -> Floats:
    """Weights at places (…, 2), interpolated over the edges of a repeating texture; not a number
    beside the surface."""
    height, width = weights.shape
    is_there = np.isfinite(uv).all(-1)
    place = np.where(is_there[..., None], uv, 0.0)
    x = place[..., 0] * width - 0.5
    y = place[..., 1] * height - 0.5
    column, row = np.floor(x).astype(np.int32), np.floor(y).astype(np.int32)
    across, up = (x - column).astype(np.float32), (y - row).astype(np.float32)
    left, right, low, high = column % width, (column + 1) % width, row % height, (row + 1) % height
    lower = weights[low, left] + across * (weights[low, right] - weights[low, left])
    upper = weights[high, left] + across * (weights[high, right] - weights[high, left])
    return np.where(is_there, lower + up * (upper - lower), np.nan).astype(np.float32)


def paint_pixels(weights: Floats, inks: tuple[Ink, Ink], opacity: float) -> Pixels:
    """Paint (height, width, 4) for the weights of pixels. Higher weights are hatched upwards, lower
    ones downwards, and untrained places in both directions: some people cannot tell the colours."""
    found = np.nan_to_num(weights, nan=NORMAL_WEIGHT)
    more = np.clip((found - NORMAL_WEIGHT) / (LARGEST_WEIGHT - NORMAL_WEIGHT), 0, 1)
    less = np.clip((NORMAL_WEIGHT - found) / NORMAL_WEIGHT, 0, 1)
    row, column = np.indices(found.shape, sparse=True)
    is_up, is_down = ((column + row) % _PERIOD < _STRIPE, (column - row) % _PERIOD < _STRIPE)
    is_stripe = np.where(more >= less, is_up, is_down | (is_up & (less > 0.99)))
    pixels = np.empty((*found.shape, 4), np.uint8)
    pixels[..., :3] = np.where((more >= less)[..., None], inks[0].rgb, inks[1].rgb)
    shade = np.sqrt(np.maximum(more, less)) * np.where(is_stripe, 1.0, _GAP)
    pixels[..., 3] = np.rint(255 * opacity * shade)
    return pixels


def ring_pixels(
    uv: Floats, places: Sequence[tuple[float, float]], radii: Sequence[float]
) -> Pixels:
    """The edge of the brush around places, as the surface bends it, and a faint line where its
    effect is half."""
    pixels = np.zeros((*uv.shape[:2], 4), np.uint8)
    light, dark = np.zeros(uv.shape[:2]), np.zeros(uv.shape[:2])
    for place, radius in zip(places, radii, strict=True):
        away = np.abs(uv - np.float32(place)) % 1.0
        away = np.minimum(away, 1 - away)
        distance = np.sqrt((away**2).sum(-1)) / radius
        # how far one pixel is: lines of one width on a steep surface, too
        down, across = np.gradient(distance)
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = np.maximum(np.hypot(down, across), _FLAT)
            edge = np.nan_to_num(np.abs(distance - 1) / slope, nan=np.inf)
            half = np.nan_to_num(np.abs(distance - _HALF) / slope, nan=np.inf)
        light = np.maximum(light, np.clip(_RING - edge, 0, 1))
        light = np.maximum(light, _HALF_ALPHA * np.clip(_RING - 0.5 - half, 0, 1))
        dark = np.maximum(dark, 0.7 * np.clip(_RING + 1.5 - edge, 0, 1))
    both = np.maximum(light, dark)
    pixels[..., :3] = np.rint(255 * light / np.maximum(both, _FLAT))[..., None]
    pixels[..., 3] = np.rint(255 * both)
    return pixels
