"""Soft quantisation, through which values from 0 to 1 are fitted that become bytes.

Soft rounding (Agustsson and Theis, 2020) replaces a value by a smooth step between its neighbours,
m + tanh(h r) / (2 tanh(h / 2)) around the middle m of two steps, whose hardness h grows until
hardly a value between two steps is left. It has the fixed points and the order of rounding, and its
true derivative: unlike with a straight-through estimate, neighbours in a filter make up for what a
texel cannot store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]

STEPS = 255
# Of the last part of a fit, in which quantisation hardens.
HARDENING = 0.4
HARDEST = 24.0
# Rates of Adam while quantisation hardens, in steps of a byte: a texel may change its byte once or
# twice.
_HARD_RATE, _LAST_RATE = 0.45, 0.06
_END = 0.1


def soft_quantise(values: Floats, softness: float, steps: int = STEPS) -> tuple[Floats, Floats]:
    """The softly quantised values and the derivative by the values. `softness` is 0 for none, and
    1 for the hardest."""
    if softness <= 0:
        return values, np.ones_like(values)
    hard = values.dtype.type(HARDEST * softness)
    at = values * steps
    middle = np.floor(at) + values.dtype.type(0.5)
    bent = np.tanh(hard * (at - middle))
    scale = 0.5 / np.tanh(hard / 2)
    return (middle + bent * scale) / steps, hard * scale * (1 - bent * bent)


def softness_at(step: int, steps: int) -> float:
    """0 at first, and up to 1 in the last part of a fit."""
    done = step / max(1, steps - 1)
    return float(np.clip((done - 1 + HARDENING) / HARDENING, 0, 1))


def rate_at(step: int, steps: int, peak: float) -> float:
    """The rate of a step: falls from the peak until quantisation hardens, and is then small."""
    hardness = softness_at(step, steps)
    if hardness > 0:
        return min(peak, (_HARD_RATE + (_LAST_RATE - _HARD_RATE) * hardness) / STEPS)
    done = step / max(1, steps - 1) / (1 - HARDENING)
    return peak * (_END + (1 - _END) * 0.5 * (1 + float(np.cos(np.pi * done))))


def quantise(values: Floats, steps: int = STEPS) -> Floats:
    """Values rounded to the nearest step."""
    return np.asarray(np.rint(np.clip(values, 0, 1) * steps) / steps, values.dtype)
