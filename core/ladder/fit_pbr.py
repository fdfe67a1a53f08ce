"""Fits glTF textures to the response of a teacher at the pixels that cameras see.

The fit goes from coarse to fine: one texel for the whole material, then more. Each size starts from
the one before, so that roughness and metalness, which one pixel under one light cannot tell apart,
start near their values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.ladder import pbr_model
from verdigris.core.ladder.reference import Responses, batches
from verdigris.core.ladder.texels import (
    Grid,
    fill_holes,
    quantise,
    rate_at,
    scatter,
    soft_quantise,
    softness_at,
)
from verdigris.core.network import losses
from verdigris.core.network.texels import gather

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.network.parameters import FloatArray

# Added to response and target, because the slope of a cube root is unbounded at 0.
_DARKEST = 1e-3
# Texels a side of the coarser sizes, and the share of the steps that each takes.
_SIDES, _SHARES = (1, 16, 64), (0.12, 0.10, 0.14)
_FIRST_RATE, _PEAK_RATE = 0.04, 0.02
_COARSE_BATCH = 4096
# Responses count as at most so many times the fitted value: a mirror's peaks would take all steps.
_LARGEST_RATIO = 20.0


@dataclass(frozen=True)
class FitSettings:
    """Work of a fit."""

    steps: int = 900
    batch: int = 16_384
    is_soft: bool = True
    """Whether the last steps go through soft quantisation. Without it, values are only rounded."""
    seed: int = 1


@dataclass
class PbrLoss:
    """The mean loss and its gradient by stored texels."""

    loss: float
    gradient: FloatArray


def loss_and_gradient(
    stored: FloatArray, grid: Grid, batch: Responses, softness: float = 0.0
) -> PbrLoss:
    """Of stored texels (texels, 9) laid out like the grid."""
    soft, soft_slope = soft_quantise(stored, softness)
    indices, weights = grid.corners(batch.uv)
    tape = pbr_model.evaluate(gather(pbr_model.decode(soft), indices, weights), batch.wi, batch.wo)
    dtype = stored.dtype.type
    value = tape.value + dtype(_DARKEST)
    target = losses.clamp_response(batch.value) + dtype(_DARKEST)
    each, gradient = deviance(value, target)
    share = batch.weight / dtype(len(batch.weight))
    by_texel = pbr_model.evaluate_backward(tape, gradient * share)
    by_decoded = scatter(by_texel, indices, weights, len(stored))
    by_stored = pbr_model.decode_backward(soft, by_decoded) * soft_slope
    return PbrLoss(float((each * batch.weight).mean()), by_stored)


def deviance(value: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Tweedie deviance of power 4/3 (N,), a mean over channels, and its derivative by the value.

    It weighs differences as a cube root does, and its minimum is the mean: with absolute
    differences, one lobe that stands for several loses a fifth of the light.
    """
    root = np.cbrt(value)
    ratio = np.minimum(target / value, _LARGEST_RATIO)
    square = root * root
    whole = np.cbrt(target) ** 2
    # where the ratio is limited, the slope is that of the limit
    largest = 1.5 * (1 - _LARGEST_RATIO) * square + 4.5 * _LARGEST_RATIO ** (1 / 3) * whole
    is_limited = ratio == _LARGEST_RATIO
    each = np.where(is_limited, largest, square * (1.5 + 3 * ratio)) - 4.5 * whole
    return each.mean(0), (1 - ratio) / (root * value.dtype.type(len(value)))


def fit_pbr(
    samples: Responses,
    size: int,
    settings: FitSettings | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
) -> Grid:
    """Textures of this size, as bytes from 0 to 1."""
    settings = settings or FitSettings()
    sides = [side for side in _SIDES if side < size] + [size]
    shares = [*_SHARES[: len(sides) - 1]]
    shares.append(1 - sum(shares))
    grid = Grid.of(1, 1, np.array(pbr_model.START, np.float32))
    samples, done = samples.shuffled(settings.seed), 0
    for side, share in zip(sides, shares, strict=True):
        grid = grid.resized(side, side)
        steps = max(1, round(share * settings.steps))
        is_last = side == size
        batch = settings.batch if is_last else min(_COARSE_BATCH, settings.batch)
        peak = _FIRST_RATE if side == 1 else _PEAK_RATE
        for step, chosen in enumerate(batches(samples.count, batch, steps)):
            softness = softness_at(step, steps) if is_last and settings.is_soft else 0.0
            found = loss_and_gradient(grid.values, grid, samples.take(chosen), softness)
            rate = rate_at(step, steps, peak) if is_last else peak
            grid.step(found.gradient, rate, step)
            pbr_model.keep_in_range(grid.values)
            done += 1
            on_progress(done / settings.steps)
    fill_holes(grid, seen_texels(grid, samples.uv))
    grid.values[:] = quantise(grid.values)
    return grid


def seen_texels(grid: Grid, uv: FloatArray) -> NDArray[np.bool_]:
    """Whether a pixel reads each texel."""
    indices, weights = grid.corners(uv)
    return np.asarray(np.bincount(indices.ravel(), weights.ravel(), len(grid.values)) > 0)
