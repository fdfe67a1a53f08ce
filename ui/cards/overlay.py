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
from verdigris.ui.model.cards import COPY_REPORT, LOCATE_FOLDER, OPEN_FILE, Action, Card, cards_of
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.flow_layout import FlowLayout
from verdigris.ui.qt.text_widgets import Line
from verdigris.ui.signals import ERROR, INFO, WARNING
from verdigris.ui.status.banner import Banner
from verdigris.ui.style.colours import colours_for
from verdigris.ui.style.icons import IconLabel, wear
from verdigris.ui.style.metrics import FIELD, GAP, HALF, bold
from verdigris.ui.style.sheet import PRIMARY, wear_card
from verdigris.ui.viewport.viewport import Viewport

_MARGIN = HALF
_MOST_WIDTH = 460
_MATERIAL_FILES = f"Materials ({' '.join(f'*{suffix}' for suffix in SUFFIXES)})"


class CardBox(QFrame):
    """One card: a text, a detail, and its buttons; below each other, or on one line."""

    def __init__(self, card: Card, request: Callable[[str], None], hide: Callable[[], None]):
        super().__init__()
        self.card = card
        self.is_slim = False
        self.setObjectName("card")
        self.setAccessibleName(card.text)
        self.text, self.detail = Line(), Line()
        self.text.setText(card.text)
        self.detail.setText(card.detail)
        self.detail.setToolTip(card.whole)
        self.text.setToolTip(card.whole or card.detail)
        self.text.setFont(bold(self.text))
        self.icon = IconLabel(FIELD)
        self.hider = QToolButton()
        wear(self.hider, "cross")
        self.hider.setAutoRaise(True)
        self.hider.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.hider.setToolTip("Hides this card")
        self.hider.setAccessibleName(f"Hide: {card.text}")
        self.hider.clicked.connect(lambda _: hide())
        self.buttons = [self._button(each, request) for each in card.actions]
        self._row = QWidget()
        self._flow = FlowLayout(self._row)
        self._top, self._column = QHBoxLayout(), QVBoxLayout(self)
        self._top.setSpacing(GAP)
        self._top.addWidget(self.icon, 0, Qt.AlignmentFlag.AlignTop)
        self._top.addWidget(self.text, 1)
        self._top.addWidget(self.hider, 0, Qt.AlignmentFlag.AlignTop)
        self._column.setSpacing(HALF)
        self._column.addLayout(self._top)
        self._column.addWidget(self.detail)
        self._column.addWidget(self._row)
        if card.actions and card.steps:
            self._add_steps()
        self._show(False)
        self._colour()

    def _button(self, action: Action, request: Callable[[str], None]) -> QPushButton:
        button = QPushButton(action.text.replace("&", "&&"))
        button.setToolTip(action.tip)
        if action.is_next:
            button.setObjectName(PRIMARY)
        do = action.do
        button.clicked.connect(lambda _=False: request(do) if isinstance(do, str) else do())
        return button

    def _add_steps(self) -> None:
        """A button that shows how to export by hand."""
        self.steps = Line()
        self.steps.setText("\n".join(f"• {step}" for step in self.card.steps))
        self.steps.hide()
        show = QPushButton("How to export one")
        show.setCheckable(True)
        show.setToolTip("Shows how to write this material into a file in the application")
        show.toggled.connect(self.steps.setVisible)
        self.buttons.append(show)
        self._column.addWidget(self.steps)

    @property
    def slim_width(self) -> int:
        """The width in which the whole card is one line."""
        letters = self.text.fontMetrics().horizontalAdvance(self.card.text) + 2
        buttons = sum(each.sizeHint().width() + HALF for each in self.buttons)
        return letters + buttons + 2 * FIELD + 5 * GAP

    def set_slim(self, is_slim: bool) -> None:
        """Shows the card on one line, so that it covers little. The tooltip has the detail."""
        if is_slim != self.is_slim:
            self._show(is_slim)

    def _show(self, is_slim: bool) -> None:
        self.is_slim = is_slim
        edge = HALF - 1 if is_slim else GAP
        # beside its buttons, the text is in the middle
        alignment = Qt.AlignmentFlag.AlignVCenter if is_slim else Qt.AlignmentFlag.AlignTop
        self.text.setAlignment(alignment)
        for each in (self.icon, self.hider):
            self._top.setAlignment(each, alignment)
        self.text.setContentsMargins(0, 0 if is_slim else HALF, 0, 0)
        self._column.setContentsMargins(GAP, edge, HALF, edge)
        self.detail.setVisible(bool(self.card.detail) and not is_slim)
        self._row.setVisible(bool(self.buttons) and not is_slim)
        for button in self.buttons:
            self._flow.removeWidget(button)
            self._top.removeWidget(button)
            if is_slim:
                self._top.insertWidget(self._top.count() - 1, button)
            else:
                self._flow.addWidget(button)
            button.show()

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
    """The cards at the lower edge of the viewport, below offers and the last message. Without a
    picture, they are below each other. A picture keeps its place above one line of them, so that
    they cover nothing; the others are a click away."""

    def __init__(self, model: PanelModel, over: Viewport) -> None:
        super().__init__(over)
        self._model, self._over = model, over
        self._shown: list[Card] = []
        self._first = 0
        """The card that is shown first, while not all fit on the line."""
        self._is_placing = self._was_drawn = False
        self.boxes: list[CardBox] = []
        self.set_up, self.selftest = SetUpBox(model), SelftestOffer(model)
        self.banner = Banner(model)
        self._messages = (self.set_up, self.selftest, self.banner)
        self.more = QToolButton(self)
        self.more.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.more.setToolTip("Shows the next message")
        self.more.clicked.connect(lambda _: self._turn())
        self.more.hide()
        for message in self._messages:
            message.setParent(self)
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
        bind(self, model.state.pictures.changed, self._place_if_drawn)

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
            box.setParent(None)
            box.deleteLater()
        self._shown, self._first = cards, 0
        self.boxes = [
            CardBox(card, self._request, lambda key=card.key: self._hide(key)) for card in cards
        ]
        before = self._over
        for box in self.boxes:
            box.setParent(self)
            box.installEventFilter(self)
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

    def _turn(self) -> None:
        self._first = (self._first + 1) % max(1, len(self.boxes))
        self._place()
        self.more.setFocus()

    @property
    def _is_drawn(self) -> bool:
        return bool(self._model.state.pictures.parts)

    def _place_if_drawn(self) -> None:
        if self._was_drawn != self._is_drawn:
            self._place()

    def _place(self) -> None:
        """Keeps everything at the lower edge, in rows."""
        if self._is_placing:
            return
        self._is_placing = True
        try:
            self._was_drawn = self._is_drawn
            room = self._over.width() - 2 * _MARGIN
            offers = [each for each in (self.set_up, self.selftest) if not each.isHidden()]
            rows = [[(each, min(_MOST_WIDTH, room))] for each in offers]
            banner = [] if self.banner.isHidden() else [self.banner]
            for box in self.boxes:
                box.set_slim(self._is_drawn)
            if self._is_drawn:
                rows.append(self._line(banner, room))
            else:
                rows += [[(each, min(_MOST_WIDTH, room))] for each in (*banner, *self.boxes)]
                self.more.hide()
                for box in self.boxes:
                    box.show()
            self._set_rows([row for row in rows if row])
        finally:
            self._is_placing = False

    def _line(self, banner: list[QWidget], room: int) -> list[tuple[QWidget, int]]:
        """The message and the cards that fit beside each other, each with its width."""
        turned = sorted(self.boxes, key=lambda box: not box.buttons)
        turned = turned[self._first :] + turned[: self._first]
        items = [(each, min(_MOST_WIDTH, room)) for each in banner]
        items += [(box, box.slim_width) for box in turned]
        needs = sum(width for _, width in items) + _MARGIN * (len(items) - 1)
        self.more.setText(f"+{len(items) - 1}")
        rest = room - (self.more.sizeHint().width() + _MARGIN if needs > room else 0)
        row: list[tuple[QWidget, int]] = []
        for each, width in items:
            if row and width > rest:
                break
            row.append((each, min(width, rest)))
            rest -= width + _MARGIN
        left = len(items) - len(row)
        for box in self.boxes:
            box.setVisible(any(box is each for each, _ in row))
        self.more.setVisible(left > 0)
        if left:
            self.more.setText(f"+{left}")
            self.more.setAccessibleName(f"{left} more message{'s' * (left > 1)}")
            row.append((self.more, self.more.sizeHint().width()))
        return row

    def _set_rows(self, rows: list[list[tuple[QWidget, int]]]) -> None:
        self.setVisible(bool(rows))
        heights = [max(_height_of(*each) for each in row) for row in rows]
        height = sum(heights) + _MARGIN * max(0, len(rows) - 1)
        most = self._over.height() - 2 * _MARGIN
        width = max((sum(w + _MARGIN for _, w in row) - _MARGIN for row in rows), default=0)
        top = self._over.height() - _MARGIN - min(height, most)
        self.setGeometry(_MARGIN, top, width, min(height, most))
        y = 0
        for row, high in zip(rows, heights, strict=True):
            x = 0
            for each, wide in row:
                own = each.sizeHint().height() if each is self.more else high
                each.setGeometry(x, y + (high - own) // 2, wide, own)
                # a message that appears was arranged before it had its width
                if each.layout() is not None:
                    each.layout().invalidate()
                    each.layout().activate()
                x += wide + _MARGIN
            y += high + _MARGIN
        # without a picture there is nothing to cover
        self._over.set_footer(height + 2 * _MARGIN if self._is_drawn and rows else 0)
        self.raise_()


def _height_of(widget: QWidget, width: int) -> int:
    if widget.layout() is not None:
        widget.layout().activate()
    if widget.hasHeightForWidth():
        # a message knows its lines when it has its width
        widget.resize(width, widget.height())
        return widget.heightForWidth(width)
    widget.resize(width, widget.height())
    return widget.sizeHint().height()


def _look(card: Card) -> tuple[str, str, str, str, tuple[str, ...]]:
    """What a card shows. Its functions are new objects each time, and do not count."""
    return card.key, card.severity, card.text, card.detail, tuple(a.text for a in card.actions)
