"""The map of painted weights, with a brush and undo."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verdigris.core.hosts.host import BRUSH_WEIGHT, NORMAL_WEIGHT
from verdigris.ui.signals import Signal

Floats = NDArray[np.float32]
# A map with its undo and redo steps.
_Stored = tuple[Floats, list[Floats], list[Floats]]

SIZE = 128
_MOST_UNDO = 40
MOST_UNDO_BYTES = 1 << 29


@dataclass(frozen=True)
class Brush:
    """The settings of the brush."""

    radius: float = 0.06
    """The radius of the brush, as a share of the texture's width."""
    weight: float = BRUSH_WEIGHT
    """The weight to paint. 1 is normal, 4 is four times as important, 0 excludes a place."""
    strength: float = 0.5
    """How much of the weight one dab applies, 0 to 1."""
    erases: bool = False
    """Paints the normal weight, 1."""


class WeightMap:
    """Weights over the unit square, row 0 at v = 0. The brush wraps around the edges."""

    def __init__(self, size: int = SIZE) -> None:
        self.values: Floats = np.full((size, size), NORMAL_WEIGHT, np.float32)
        self.changed = Signal()
        self.moved = Signal()
        """Maps have new owners: the owners that a map was taken from or given to."""
        self._undo: list[Floats] = []
        self._redo: list[Floats] = []
        self._is_stroking = self._needs_undo_step = False
        self._owner: Hashable = None
        self._others: dict[Hashable, _Stored] = {}

    @property
    def owner(self) -> Hashable:
        """Whose map is shown."""
        return self._owner

    @property
    def is_stroking(self) -> bool:
        return self._is_stroking

    def stored(self, owner: Hashable) -> tuple[Floats, list[Floats]] | None:
        """The map of an owner and its undo steps, if there is one."""
        found = self._current if owner == self._owner else self._others.get(owner)
        return found[:2] if found is not None else None

    def restore(self, owner: Hashable, values: Floats, undo: list[Floats]) -> None:
        """Takes over the map of an owner, and its undo steps, from an earlier session."""
        if owner != self._owner:
            self._others[owner] = values, undo, []
            return
        self.values, self._undo, self._redo = values, undo, []
        self.changed.emit()

    def switch_owner(self, owner: Hashable) -> None:
        """Shows the map of another owner. Each owner has its own map and its own undo steps."""
        if owner == self._owner:
            return
        was_touched = self.is_touched
        self._others[self._owner] = self._current
        self._owner = owner
        plain = np.full((SIZE, SIZE), NORMAL_WEIGHT, np.float32)
        self.values, self._undo, self._redo = self._others.pop(owner, (plain, [], []))
        self._is_stroking = self._needs_undo_step = False
        if was_touched or self.is_touched:
            self.changed.emit()

    def rename_owners(self, names: Mapping[Hashable, Hashable]) -> None:
        """Moves maps to new owners."""
        moved = [each for each in names if self.stored(each) is not None]
        self._owner = names.get(self._owner, self._owner)
        self._others = {names.get(owner, owner): stored for owner, stored in self._others.items()}
        self.moved.emit([*moved, *(names[each] for each in moved)])

    def copy_owners(self, names: Mapping[Hashable, Hashable]) -> bool:
        """Copies maps to owners that do not have one. Returns whether anything was copied."""
        everyone = {**self._others, self._owner: self._current}
        found = {
            new: (everyone[old][0].copy(), list(everyone[old][1]), list(everyone[old][2]))
            for old, new in names.items()
            if _is_touched(everyone.get(old)) and not _is_touched(everyone.get(new))
        }
        self._others.update(found)
        self.moved.emit([*found])
        return bool(found)

    @property
    def _current(self) -> _Stored:
        return self.values, self._undo, self._redo

    @property
    def is_touched(self) -> bool:
        """Whether the map has weights that differ, or steps to undo or to redo."""
        return _is_touched(self._current)

    @property
    def is_constant(self) -> bool:
        """Whether all weights are equal."""
        return _is_constant(self.values)

    @property
    def painted(self) -> float:
        """The share of the texture with another weight than the normal one."""
        return np.count_nonzero(self.values != NORMAL_WEIGHT) / self.values.size

    @property
    def excluded(self) -> float:
        """The share of the texture with the weight 0, which is not trained."""
        return 1.0 - np.count_nonzero(self.values) / self.values.size

    @property
    def can_undo(self) -> bool:
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        return bool(self._redo)

    def begin_stroke(self) -> None:
        """Begins one undo step for all dabs until `end_stroke`. A stroke without dabs makes no
        step."""
        if not self._is_stroking:
            self._is_stroking = self._needs_undo_step = True

    def dab(self, u: float, v: float, brush: Brush) -> None:
        """Applies the brush once, softer towards its edge."""
        if self._needs_undo_step:
            self._save_undo()
            self._needs_undo_step = False
        height, width = self.values.shape
        # an imported map can have texels larger than the brush
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
        self._is_stroking = self._needs_undo_step = False

    def fill(self, weight: float) -> None:
        """Sets all weights."""
        self.replace(np.full_like(self.values, weight))

    def invert(self) -> None:
        """Swaps high and low weights."""
        self.replace(self.values.max() + self.values.min() - self.values)

    def replace(self, values: Floats) -> None:
        """Takes over a map with any size, as one undo step."""
        self._save_undo()
        self.values = np.array(values, np.float32)
        self._needs_undo_step = self._is_stroking
        self.changed.emit()

    def undo(self) -> None:
        self._swap(self._undo, self._redo)

    def redo(self) -> None:
        self._swap(self._redo, self._undo)

    def _save_undo(self) -> None:
        self._undo.append(self.values.copy())
        del self._undo[: -max(1, min(_MOST_UNDO, MOST_UNDO_BYTES // self.values.nbytes))]
        self._redo.clear()

    def _swap(self, source: list[Floats], target: list[Floats]) -> None:
        if source:
            target.append(self.values)
            # a copied map shares its undo steps
            self.values = source.pop().copy()
            # the rest of the stroke gets an undo step of its own
            self._needs_undo_step = self._is_stroking
            self.changed.emit()


def _is_constant(values: Floats) -> bool:
    return bool((values == values.flat[0]).all())


def _is_touched(stored: _Stored | None) -> bool:
    return stored is not None and (bool(stored[1] or stored[2]) or not _is_constant(stored[0]))


def _within(reach: float, place: float, count: int) -> tuple[NDArray[np.int64], Floats]:
    """The texels of a repeating row within reach of a place, and their distances."""
    away = np.abs((np.arange(count) + 0.5) / count - place % 1.0)
    away = np.minimum(away, 1 - away)
    near = np.flatnonzero(away < reach)
    return near, away[near]
