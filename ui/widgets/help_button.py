"""The help menu: the manual, and the self-test of the application."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton

from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.style.icons import wear

_REPORT = "verdigris_selftest.json"


class HelpButton(QToolButton):
    """A button with a menu."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        wear(self, "help")
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._model = model
        self.setToolTip("Opens the manual, or tests the plug-in in this application")
        self.setAccessibleName("Help")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        manual = menu.addAction("Manual")
        manual.setEnabled(model.host.manual.is_file())
        manual.triggered.connect(lambda _: self._open_manual())
        self.selftest = menu.addAction("Self-test…")
        # for plain files there is no application to test
        self.selftest.setEnabled(model.host.can_paint)
        self.selftest.triggered.connect(lambda _: self._choose_report())
        self.setMenu(menu)

    def _open_manual(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._model.host.manual)))

    def _choose_report(self) -> None:
        path, _ = QFileDialog.getSaveFileName(
            self, "Save the report of the self-test", _REPORT, "JSON (*.json)"
        )
        if path:
            self._model.selftest.start(Path(path if path.endswith(".json") else f"{path}.json"))
