"""Presets of the artist's own: a name to save the present choices under, and files."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QToolButton, QWidget

from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.settings.preset_cards import FILES, PresetCards
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import HALF


class PresetTools(QWidget):
    """Saves the present choices as a preset of one's own, and imports one."""

    def __init__(self, model: PanelModel, cards: PresetCards) -> None:
        super().__init__()
        self._model, self._cards = model, cards
        self.name = QLineEdit()
        self.name.setPlaceholderText("Name of a preset of your own")
        self.name.setAccessibleName("Name of a preset of your own")
        self.name.setToolTip("These settings get a card of this name beside the presets")
        self.save = _tool("Save", "keep", "Saves these settings as a preset of this name")
        self.take = _tool("Import…", "import", "Reads a preset from a file")
        self.undelete = _tool("Undo delete", "undo", "Brings back the preset that was deleted last")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(HALF)
        row.addWidget(self.name, 1)
        for button in (self.save, self.take, self.undelete):
            row.addWidget(button)
        self.save.clicked.connect(lambda _: self._save())
        self.name.returnPressed.connect(self._save)
        self.name.textChanged.connect(lambda _: self._show())
        self.take.clicked.connect(lambda _: self._import())
        self.undelete.clicked.connect(lambda _: cards.change(lambda own: own.undelete()))
        bind(self, model.state.own_presets.changed, self._show)

    def _save(self) -> None:
        name, choices = self.name.text().strip(), self._model.state.choices
        if name and self._cards.change(lambda own: own.save(name, choices)):
            self.name.clear()

    def _import(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Import", "", FILES)
        if path:
            self._cards.change(lambda own: own.take(Path(path)))

    def _show(self) -> None:
        own = self._model.state.own_presets
        name = self.name.text().strip()
        self.save.setEnabled(bool(name))
        self.save.setText("Replace" if own.find(name) else "Save")
        self.undelete.setVisible(own.deleted is not None)


def _tool(text: str, icon: str, tip: str) -> QToolButton:
    button = QToolButton(text=text)
    wear(button, icon)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    button.setToolTip(tip)
    return button
