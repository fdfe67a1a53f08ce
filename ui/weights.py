"""Painted weights: how much each place of the texture matters, with a brush and undo."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verdigris.core.hosts.host import NORMAL_WEIGHT
from verdigris.ui.signal import Signal

Floats = NDArray[np.float32]
# A map, and what undoes and makes again its last strokes.
_Kept = tuple[Floats, list[Floats], list[Floats]]

SIZE = 128
LARGEST_WEIGHT = 8.0
_MOST_UNDO = 40
_MOST_UNDO_BYTES = 1 << 29


@dataclass(frozen=True)
class Brush:
    """What a stroke does."""

    radius: float = 0.06
    """Of the brush, as a share of the texture's width."""
    weight: float = 4.0
    """What it paints towards: 1 is normal, 0 leaves a place out, more matters more."""
    strength: float = 0.5
    """How far one dab goes towards it, 0 to 1."""
    erases: bool = False
    """Paint back to normal."""


class WeightMap:
    """Weights over the unit square, row 0 at v = 0. The texture repeats, and so does the brush."""

    def __init__(self, size: int = SIZE) -> None:
        self.values: Floats = np.full((size, size), NORMAL_WEIGHT, np.float32)
        self.changed = Signal()
        self._undo: list[Floats] = []
        self._redo: list[Floats] = []
        self._is_stroking = self._is_new_stroke = False
        self._owner: Hashable = None
        self._others: dict[Hashable, _Kept] = {}

    def belong_to(self, owner: Hashable) -> None:
        """Changes to the map of another material: each has one of its own, and its own undo."""
        if owner == self._owner:
            return
        was_touched = self._is_touched
        self._others[self._owner] = self._mine
        self._owner = owner
        plain = np.full((SIZE, SIZE), NORMAL_WEIGHT, np.float32)
        self.values, self._undo, self._redo = self._others.pop(owner, (plain, [], []))
        self._is_stroking = self._is_new_stroke = False
        if was_touched or self._is_touched:
            self.changed.emit()

    def rename_owners(self, names: Mapping[Hashable, Hashable]) -> None:
        """Maps stay with owners that are called otherwise from now on."""
        self._owner = names.get(self._owner, self._owner)
        self._others = {names.get(owner, owner): kept for owner, kept in self._others.items()}

    def copy_owners(self, names: Mapping[Hashable, Hashable]) -> bool:
        """Owners have what others have, too; whether there was anything. What they have painted
        themselves is theirs."""
        everyone = {**self._others, self._owner: self._mine}
        found = {
            new: (everyone[old][0].copy(), list(everyone[old][1]), list(everyone[old][2]))
            for old, new in names.items()
            if _is_touched(everyone.get(old)) and not _is_touched(everyone.get(new))
        }
        self._others.update(found)
        return bool(found)

    @property
    def _mine(self) -> _Kept:
        return self.values, self._undo, self._redo

    @property
    def _is_touched(self) -> bool:
        return _is_touched(self._mine)

    @property
    def is_plain(self) -> bool:
        """Whether every place matters the same."""
        return _is_plain(self.values)

    @property
    def left_out(self) -> float:
        """The share of the texture that is not trained."""
        return 1.0 - np.count_nonzero(self.values) / self.values.size

    @property
    def can_undo(self) -> bool:
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        return bool(self._redo)

    def begin_stroke(self) -> None:
        """All dabs until `end_stroke` are one step of undo; without one there is none."""
        if not self._is_stroking:
            self._is_stroking = self._is_new_stroke = True

    def dab(self, u: float, v: float, brush: Brush) -> None:
        """One touch of the brush, soft at its rim."""
        if self._is_new_stroke:
            self._remember()
            self._is_new_stroke = False
        height, width = self.values.shape
        # a map that was read can have texels larger than the brush
        radius = max(brush.radius, 1.0 / min(height, width))
        rows, dv = _within(radius, v, height)
        columns, du = _within(radius, u, width)
        distance = np.sqrt(dv[:, None] ** 2 + du[None, :] ** 2) / radius
        soft = np.clip(1.0 - distance, 0.0, 1.0)
        share = brush.strength * soft * soft * (3.0 - 2.0 * soft)
        goal = NORMAL_WEIGHT if brush.erases else brush.weight
        part = np.ix_(rows, columns)
        self.values[part] += share * (goal - self.values[part])
        self.changed.emit()

    def end_stroke(self) -> None:
        self._is_stroking = self._is_new_stroke = False

    def fill(self, weight: float) -> None:
        """The same weight everywhere."""
        self.replace(np.full_like(self.values, weight))

    def invert(self) -> None:
        """What mattered most matters least, and the other way round."""
        self.replace(self.values.max() + self.values.min() - self.values)

    def replace(self, values: Floats) -> None:
        """Another map, of any size, in one step of undo."""
        self._remember()
        self.values = np.array(values, np.float32)
        self._is_new_stroke = self._is_stroking
        self.changed.emit()

    def undo(self) -> None:
        self._swap(self._undo, self._redo)

    def redo(self) -> None:
        self._swap(self._redo, self._undo)

    def _remember(self) -> None:
        self._undo.append(self.values.copy())
        del self._undo[: -max(1, min(_MOST_UNDO, _MOST_UNDO_BYTES // self.values.nbytes))]
        self._redo.clear()

    def _swap(self, source: list[Floats], target: list[Floats]) -> None:
        if source:
            target.append(self.values)
            # a copy of this map may go back to the same one
            self.values = source.pop().copy()
            # what is painted after it, in the same stroke, is a step of its own
            self._is_new_stroke = self._is_stroking
            self.changed.emit()


def _is_plain(values: Floats) -> bool:
    return bool((values == values.flat[0]).all())


def _is_touched(kept: _Kept | None) -> bool:
    return kept is not None and (bool(kept[1] or kept[2]) or not _is_plain(kept[0]))


def _within(reach: float, place: float, count: int) -> tuple[NDArray[np.int64], Floats]:
    """The texels of a row that repeats within reach of a place, and how far away they are."""
    away = np.abs((np.arange(count) + 0.5) / count - place % 1.0)
    away = np.minimum(away, 1 - away)
    near = np.flatnonzero(away < reach)
    return near, away[near]
