"""Inverse tone curves: light above 1 in bytes, by `hdr = ldr / (c ldr^2 + a ldr + b)`.

With c = 0 this is a modified Reinhard curve; a = -1 and b = 1 is Reinhard's own. An engine needs
the three numbers and one division for each texel that it has filtered. They are fitted to the light
that a texture stores, so that its bytes cover the range of this light.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import SettingsError
from verdigris.core.pictures.compare.metrics import display

if TYPE_CHECKING:
    from verdigris.core.base.array_types import FloatArray


_STEPS = 255
_QUANTILES = 512
# Light above this quantile may be clipped: it may be fireflies of a noisy reference.
_LARGEST_QUANTILE = 0.9995
_ROUNDS = 24


@dataclass(frozen=True)
class ToneCurve:
    """The coefficients of a curve; `b` is the inverse of the slope at black."""

    a: float
    b: float
    c: float = 0.0

    def __post_init__(self) -> None:
        at_white = self.a + self.b + self.c
        if not (self.b > 0 and at_white > 0 and self.c < self.b):
            raise SettingsError(
                f"the tone curve a {self.a}, b {self.b}, c {self.c} does not grow from 0 to 1: use "
                "b > 0, c < b and a + b + c > 0"
            )

    @property
    def largest(self) -> float:
        """The light that is stored as 1."""
        return 1 / (self.a + self.b + self.c)

    def to_light(self, stored: FloatArray) -> FloatArray:
        result: FloatArray = stored / ((self.c * stored + self.a) * stored + self.b)
        return result

    def slope(self, stored: FloatArray) -> FloatArray:
        """The derivative of `to_light`."""
        divisor = (self.c * stored + self.a) * stored + self.b
        return np.asarray((self.b - self.c * stored**2) / divisor**2, stored.dtype)

    def to_stored(self, light: FloatArray) -> FloatArray:
        """The inverse of `to_light`, clipped to 0 and 1."""
        h = np.clip(light, 0, self.largest).astype(np.float64)
        middle = 1 - self.a * h
        if self.c == 0:
            found = self.b * h / middle
        else:
            root = np.sqrt(np.maximum(middle**2 - 4 * self.c * self.b * h**2, 0))
            found = 2 * self.b * h / (middle + root)
        return np.asarray(np.clip(found, 0, 1), light.dtype)

    def scaled(self, factor: float) -> ToneCurve:
        """The curve with this factor of light."""
        return ToneCurve(self.a / factor, self.b / factor, self.c / factor)

    @property
    def numbers(self) -> list[float]:
        """The coefficients as shaders read them."""
        return [self.a, self.b, self.c]

    def as_json(self) -> dict[str, float]:
        return {"a": self.a, "b": self.b, "c": self.c}


CLAMP = ToneCurve(0.0, 1.0)
"""Light from 0 to 1 as it is; more is lost."""


def fit_curve(light: FloatArray) -> ToneCurve:
    """The curve with the smallest expected error of the displayed light after rounding to bytes."""
    values = np.maximum(np.asarray(light, np.float64).reshape(-1), 0)
    at = np.linspace(0, _LARGEST_QUANTILE, _QUANTILES)
    values = np.quantile(values, at)
    largest = max(float(values[-1]), 1e-4)
    # an ever finer search
    peak, slope = np.log(largest), np.log(largest * 0.4)
    reach = 1.6
    best: tuple[float, ToneCurve] | None = None
    for _ in range(_ROUNDS):
        centre = (peak, slope)
        for to_peak, to_slope in product((-1, 0, 1), repeat=2):
            here = centre[0] + to_peak * reach, centre[1] + to_slope * reach
            top, b = float(np.exp(here[0])), float(np.exp(-here[1]))
            curve = ToneCurve(1 / top - b, b)
            error = _expected_error(curve, values)
            if best is None or error < best[0]:
                best, peak, slope = (error, curve), *here
        reach *= 0.7
    assert best is not None
    return best[1]


def _expected_error(curve: ToneCurve, values: FloatArray) -> float:
    """Mean squared error of displayed light (N,) that is stored in bytes."""
    stored = curve.to_stored(values)
    step = curve.slope(stored) / _STEPS
    near = np.maximum(curve.to_light(stored), 1e-6)
    # a difference as large as the rounding, because the display's curve is steep at black
    by_rounding = (display(near + step / 2) - display(np.maximum(near - step / 2, 0))) ** 2 / 12
    lost = (display(values) - display(near)) ** 2
    return float((by_rounding + lost).mean())
