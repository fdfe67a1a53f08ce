"""Curves of albedo over the view's cosine, between the four albedos that proxies store.

Four functions suffice for a material, but not the same ones for all: Fresnel's curve rises at
grazing views, sheen from steep ones on, and interference goes up and down, in each channel
differently. So they are those in which the material's own albedos vary most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]

# Cosines of the view whose albedos are stored. Flatter views count as the flattest one.
COSINES = (1.0, 0.45, 0.15, 0.03)
# Cosines of the views that curves are fitted to and tabulated for, in equal steps.
VIEW_COSINES = np.linspace(COSINES[-1], 1, 32)
# Powers of 1 - cosine: Fresnel's curve and the like. They count as albedos whose part is so many
# times the noise, lest noise chooses functions.
_POWERS, _OVER_NOISE = (0, 2, 5, 10), 8.0
# Noise that there is at the least: of bytes.
_LEAST_NOISE = 1e-3
_DIGITS = 5
_FLOOR = 0.01


@dataclass(frozen=True, eq=False)
class AlbedoCurves:
    """Weights of the stored albedos at every cosine."""

    table: Doubles
    """[3, points, 4]: by channel, in equal steps from the flattest cosine to 1."""
    powers: tuple[float, ...] = ()
    """Of older bundles: `table` [4, 4] has the weights in the coefficient of each power of
    1 - cosine."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlbedoCurves):
            return False
        return self.powers == other.powers and np.array_equal(self.table, other.table)

    def weights(self, cosine: Floats) -> Doubles:
        """[N, 3, 4]"""
        if self.powers:
            flat = 1 - np.clip(np.asarray(cosine, np.float64), COSINES[-1], 1)
            found = flat[:, None] ** np.array(self.powers) @ self.table
            return np.asarray(np.repeat(found[:, None], 3, axis=1), np.float64)
        return np.asarray(np.moveaxis(_between(self.table, cosine), 0, 1), np.float64)

    def albedo(self, stored: Doubles, cosine: Floats) -> Doubles:
        """Albedo [N, 3] of stored ones [N, 4, 3], at most 1."""
        seen = np.einsum("nck,nkc->nc", self.weights(cosine), stored)
        return np.asarray(np.clip(seen, 0, 1), np.float64)

    def mean_albedo(self, stored: Doubles) -> Doubles:
        """Of all views, each counted by its cosine."""
        cosine = np.linspace(0, 1, 1024)
        mean = np.einsum("v,vck->ck", cosine / cosine.sum(), self.weights(cosine))
        return np.asarray(np.clip(np.einsum("ck,nkc->nc", mean, stored), 0, 1), np.float64)


@dataclass(frozen=True)
class AlbedoBasis:
    """Functions whose sums are a material's albedos."""

    vectors: Doubles
    """Of shares of the usual light, orthonormal: [3, views, 4], by channel."""
    usual: Doubles
    """Median of all channels' albedo at VIEW_COSINES."""

    @classmethod
    def of(cls, albedo: Doubles) -> AlbedoBasis:
        """The largest singular vectors of albedos [N, views, 3]."""
        light = np.maximum(albedo.sum(2), _FLOOR)
        usual = np.median(light, axis=0)
        places = np.sqrt(((light / usual) ** 2).sum(1) * len(albedo))
        rows = albedo / usual[:, None] / places[:, None, None]
        powers = (1 - VIEW_COSINES[:, None]) ** _POWERS / usual[:, None]
        known = np.linalg.qr(powers)[0]
        squares = np.einsum("nvc,nwc->cvw", rows, rows)
        # what the largest vectors leave
        noise = np.linalg.eigvalsh(squares)[:, : -len(COSINES)].mean(1)
        noise = np.maximum(noise, _LEAST_NOISE**2)[:, None, None]
        squares += _OVER_NOISE**2 * noise * (known @ known.T)
        return cls(np.linalg.eigh(squares)[1][..., -len(COSINES) :], usual)

    @property
    def functions(self) -> Doubles:
        """[3, views, 4]"""
        return np.asarray(self.vectors * self.usual[:, None], np.float64)

    def fit(self, albedo: Doubles) -> Doubles:
        """Coefficients [N, 3, 4] of the nearest sums, by errors in shares of the usual light: a
        view that has little by chance must not weigh more."""
        shares = albedo / self.usual[:, None]
        return np.asarray(np.einsum("cvi,nvc->nci", self.vectors, shares), np.float64)

    def at_cosines(self, fitted: Doubles) -> Doubles:
        """Albedos [N, 4, 3] at COSINES."""
        return np.asarray(np.einsum("cki,nci->nkc", self._at_cosines(), fitted), np.float64)

    def curves(self) -> AlbedoCurves:
        """As manifests have them."""
        table = self.functions @ np.linalg.inv(self._at_cosines())
        return AlbedoCurves(table.round(_DIGITS))

    def _at_cosines(self) -> Doubles:
        return _between(self.functions, np.array(COSINES))


def _between(table: Doubles, cosine: Floats) -> Doubles:
    """[3, N, 4] of a table [3, points, 4], linear between its points."""
    last = table.shape[1] - 1
    flattest = COSINES[-1]
    place = (np.clip(np.asarray(cosine, np.float64), flattest, 1) - flattest) / (1 - flattest)
    first = np.minimum((place * last).astype(int), last - 1)
    part = (place * last - first)[:, None]
    return np.asarray((1 - part) * table[:, first] + part * table[:, first + 1], np.float64)
