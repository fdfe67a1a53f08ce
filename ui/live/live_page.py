"""Chooses the inputs of the material that stay open in the bake."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QIcon, QKeySequence, QPalette, QPixmap
from PySide6.QtWidgets import (
    QColorDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from verdigris.core.base.colour import linear_from_srgb, srgb_from_linear
from verdigris.core.material.live_inputs.live_input import (
    KEPT_HEIGHTS,
    MOST_LIVE_INPUTS,
    WantedInput,
)
from verdigris.ui.live.live_bar import digits_of
from verdigris.ui.model.choices_undo import ChoicesUndo
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.model.parts.live_values import (
    Offer,
    find_wanted,
    label_of,
    offers_of,
    with_request,
    without,
)
from verdigris.ui.qt.binding import bind, blocked_signals
from verdigris.ui.qt.keys import Keys
from verdigris.ui.qt.scrub import RealBox
from verdigris.ui.qt.text_widgets import Elided, Line
from verdigris.ui.style.metrics import GAP, HALF, ICON
from verdigris.ui.style.section import Fold
from verdigris.ui.style.tick import Tick

_INTRO = (
    "A live input stays open in the neural material: you can still move it after the bake, for "
    "example rain or age. The bake takes about half as long again."
)
_NONE = "This material has no inputs that can stay open."
_FULL = f"{MOST_LIVE_INPUTS} inputs are live already: at most {MOST_LIVE_INPUTS} can stay open"
_MOST_AT_FIRST = 6
_FARTHEST = 1e6
# The words of artists for inputs of surfaces.
_PLAIN = {"bsdf": "reflection", "edf": "emission", "vdf": "volume"}


class ColourButton(QToolButton):
    """`change` is called with a linear colour."""

    def __init__(self, name: str, change: Callable[[tuple[float, ...]], None]) -> None:
        super().__init__()
        self._name, self._change = name, change
        self._colour: tuple[float, ...] = (0.0, 0.0, 0.0)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.clicked.connect(lambda _: self._ask())

    def show_colour(self, colour: tuple[float, ...]) -> None:
        self._colour = colour
        picture = QPixmap(2 * ICON, ICON)
        picture.fill(_displayed(colour))
        self.setIcon(QIcon(picture))
        self.setIconSize(picture.size())
        numbers = ", ".join(f"{each:.3g}" for each in colour)
        self.setToolTip(f"{self._name}: {numbers}. Click to choose another one.")

    def _ask(self) -> None:
        chosen = QColorDialog.getColor(_displayed(self._colour), self, self._name)
        # the same colour again would lose what 8 bits do not hold
        if chosen.isValid() and chosen != _displayed(self._colour):
            self._change(tuple(map(_linear, (chosen.redF(), chosen.greenF(), chosen.blueF()))))


def _displayed(colour: tuple[float, ...]) -> QColor:
    shares = np.clip(srgb_from_linear(np.array(colour)), 0, 1)
    return QColor(*(round(255 * each) for each in shares.tolist()))


def _linear(value: float) -> float:
    return round(float(linear_from_srgb(np.array(value))), 4)


class OfferRow(QWidget):
    """An input, and its range while it is live."""

    def __init__(self, model: PanelModel, offer: Offer) -> None:
        super().__init__()
        self._model, self.offer = model, offer
        self.check = Tick(offer.label.replace("&", "&&"))
        reaches = [_PLAIN.get(each, label_of(each)) for each in offer.reaches]
        what = ", ".join(dict.fromkeys(reaches)) or "nothing"
        shown = f"{what}; not the displacement" if offer.keeps_heights else what
        where = (
            "; it only moves where images and patterns are looked up" if offer.only_by_uv else ""
        )
        where += f"; {KEPT_HEIGHTS}" if offer.keeps_heights else ""
        self._tip = f"{offer.name} changes {what}{where}. The material has {_shown(offer.value)}."
        self.reach = Elided()
        self.reach.setText(shown)
        self.reach.setToolTip(self._tip)
        self.reach.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        first = QHBoxLayout()
        first.setSpacing(GAP)
        first.addWidget(self.check)
        first.addWidget(self.reach, 1)
        self.range = QWidget()
        self._grid = QGridLayout(self.range)
        self._grid.setContentsMargins(ICON + GAP, 0, 0, HALF)
        self._grid.setHorizontalSpacing(GAP)
        self._grid.setVerticalSpacing(HALF)
        self.low: RealBox | ColourButton
        self.high: RealBox | ColourButton
        if offer.is_colour:
            self.low = ColourButton(f"First colour of {offer.label}", self._set_low)
            self.high = ColourButton(f"Last colour of {offer.label}", self._set_high)
        else:
            self.low = self._box(f"Lowest {offer.label}", lambda at: self._set_low((at,)))
            self.high = self._box(f"Highest {offer.label}", lambda at: self._set_high((at,)))
        self.start = self._box(
            f"{offer.label} at first", lambda at: self._change(default=at), is_share=offer.is_colour
        )
        self.start.setToolTip(
            "The initial value of the neural material. By default it is the value of the material."
        )
        self._place()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(HALF)
        column.addLayout(first)
        column.addWidget(self.range)
        self.range.hide()
        self.check.toggled.connect(self._toggle)

    def _place(self) -> None:
        for number, (text, widget) in enumerate(
            (("From", self.low), ("to", self.high), ("at first", self.start))
        ):
            label = QLabel(text)
            label.setBuddy(widget)
            self._grid.addWidget(label, 0, 2 * number)
            self._grid.addWidget(widget, 0, 2 * number + 1)
            self._grid.setColumnStretch(2 * number + 1, 1)

    def _box(self, name: str, change: Callable[[float], None], is_share: bool = False) -> RealBox:
        box = RealBox()
        box.setAccessibleName(name)
        box.setToolTip(f"{name}. The bake learns all values of the range.")
        box.setKeyboardTracking(False)
        box.setMinimumWidth(56)
        low, high = (0.0, 1.0) if is_share else (self.offer.low[0], self.offer.high[0])
        box.setDecimals(digits_of(low, high))
        box.setSingleStep((high - low) / 20)
        box.valueChanged.connect(change)
        return box

    def _toggle(self, is_on: bool) -> None:
        live, name = self._model.state.choices.live, self.offer.name
        changed = with_request(live, self.offer.request) if is_on else without(live, name)
        self._model.set_choices(live=changed)

    def _set_low(self, value: tuple[float, ...]) -> None:
        self._change(low=value)

    def _set_high(self, value: tuple[float, ...]) -> None:
        self._change(high=value)

    def _change(self, **values: object) -> None:
        wanted = find_wanted(self._model.state.choices.live, self.offer.name)
        if wanted is None:
            return
        changed = {**vars(wanted), **values}
        low, high = changed["low"], changed["high"]
        default = changed["default"]
        if default is not None and not self.offer.is_colour:
            # a narrower range moves the default along
            changed["default"] = min(high[0], max(low[0], default))
        if low != high:
            self._model.set_choices(
                live=with_request(self._model.state.choices.live, WantedInput(**changed))
            )

    def show_choice(self, live: tuple[str, ...]) -> None:
        wanted = find_wanted(live, self.offer.name)
        is_full = wanted is None and len(live) >= MOST_LIVE_INPUTS
        with blocked_signals(self.check):
            self.check.setChecked(wanted is not None)
        self.check.setEnabled(not is_full)
        self.check.setToolTip(_FULL if is_full else f"{self._tip}\nLive: it stays open in the bake")
        self.range.setVisible(wanted is not None)
        if wanted is not None:
            self._show_range(wanted)

    def _show_range(self, wanted: WantedInput) -> None:
        low, high, start = self.low, self.high, self.start
        with blocked_signals(low, high, start):
            if isinstance(low, ColourButton) and isinstance(high, ColourButton):
                low.show_colour(wanted.low)
                high.show_colour(wanted.high)
                start.setRange(0.0, 1.0)
                start.setValue(self._default(wanted))
                return
            assert isinstance(low, RealBox) and isinstance(high, RealBox)
            least = 10.0 ** -low.decimals()
            low.setRange(-_FARTHEST, wanted.high[0] - least)
            high.setRange(wanted.low[0] + least, _FARTHEST)
            low.setValue(wanted.low[0])
            high.setValue(wanted.high[0])
            start.setRange(wanted.low[0], wanted.high[0])
            start.setValue(self._default(wanted))

    def _default(self, wanted: WantedInput) -> float:
        """The initial value: that of the artist or of the material, or the nearest in the range."""
        if wanted.default is not None:
            return wanted.default
        value = self.offer.value
        if not self.offer.is_colour:
            return min(wanted.high[0], max(wanted.low[0], value[0]))
        along = [high - low for low, high in zip(wanted.low, wanted.high, strict=True)]
        offset = [at - low for low, at in zip(wanted.low, value, strict=True)]
        length = sum(each * each for each in along) or 1.0
        return min(1.0, max(0.0, sum(map(float.__mul__, along, offset)) / length))


class LivePage(QWidget):
    """A row for each input that can stay open."""

    def __init__(self, model: PanelModel, history: ChoicesUndo) -> None:
        super().__init__()
        self._model = model
        self._offers: tuple[Offer, ...] = ()
        self.rows: list[OfferRow] = []
        self.intro = Line()
        self.fold = Fold("More inputs")
        self.fold.setToolTip("Inputs of the surface itself")
        self._first, self._more = QWidget(), QWidget()
        self._columns = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(self.intro)
        for each in (self._first, self._more):
            rows = QVBoxLayout(each)
            rows.setContentsMargins(0, 0, 0, 0)
            rows.setSpacing(HALF)
            self._columns.append(rows)
        column.addWidget(self._first)
        column.addWidget(self.fold)
        column.addWidget(self._more)
        self._more.hide()
        self.fold.hide()
        self.fold.toggled.connect(self._more.setVisible)
        keys = Keys(self)
        keys.add(QKeySequence.StandardKey.Undo, history.undo)
        keys.add(QKeySequence.StandardKey.Redo, history.redo)
        bind(self, model.state.report_changed, self._list)
        bind(self, model.state.choices_changed, self._show)
        bind(self, model.link.state_changed, self._enable)

    def _list(self) -> None:
        report = self._model.state.report
        if report is None:
            # the rows stay while a material is read again
            return
        offers = offers_of(report)
        text = _INTRO if offers else _NONE
        self.intro.setText(text)
        if offers == self._offers:
            return
        self._offers = offers
        for row in self.rows:
            row.setParent(None)
            row.deleteLater()
        self.rows = [OfferRow(self._model, each) for each in offers]
        own = [each for each in self.rows if not each.offer.is_of_surface]
        first = own or self.rows[:_MOST_AT_FIRST]
        for row in self.rows:
            self._columns[0 if row in first else 1].addWidget(row)
        rest = len(self.rows) - len(first)
        self.fold.setVisible(rest > 0)
        self.fold.setText(f"More inputs ({rest})")
        self._more.setVisible(rest > 0 and self.fold.isChecked())
        self._show()

    def _show(self) -> None:
        live = self._model.state.choices.live
        for row in self.rows:
            row.show_choice(live)

    def _enable(self) -> None:
        self.setEnabled(not self._model.link.is_busy)


def _shown(value: tuple[float, ...]) -> str:
    return ", ".join(f"{each:.4g}" for each in value) or "no value"
