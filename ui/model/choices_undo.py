"""Undo and redo of the artist's choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.ui.model.choices import BakeChoices
from verdigris.ui.signals.signal import Signal

if TYPE_CHECKING:
    from verdigris.ui.model.panel_model import PanelModel

_MOST = 100


class ChoicesUndo:
    """Follows the choices of a model. All between `begin` and `end` is one step."""

    def __init__(self, model: PanelModel) -> None:
        self._model = model
        self._known = model.choices
        self._past: list[BakeChoices] = []
        self._future: list[BakeChoices] = []
        self._is_held = False
        self.changed = Signal()
        model.choices_changed.connect(self._note)

    @property
    def can_undo(self) -> bool:
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        return bool(self._future)

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
        now = self._model.choices
        if self._is_held or now == self._known:
            return
        self._past.append(self._known)
        del self._past[:-_MOST]
        self._future.clear()
        self._known = now
        self.changed.emit()

    def _swap(self, source: list[BakeChoices], target: list[BakeChoices]) -> None:
        # a bake has the choices that it was begun with
        if not source or self._model.is_busy:
            return
        target.append(self._known)
        self._known = source.pop()
        self._model.set_choices(**vars(self._known))
        self.changed.emit()
