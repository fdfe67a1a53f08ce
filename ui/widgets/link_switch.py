"""The switch of the live link, and a bar with its address while it is on."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QVBoxLayout, QWidget

from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind, blocked_signals
from verdigris.ui.qt.text_widgets import Line
from verdigris.ui.signals import INFO
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import HALF

_OFF = "Shows the material in a running game or page while it bakes, and when it is finished"


class LinkSwitch(QToolButton):
    """A button that stays down while the link is on."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._game = model.state.game
        wear(self, "link")
        self.setCheckable(True)
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Live link")
        self.clicked.connect(model.switch_link)
        bind(self, self._game.changed, self._show)

    def _show(self) -> None:
        with blocked_signals(self):
            self.setChecked(self._game.is_on)
        self.setToolTip(f"{self._game.text}. Click to end it." if self._game.is_on else _OFF)


class LinkBar(QWidget):
    """Hidden without a link."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._game, self._notices = model.state.game, model.state.notices
        self.text = Line()
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.address = QLineEdit()
        self.address.setReadOnly(True)
        self.address.setAccessibleName("Address of the live link")
        self.address.setToolTip(
            "Programs connect to this address. It holds a password: who knows it sees the material."
        )
        self.copy = QToolButton(text="Copy")
        self.copy.setToolTip("Copies the address, to paste it into a game")
        self.page = QToolButton(text="See in browser")
        self.page.setToolTip("Opens a page that shows the material, without a game")
        for button in (self.copy, self.page):
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.copy.clicked.connect(lambda _=False: self._copy())
        self.page.clicked.connect(lambda _=False: open_page(self._game.page))
        self.row = QWidget()
        row = QHBoxLayout(self.row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(HALF)
        row.addWidget(self.address, 1)
        row.addWidget(self.copy)
        row.addWidget(self.page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(HALF)
        column.addWidget(self.text)
        column.addWidget(self.row)
        bind(self, self._game.changed, self._show)

    def _show(self) -> None:
        game = self._game
        self.setHidden(not game.is_on)
        self.text.setText(game.text)
        self.row.setHidden(not game.address)
        if self.address.text() != game.address:
            self.address.setText(game.address)
            self.address.setCursorPosition(0)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._game.address)
        self._notices.add(INFO, "Copied: the address of the live link")


def open_page(address: str) -> None:
    QDesktopServices.openUrl(QUrl(address))
