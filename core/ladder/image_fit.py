"""Fits textures and colours to pictures: loss in image space, at the pixels that cameras see.

A model shades pixels from stored values and returns the gradient by them; the pipeline is the same
for all. The loss is that of displayed light, as an eye compares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Protocol

import numpy as np

from verdigris.core.ladder.reference import batches
from verdigris.core.ladder.texels import Grid, quantise, rate_at, softness_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]
    Ints = NDArray[np.int64]

# Differences of displayed light below this count by their square: noise of the reference.
_SMALL = 0.02
_KNEE = 0.0031308


@dataclass(frozen=True)
class Pixels:
    """Pixels of several views, channels first."""

    uv: Floats
    """(2, N) on the uv set without overlaps."""
    detail_uv: Floats
    """(2, N) on the first uv set."""
    reflected: Floats
    """(3, N), the mirror direction of the eye."""
    vertex: Ints
    """(3, N) vertices of the triangle, and their weights."""
    share: Floats
    light: Floats
    """(3, N) of the reference, exposed."""
    weight: Floats
    """(N,), painted weights."""

    @property
    def count(self) -> int:
        return len(self.weight)

    def take(self, chosen: Ints | slice) -> Pixels:
        return Pixels(*(getattr(self, each.name)[..., chosen] for each in fields(self)))

    def shuffled(self, seed: int) -> Pixels:
        """The pixels in a random order."""
        return self.take(np.random.default_rng(seed).permutation(self.count))


Backward = Callable[["Floats"], "list[Floats]"]


class Model(Protocol):
    """What is fitted."""

    @property
    def grids(self) -> Sequence[Grid]:
        """The stored values."""

    def shade(self, pixels: Pixels, softness: float = 0.0) -> tuple[Floats, Backward]:
        """Light (3, N), and a function from its gradient to those of the stored values."""


@dataclass(frozen=True)
class ImageFitSettings:
    """Work of a fit."""

    steps: int = 500
    batch: int = 16_384
    rate: float = 0.02
    is_soft: bool = True
    seed: int = 3


def fit_model(
    model: Model,
    pixels: Pixels,
    settings: ImageFitSettings | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
) -> float:
    """Fits a model in place and rounds it to bytes. Returns the loss before rounding."""
    settings = settings or ImageFitSettings()
    loss, steps = 0.0, settings.steps
    pixels = pixels.shuffled(settings.seed)
    for step, chosen in enumerate(batches(pixels.count, settings.batch, steps)):
        softness = softness_at(step, steps) if settings.is_soft else 0.0
        loss, gradients = loss_and_gradients(model, pixels.take(chosen), softness)
        rate = rate_at(step, steps, settings.rate)
        for grid, gradient in zip(model.grids, gradients, strict=True):
            grid.step(gradient, rate, step)
        on_progress((step + 1) / steps)
    for grid in model.grids:
        grid.values[:] = quantise(grid.values)
    return loss


def loss_and_gradients(
    model: Model, pixels: Pixels, softness: float = 0.0
) -> tuple[float, list[Floats]]:
    """Mean loss of displayed light, and its gradients by the stored values."""
    light, backward = model.shade(pixels, softness)
    shown, slope = display_with_slope(light)
    target, _ = display_with_slope(pixels.light)
    away = shown - target
    root = np.sqrt(away**2 + _SMALL**2)
    share = pixels.weight / (3 * pixels.count)
    loss = float(((root - _SMALL) * share).sum())
    return loss, backward(np.asarray(away / root * slope * share, light.dtype))


def loss_of(model: Model, pixels: Pixels) -> float:
    """The mean loss over all pixels."""
    light, _ = model.shade(pixels)
    away = display_with_slope(light)[0] - display_with_slope(pixels.light)[0]
    return float(((np.sqrt(away**2 + _SMALL**2) - _SMALL) * pixels.weight).mean())


def display_with_slope(light: Floats) -> tuple[Floats, Floats]:
    """Display values as in core/pictures/metrics.py, with their derivative."""
    x = np.maximum(light, 0)
    linear = x / (1 + x)
    safe = np.maximum(linear, _KNEE)
    is_low = linear <= _KNEE
    shown = np.where(is_low, 12.92 * linear, 1.055 * safe ** (1 / 2.4) - 0.055)
    by_linear = np.where(is_low, 12.92, 1.055 / 2.4 * safe ** (1 / 2.4 - 1))
    slope = np.where(light >= 0, by_linear / (1 + x) ** 2, 0)
    return shown.astype(light.dtype), slope.astype(light.dtype)
