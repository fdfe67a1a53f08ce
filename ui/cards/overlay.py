"""Cards in front of the viewport. They cover a part of it, so that no other widget moves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QInputDialog,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from verdigris.core.hosts.own_files import SUFFIXES
from verdigris.ui.first_run import SelftestOffer, SetUpBox
from verdigris.ui.model.cards import COPY_REPORT, LOCATE_FOLDER, OPEN_FILE, Card, cards_of
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.flow_layout import FlowLayout
from verdigris.ui.qt.text_widgets import Line
from verdigris.ui.signals import ERROR, INFO, WARNING
from verdigris.ui.status.banner import Banner
from verdigris.ui.style.colours import colours_for
from verdigris.ui.style.icons import IconLabel, wear
from verdigris.ui.style.metrics import FIELD, GAP, HALF, bold
from verdigris.ui.style.sheet import wear_card

_MARGIN = 8
_MOST_WIDTH = 460
_MATERIAL_FILES = f"Materials ({' '.join(f'*{suffix}' for suffix in SUFFIXES)})"


class CardBox(QFrame):
    """One card: a text, a detail, and its buttons."""

    def __init__(self, card: Card, request: Callable[[str], None], hide: Callable[[], None]):
        super().__init__()
        self.card = card
        self.setObjectName("card")
        self.setAccessibleName(card.text)
        self.text, self.detail = Line(), Line()
        self.text.setText(card.text)
        self.detail.setText(card.detail)
        self.detail.setToolTip(card.whole)
        self.detail.setVisible(bool(card.detail))
        self.text.setFont(bold(self.text))
        self.icon = IconLabel(FIELD)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.text.setContentsMargins(0, HALF, 0, 0)
        self.hider = QToolButton()
        wear(self.hider, "cross")
        self.hider.setAutoRaise(True)
        self.hider.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.hider.setToolTip("Hides this card")
        self.hider.setAccessibleName(f"Hide: {card.text}")
        self.hider.clicked.connect(lambda _: hide())
        grid = QVBoxLayout(self)
        grid.setContentsMargins(GAP, GAP, HALF, GAP)
        grid.setSpacing(HALF)
        top = QHBoxLayout()
        top.setSpacing(GAP)
        top.addWidget(self.icon, 0, Qt.AlignmentFlag.AlignTop)
        top.addWidget(self.text, 1)
        top.addWidget(self.hider, 0, Qt.AlignmentFlag.AlignTop)
        grid.addLayout(top)
        grid.addWidget(self.detail)
        self.buttons: list[QPushButton] = []
        if card.actions:
            row = QWidget()
            flow = FlowLayout(row)
            for action in card.actions:
                button = QPushButton(action.text.replace("&", "&&"))
                button.setToolTip(action.tip)
                do = action.do
                button.clicked.connect(
                    lambda _=False, do=do: request(do) if isinstance(do, str) else do()
                )
                flow.addWidget(button)
                self.buttons.append(button)
            grid.addWidget(row)
            if card.steps:
                self._add_steps(flow, grid)
        self._colour()

    def _add_steps(self, flow: FlowLayout, grid: QVBoxLayout) -> None:
        """A button that shows how to export by hand."""
        self.steps = Line()
        self.steps.setText("\n".join(f"• {step}" for step in self.card.steps))
        self.steps.hide()
        show = QPushButton("How to export one")
        show.setCheckable(True)
        show.setToolTip("Shows how to write this material into a file in the application")
        show.toggled.connect(self.steps.setVisible)
        flow.addWidget(show)
        self.buttons.append(show)
        grid.addWidget(self.steps)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._colour()

    def _colour(self) -> None:
        colours = colours_for(self)
        severity = self.card.severity
        edge = colours.bad if severity == ERROR else colours.middling
        edge = edge if severity in (ERROR, WARNING) else colours.smooth
        icon = {ERROR: "error", WARNING: "warning"}.get(severity, "info")
        self.icon.show_icon(icon, edge)
        wear_card(self, "card", edge)


class CardOverlay(QWidget):
    """The cards at the lower edge of a widget, below offers and the last message."""

    def __init__(self, model: PanelModel, over: QWidget) -> None:
        super().__init__(over)
        self._model, self._over = model, over
        self._shown: list[Card] = []
        self.boxes: list[CardBox] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(_MARGIN)
        self.set_up, self.selftest = SetUpBox(model), SelftestOffer(model)
        self.banner = Banner(model)
        self._messages = (self.set_up, self.selftest, self.banner)
        for message in self._messages:
            self._column.addWidget(message)
            message.installEventFilter(self)
        over.installEventFilter(self)
        for signal in (
            model.state.report_changed,
            model.state.failure_changed,
            model.state.changes.changed,
            model.state.history.changed,
            model.link.state_changed,
            model.state.bake.progress_changed,
        ):
            bind(self, signal, self._show)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        types = QEvent.Type
        if event.type() in (types.ShowToParent, types.HideToParent, types.Resize):
            self._place()
        return False

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            # a text has wrapped into more lines
            self._place()
        return super().event(event)

    def _show(self) -> None:
        current = self._model.state.current
        cards = [
            each
            for each in cards_of(self._model)
            if (current, each.key) not in self._model.state.hidden_cards
        ]
        if [_look(card) for card in cards] == [_look(card) for card in self._shown]:
            return
        had_focus = any(
            box.isAncestorOf(self.focusWidget()) for box in self.boxes if self.focusWidget()
        )
        for box in self.boxes:
            self._column.removeWidget(box)
            box.setParent(None)
            box.deleteLater()
        self._shown = cards
        self.boxes = [
            CardBox(card, self._request, lambda key=card.key: self._hide(key)) for card in cards
        ]
        before = self._over
        for box in self.boxes:
            self._column.addWidget(box)
            box.show()
            for button in (*box.buttons, box.hider):
                QWidget.setTabOrder(before, button)
                before = button
        self._place()
        if had_focus:
            self._over.setFocus()

    def _hide(self, key: str) -> None:
        self._model.state.hidden_cards.add((self._model.state.current, key))
        self._show()

    def _request(self, name: str) -> None:
        if name == LOCATE_FOLDER:
            found = QFileDialog.getExistingDirectory(self, "Locate the folder of the textures")
            if found:
                self._model.locate(found)
        elif name == OPEN_FILE:
            self._open_file()
        elif name == COPY_REPORT and self._model.state.failure is not None:
            QGuiApplication.clipboard().setText(self._model.state.failure.report)
            self._model.state.notices.add(INFO, "The report is copied: paste it into a message.")

    def _open_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self, "Open the file of this material", "", _MATERIAL_FILES
        )
        names = self._model.documents.take_file(Path(path)) if path else ()
        if names:
            # none has the name of the material
            current = self._model.state.current
            which = f"Which one is {current.name}?" if current else "Which one is to be baked?"
            label = f"{Path(path).name} has several materials. {which}"
            name, is_chosen = QInputDialog.getItem(
                self, "Choose the material", label, list(names), 0, False
            )
            if is_chosen:
                self._model.documents.take_file(Path(path), name)

    def _place(self) -> None:
        """Keeps the cards at the lower edge, as wide as they need."""
        shown = [each for each in (*self._messages, *self.boxes) if not each.isHidden()]
        self.setVisible(bool(shown))
        if not shown:
            return
        width = min(_MOST_WIDTH, self._over.width() - 2 * _MARGIN)
        # messages know their lines when they have their width
        self.resize(width, self.height())
        self._column.activate()
        height = sum(
            box.heightForWidth(width) if box.hasHeightForWidth() else box.sizeHint().height()
            for box in shown
        )
        height += _MARGIN * (len(shown) - 1)
        most = self._over.height() - 2 * _MARGIN
        self.setGeometry(_MARGIN, self._over.height() - _MARGIN - min(height, most), width, height)
        self.raise_()


def _look(card: Card) -> tuple[str, str, str, str, tuple[str, ...]]:
    """What a card shows. Its functions are new objects each time, and do not count."""
    return card.key, card.severity, card.text, card.detail, tuple(a.text for a in card.actions)
