"""Cards to choose a preset: seconds on this machine, bytes, and the quality to expect. The artist's
own presets have cards, too, and tools to save, export and import them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.text import format_bytes, format_range
from verdigris.core.pictures.compare.verdict import MOST_DOTS
from verdigris.core.settings.presets import PRESETS, default_preset
from verdigris.ui.estimates import Prediction
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.model.parts.choices import BakeChoices
from verdigris.ui.model.parts.own_presets import SUFFIX, OwnPreset, OwnPresets
from verdigris.ui.qt.binding import bind, blocked_signals
from verdigris.ui.signals import ERROR, capitalise
from verdigris.ui.style.colours import colours_for, dim_text, quiet_text
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import GAP, HALF, RADIUS
from verdigris.ui.style.sheet import mixed

_USES = {"draft": "for a first look", "standard": "for use", "final": "to ship"}
FILES = f"Presets (*{SUFFIX})"
_ACROSS = 3
# From this factor on, the card says why its times are long.
_BUSY_FROM = 1.5
_OWN_TIP = "Right-click: export or delete (Delete)"
_PAD, _DOT, _STEP = 8, 7, 11
# Space between lines, in heights of letters.
_LINE = 1.25


class PresetCard(QAbstractButton):
    """One preset. It draws itself, as buttons of styles have one line."""

    deleted = Signal()

    def __init__(self, name: str, title: str = "", use: str = "") -> None:
        super().__init__()
        self.name = name
        self.is_own = bool(title)
        self.title, self.use = title or capitalise(name), use or _USES[name]
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.prediction: Prediction | None = None

    @property
    def lines(self) -> tuple[str, str]:
        """Time and size."""
        found = self.prediction
        if found is None:
            return "", ""
        size = format_bytes(found.loaded_bytes)
        size = f"up to {size}" if found.is_size_open else size
        return format_range(found.low, found.high), size

    def show_prediction(self, prediction: Prediction | None) -> None:
        self.prediction = prediction
        time, size = self.lines
        text = f"{self.title}: {self.use}"
        if prediction is not None:
            low, high = prediction.dots
            dots = f"{low}" if low == high else f"{low} to {high}"
            source = "from earlier bakes here" if prediction.is_learnt else "a first guess"
            if prediction.slower >= _BUSY_FROM:
                source += f"; the machine is busy, and {prediction.slower:.0f} times slower"
            text += f". {time} ({source}), {size}, quality {dots} of {MOST_DOTS} dots"
        self.setAccessibleName(text)
        self.setToolTip(f"{text}\n{_OWN_TIP}" if self.is_own else text)
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        letters = self.fontMetrics()
        width = max(letters.horizontalAdvance(text) for text in (*self.lines, "10 to 20 min"))
        return QSize(width + 2 * _PAD, round(5 * _LINE * letters.height()) + 2 * _PAD)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(60, self.sizeHint().height())

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        palette, colours = self.palette(), colours_for(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_marked = self.isChecked() or self.hasFocus()
        window, ink = (
            palette.color(QPalette.ColorRole.Window),
            palette.color(QPalette.ColorRole.WindowText),
        )
        empty = mixed(window, ink, 0.22)
        edge = palette.color(QPalette.ColorRole.Highlight) if is_marked else empty
        painter.setPen(QPen(edge, 2 if self.isChecked() else 1))
        is_raised = self.isChecked() or (self.underMouse() and self.isEnabled())
        role = QPalette.ColorRole.Button if is_raised else QPalette.ColorRole.Window
        painter.setBrush(palette.color(role))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), RADIUS, RADIUS)
        painter.setPen(ink if self.isEnabled() else dim_text(palette))
        inside = self.rect().adjusted(_PAD, _PAD, -_PAD, -_PAD)
        height = round(_LINE * self.fontMetrics().height())
        font = painter.font()
        full_ink = painter.pen()
        for number, text in enumerate((self.title, self.use, *self.lines)):
            font.setBold(number == 0)
            painter.setFont(font)
            is_faint = number == 1 and self.isEnabled()
            painter.setPen(quiet_text(palette) if is_faint else full_ink)
            line = inside.adjusted(0, number * height, 0, 0)
            fits = painter.fontMetrics().elidedText(
                text, Qt.TextElideMode.ElideRight, inside.width()
            )
            painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, fits)
        if self.prediction is not None:
            low, high = self.prediction.dots
            y = inside.top() + 4.4 * height
            full = colours.smooth
            for number in range(MOST_DOTS):
                is_likely = number < high
                painter.setPen(QPen(full if is_likely else empty, 1.2))
                painter.setBrush(full if number < low else Qt.BrushStyle.NoBrush)
                x = inside.left() + number * _STEP
                painter.drawEllipse(QRectF(x + 0.5, y - _DOT / 2, _DOT, _DOT))
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Delete and self.is_own:
            self.deleted.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


class PresetCards(QWidget):
    """A card for each preset, and below them one for each of the artist's own, three in a row."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        for column in range(_ACROSS):
            self._grid.setColumnStretch(column, 1)
        self.group = QButtonGroup(self)
        self.cards: dict[str, PresetCard] = {}
        self.own: dict[str, PresetCard] = {}
        for column, name in enumerate(PRESETS["numpy"]):
            card = PresetCard(name)
            self.cards[name] = card
            self.group.addButton(card)
            self._grid.addWidget(card, 0, column)
            card.clicked.connect(lambda _=False, name=name: model.set_choices(preset=name))
        bind(self, model.state.own_presets.changed, self._list)
        for signal in (
            model.state.choices_changed,
            model.state.report_changed,
            model.link.state_changed,
        ):
            bind(self, signal, self._show)

    def _list(self) -> None:
        """Makes the cards of the artist's own presets again."""
        for card in self.own.values():
            self.group.removeButton(card)
            self._grid.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.own = {}
        for number, preset in enumerate(self._model.state.own_presets.all):
            card = PresetCard(preset.name, preset.name, preset.text)
            card.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            card.customContextMenuRequested.connect(
                lambda at, card=card, preset=preset: self._menu(preset).popup(card.mapToGlobal(at))
            )
            card.clicked.connect(lambda _=False, preset=preset: self._choose(preset))
            card.deleted.connect(lambda preset=preset: self._delete(preset))
            self.own[preset.name] = card
            self.group.addButton(card)
            self._grid.addWidget(card, 1 + number // _ACROSS, number % _ACROSS)
        self._show()

    def _menu(self, preset: OwnPreset) -> QMenu:
        """The menu of one's own preset."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Export…", lambda: self._export(preset))
        menu.addAction("Delete", lambda: self._delete(preset))
        return menu

    def _choose(self, preset: OwnPreset) -> None:
        self._model.set_choices(**vars(preset.applied_to(self._model.state.choices)))

    def _delete(self, preset: OwnPreset) -> None:
        self.change(lambda own: own.delete(preset))

    def _export(self, preset: OwnPreset) -> None:
        path, _ = QFileDialog.getSaveFileName(self, "Export", f"{preset.name}{SUFFIX}", FILES)
        if path:
            file = Path(path).with_suffix(SUFFIX)
            self.change(lambda own: own.export(preset, file))

    def change(self, change: Callable[[OwnPresets], object]) -> bool:
        """Changes the artist's presets, or reports why that is not possible."""
        try:
            change(self._model.state.own_presets)
        except VerdigrisError as failure:
            self._model.state.notices.add(ERROR, str(failure))
            return False
        return True

    def _show(self) -> None:
        model = self._model
        chosen = model.state.choices.preset or default_preset(model.state.trainer or "numpy")
        presets = {
            each.name: each.applied_to(model.state.choices) for each in model.state.own_presets.all
        }
        own = next((name for name in self.own if presets.get(name) == model.state.choices), "")
        for name, card in self.cards.items():
            self._show_card(
                card, name == chosen and not own, model.state.choices.with_values({"preset": name})
            )
        for name, card in self.own.items():
            if name in presets:
                self._show_card(card, name == own, presets[name])

    def _show_card(self, card: PresetCard, is_chosen: bool, choices: BakeChoices) -> None:
        self.group.setExclusive(False)
        with blocked_signals(card):
            card.setChecked(is_chosen)
        self.group.setExclusive(True)
        card.setEnabled(not self._model.link.is_busy)
        try:
            found = self._model.state.predict(choices)
        except VerdigrisError:
            # the choices contradict each other: the start will report how
            found = None
        card.show_prediction(found)


class PresetTools(QWidget):
    """Saves the present choices as one's own preset, and imports one."""

    def __init__(self, model: PanelModel, cards: PresetCards) -> None:
        super().__init__()
        self._model, self._cards = model, cards
        self.name = QLineEdit()
        self.name.setPlaceholderText("Name of your own preset")
        self.name.setAccessibleName("Name of your own preset")
        self.name.setToolTip("These settings get a card with this name beside the presets")
        self.save = _tool("Save", "keep", "Saves these settings as a preset with this name")
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
