"""The help menu: the manual, what works here, checks, and a report to send."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox, QToolButton

from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.style.icons import wear
from verdigris.ui.widgets.key_sheet import OPENS

_SELFTEST, _TROUBLE = "verdigris_selftest.json", "verdigris_report.zip"
_REPORTS = "Reports (*.zip *.json)"
_ASK = (
    "Leave names of people, of machines and of folders out of the report? Nothing is sent: the "
    "report is a file on this machine."
)


class HelpButton(QToolButton):
    """A button with a menu."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        wear(self, "help")
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._model = model
        self.setToolTip("Opens the manual, tests the plug-in, or saves a report of trouble")
        self.setAccessibleName("Help")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        manual = menu.addAction("Manual")
        manual.setEnabled(model.host.manual.is_file())
        manual.triggered.connect(lambda _: self._open_page(model.host.manual))
        page = model.trouble.page
        self.troubleshooting = menu.addAction("Troubleshooting")
        self.troubleshooting.setEnabled(page.is_file())
        self.troubleshooting.triggered.connect(lambda _: self._open_page(page))
        self.features = menu.addMenu("Features")
        self.features.setToolTipsVisible(True)
        self.features.aboutToShow.connect(self.list_features)
        self.keys = menu.addAction(f"Keys ({OPENS})")
        self.keys.setToolTip("All keys of the panel on one sheet")
        menu.addSeparator()
        self.selftest = menu.addAction("Self-test…")
        # for plain files there is no application to test
        self.selftest.setEnabled(model.host.can_paint)
        self.selftest.triggered.connect(lambda _: self._choose_report())
        self.check = menu.addAction("Check in this window…")
        self.check.setToolTip("Docks, closes, paints and undoes in a scene of its own; asks first")
        self.check.setEnabled(model.host.can_check_window)
        self.check.triggered.connect(lambda _: model.selftest.check_window())
        self.save = menu.addAction("Save a report…")
        self.save.setToolTip("What is here, the last log and the document, in one file")
        self.save.triggered.connect(lambda _: self._save_report())
        self.setMenu(menu)
        model.trouble.explained.connect(self._explain)
        self.destroyed.connect(lambda *_: model.trouble.explained.disconnect(self._explain))
        self.explanation: QMessageBox | None = None

    def _explain(self, text: str) -> None:
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setWindowTitle("Verdigris")
        box.setTextFormat(Qt.TextFormat.MarkdownText)
        box.setText(text)
        self.explanation = box
        # does not wait: a bake goes on
        box.open()

    def list_features(self) -> None:
        """Lists all features. Those that are off are grey, with the reason."""
        self.features.clear()
        for name, why in self._model.trouble.probe().features.items():
            action = self.features.addAction(f"{name}: {why}" if why else name)
            action.setEnabled(not why)
            action.setToolTip(why)

    def _open_page(self, page: Path) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(page)))

    def _choose_report(self) -> None:
        path, _ = QFileDialog.getSaveFileName(
            self, "Save the report of the self-test", _SELFTEST, "JSON (*.json)"
        )
        if path:
            self._model.selftest.start(Path(path if path.endswith(".json") else f"{path}.json"))

    def _save_report(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, "Save a report", _TROUBLE, _REPORTS)
        if not path:
            return
        buttons = QMessageBox.StandardButton
        answer = QMessageBox.question(
            self, "Verdigris", _ASK, buttons.Yes | buttons.No | buttons.Cancel, buttons.Yes
        )
        if answer != buttons.Cancel:
            self._model.trouble.save(Path(path), is_redacted=answer == buttons.Yes)
