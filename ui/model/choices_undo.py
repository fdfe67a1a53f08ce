"""Undo and redo of the artist's choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import groupby

from verdigris.ui.model.panel_state import PanelState
from verdigris.ui.model.parts.choices import BakeChoices
from verdigris.ui.model.worker_link import WorkerLink
from verdigris.ui.signals import Signal

_MOST = 100


class ChoicesUndo:
    """Follows the choices. All changes between `begin` and `end` are one step."""

    def __init__(
        self, state: PanelState, link: WorkerLink, set_choices: Callable[..., None]
    ) -> None:
        self._state, self._link, self._set_choices = state, link, set_choices
        self._known, self._material = state.choices, state.current
        self._past: list[BakeChoices] = []
        self._future: list[BakeChoices] = []
        self._is_held = False
        self.changed = Signal()
        state.choices_changed.connect(self._note)

    @property
    def can_undo(self) -> bool:
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        return bool(self._future)

    def forget(self) -> None:
        """The present choices are those to begin with."""
        self._known, self._material = self._state.choices, self._state.current
        self._past.clear()
        self._future.clear()

    def begin(self) -> None:
        self._is_held = True

    def end(self) -> None:
        self._is_held = False
        self._note()

    def undo(self) -> None:
        self._swap(self._past, self._future)

    def redo(self) -> None:
        self._swap(self._future, self._past)

    def _note(self) -> None:
        now = self._state.choices
        if self._material != self._state.current:
            # each material has its own live inputs, which a step of another material does not
            # change
            self._material = self._state.current
            self._known = replace(self._known, live=now.live)
            self._past = _without_repeats([*self._with_live(self._past), self._known])[:-1]
            self._future = _without_repeats([self._known, *self._with_live(self._future)[::-1]])
            self._future = self._future[:0:-1]
        if self._is_held or now == self._known:
            return
        self._past.append(self._known)
        del self._past[:-_MOST]
        self._future.clear()
        self._known = now
        self.changed.emit()

    def _with_live(self, steps: list[BakeChoices]) -> list[BakeChoices]:
        return [replace(each, live=self._known.live) for each in steps]

    def _swap(self, source: list[BakeChoices], target: list[BakeChoices]) -> None:
        # a bake has the choices that it was begun with
        if not source or self._link.is_busy:
            return
        target.append(self._known)
        self._known = source.pop()
        self._set_choices(**vars(self._known))
        self.changed.emit()


def _without_repeats(steps: list[BakeChoices]) -> list[BakeChoices]:
    """Steps without those that change nothing."""
    return [each for each, _ in groupby(steps)]
