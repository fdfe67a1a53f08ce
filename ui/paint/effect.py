"""The effect of paint: the error inside and outside it, against the bake before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verdigris.core.hosts.host import NORMAL_WEIGHT

Floats = NDArray[np.float32]

# The smallest share of the texture whose mean error is a figure.
_LEAST_SHARE = 0.002
# Bakes whose lengths differ by more cannot be compared.
_MOST_LONGER = 1.1


@dataclass(frozen=True)
class Measured:
    """The error by place at the end of a bake, and how it was made."""

    key: object
    """Everything but the weights: bakes with the same key can be compared."""
    errors: Floats
    """Mean error by place, row 0 at v = 0. Bakes with the same key have the same samples."""
    weights: Floats
    steps: int
    """Steps of training. A bake that ends by itself ends at about the same step."""

    @property
    def is_painted(self) -> bool:
        return bool(np.ptp(self.weights))


@dataclass(frozen=True)
class Effect:
    """Changes of the error, as shares of the error before."""

    inside: float
    outside: float
    was_painted: bool
    """Whether the bake before had weights, too."""

    @property
    def text(self) -> str:
        """`Inside -34%, outside +6%`."""
        before = "the bake before" if self.was_painted else "a bake without paint"
        return f"Inside {self.inside:+.0%}, outside {self.outside:+.0%}, against {before}"


def effect_of(before: Measured | None, after: Measured | None) -> Effect | None:
    """The effect of the weights of the later bake; None without two bakes that can be compared."""
    if before is None or after is None or before.key != after.key:
        return None
    if before.errors.shape != after.errors.shape:
        return None
    if not 1 / _MOST_LONGER <= after.steps / max(before.steps, 1) <= _MOST_LONGER:
        return None
    painted = painted_share(after.weights, after.errors.shape)
    if not _LEAST_SHARE < painted.mean() < 1 - _LEAST_SHARE:
        return None
    changes = []
    for share in (painted, 1 - painted):
        old, new = (float((share * each.errors).sum()) for each in (before, after))
        if not old > 0:
            return None
        changes.append(new / old - 1)
    return Effect(*changes, was_painted=before.is_painted)


class Effects:
    """The last bake of each kind, and the effect of the latest paint."""

    def __init__(self) -> None:
        self._plain: Measured | None = None
        self._last: Measured | None = None
        self.found: Effect | None = None

    def note(self, after: Measured) -> None:
        """Compares a bake that has ended with one without paint, or with the one before."""
        self.found = effect_of(self._plain, after) or effect_of(self._last, after)
        self._last = after
        if not after.is_painted:
            self._plain = after

    def can_compare(self, key: object) -> bool:
        """Whether a bake with this key could be compared with another one."""
        return any(each is not None and each.key == key for each in (self._plain, self._last))


def painted_share(weights: Floats, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The share of each texel of another map that has more than the normal weight."""
    rows, columns = shape[:2]
    marked = (weights > NORMAL_WEIGHT).astype(np.float64)
    height, width = marked.shape
    # a map of any size: each of its texels is counted where its centre is
    row = ((np.arange(height) + 0.5) / height * rows).astype(np.int64)
    column = ((np.arange(width) + 0.5) / width * columns).astype(np.int64)
    if height < rows or width < columns:
        row = ((np.arange(rows) + 0.5) / rows * height).astype(np.int64)
        column = ((np.arange(columns) + 0.5) / columns * width).astype(np.int64)
        return marked[np.ix_(row, column)]
    total, count = np.zeros((rows, columns)), np.zeros((rows, columns))
    np.add.at(total, np.ix_(row, column), marked)
    np.add.at(count, np.ix_(row, column), 1.0)
    return total / np.maximum(count, 1.0)
