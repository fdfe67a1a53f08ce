"""The page with the versions of the material's bundle."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.bundle.history import MOST_KEPT, keep_versions, kept_versions
from verdigris.ui.cards.version_card import VersionCard
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.scrub import WholeBox
from verdigris.ui.qt.text_widgets import Line
from verdigris.ui.signals import ERROR
from verdigris.ui.style.metrics import GAP

_NOTHING = (
    "This material has no bakes yet. Each bake is kept here, and a new one does not replace it."
)


class HistoryPage(QWidget):
    """Cards of the versions, the present one first."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self._seen: object = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        self.nothing = Line()
        self.nothing.setText(_NOTHING)
        column.addWidget(self.nothing)
        self.undo_row = QWidget()
        row = QHBoxLayout(self.undo_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(QLabel("A version is in the trash."), 1)
        self.undo = QPushButton("&Undo delete")
        self.undo.setToolTip("Brings back the version that was deleted last")
        self.undo.clicked.connect(lambda _: model.state.history.undelete())
        row.addWidget(self.undo)
        column.addWidget(self.undo_row)
        self._cards = QVBoxLayout()
        self._cards.setSpacing(GAP)
        column.addLayout(self._cards)
        row = QHBoxLayout()
        keep = QLabel("&Keep")
        self.kept = WholeBox()
        self.kept.setRange(1, MOST_KEPT)
        self.kept.setValue(kept_versions())
        self.kept.setSuffix(" versions")
        self.kept.setKeyboardTracking(False)
        self.kept.setToolTip(
            "Older versions are removed after the next bake. The best one and pinned ones stay. "
            "The number applies to all materials on this machine."
        )
        keep.setBuddy(self.kept)
        self.kept.valueChanged.connect(self._keep)
        row.addWidget(keep)
        row.addWidget(self.kept)
        row.addStretch(1)
        column.addLayout(row)
        self.cards: list[VersionCard] = []
        bind(self, model.state.history.changed, self._show)
        bind(self, model.link.state_changed, self._show)

    def _keep(self, count: int) -> None:
        try:
            keep_versions(count)
        except VerdigrisError as failure:
            self._model.state.notices.add(ERROR, str(failure))

    def _show(self) -> None:
        model, history = self._model, self._model.state.history
        # cards that are the same stay, with the focus in them
        seen = (history.versions, history.shown, history.deleted, model.link.is_busy)
        if seen == self._seen:
            return
        self._seen = seen
        focus = self._focus()
        for card in self.cards:
            self._cards.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.cards = [VersionCard(model, version) for version in history.versions]
        for card in self.cards:
            self._cards.addWidget(card)
            card.show()
        self.nothing.setVisible(not self.cards)
        self.undo_row.setVisible(history.deleted is not None)
        self._restore_focus(focus)

    def _focus(self) -> tuple[str, str] | None:
        """The version and the button that have the focus."""
        for card in self.cards:
            for name, button in card.buttons.items():
                if button.hasFocus():
                    return card.version.key, name
        return None

    def _restore_focus(self, focus: tuple[str, str] | None) -> None:
        for card in self.cards:
            if focus is not None and card.version.key == focus[0]:
                card.buttons[focus[1]].setFocus()
