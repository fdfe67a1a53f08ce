"""Sliders of the live inputs below the viewport, and pictures over the range of one of them."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPalette, QPen
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QStyle, QToolButton, QWidget

from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.model.parts.live_values import RANGE_PICTURES, Slider
from verdigris.ui.qt.binding import bind, blocked_signals
from verdigris.ui.qt.scrub import RealBox, Scrub
from verdigris.ui.signals import Signal
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import GAP, HALF, RADIUS, bold
from verdigris.ui.style.sheet import mixed
from verdigris.ui.style.slider import HorizontalSlider

_HEIGHT = 44
_STEPS, _LARGE_STEP = 1000, 100
_BOX = 72
_LONGEST = 18


class RangePictures(QWidget):
    """A click on a picture sets its value. Each picture stands where the slider has its value."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self._image: QImage | None = None
        self._hovered = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        bind(self, model.state.live.changed, self._show)
        bind(self, model.state.live.pictures_changed, self._read)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        return QSize(200, _HEIGHT)

    def _show(self) -> None:
        name = self._model.state.live.active_label
        self.setAccessibleName(f"Pictures over the range of {name}")
        self.setToolTip(
            f"The material over the range of {name}. Click a picture to set its value (left and "
            "right arrow keys)."
        )
        self.update()

    def _read(self) -> None:
        pixels = self._model.state.live.pictures
        self._image = None
        if pixels is not None and pixels.ndim == 3:
            height, width, _ = pixels.shape
            bytes_ = np.ascontiguousarray(pixels).tobytes()
            kind = QImage.Format.Format_RGB888
            self._image = QImage(bytes_, width, height, 3 * width, kind).copy()
        self.update()

    def places(self) -> list[QRectF]:
        """The places of the pictures, from the low end of the range."""
        # the slider's handle is as far from the ends
        inset = self.style().pixelMetric(QStyle.PixelMetric.PM_SliderLength) / 2
        room = self.width() - 2 * inset
        side = min(_HEIGHT - 2.0, room / (RANGE_PICTURES - 1) - 2)
        first, step = inset, room / (RANGE_PICTURES - 1)
        # those at the ends stay inside
        first, step = max(first, side / 2 + 1), step
        last = min(self.width() - side / 2 - 1, inset + room)
        step = (last - first) / (RANGE_PICTURES - 1)
        top = (_HEIGHT - side) / 2
        found = [
            QRectF(first + number * step - side / 2, top, side, side)
            for number in range(RANGE_PICTURES)
        ]
        is_mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        return found[::-1] if is_mirrored else found

    def number_at(self, x: float) -> int:
        """The number of the nearest picture."""
        places = self.places()
        return min(range(len(places)), key=lambda each: abs(places[each].center().x() - x))

    def choose(self, number: int) -> None:
        live = self._model.state.live
        if live.active and 0 <= number < RANGE_PICTURES:
            self._model.set_live(live.active, number / (RANGE_PICTURES - 1))

    def _present(self) -> float:
        live = self._model.state.live
        return live.share(live.active) * (RANGE_PICTURES - 1) if live.active else 0.0

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() == Qt.MouseButton.LeftButton:
            self.choose(self.number_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        number = self.number_at(event.position().x())
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.choose(number)
        if number != self._hovered:
            self._hovered = number
            self.update()

    def leaveEvent(self, event: object) -> None:  # noqa: N802
        super().leaveEvent(event)
        self._hovered = -1
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        keys, present = Qt.Key, self._present()
        targets = {
            keys.Key_Right: int(present + 1.001),
            keys.Key_Up: int(present + 1.001),
            keys.Key_Left: -int(-(present - 1.001) // 1),
            keys.Key_Down: -int(-(present - 1.001) // 1),
            keys.Key_Home: 0,
            keys.Key_End: RANGE_PICTURES - 1,
        }
        if event.key() in targets:
            self.choose(min(RANGE_PICTURES - 1, max(0, targets[event.key()])))
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        palette, role = self.palette(), QPalette.ColorRole
        painter = QPainter(self)
        painter.setRenderHints(
            QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform
        )
        chosen = round(self._present())
        faint = mixed(palette.color(role.Window), palette.color(role.WindowText), 0.1)
        for number, place in enumerate(self.places()):
            path = QPainterPath()
            path.addRoundedRect(place, RADIUS, RADIUS)
            painter.fillPath(path, faint)
            if self._image is not None:
                side = self._image.width() / RANGE_PICTURES
                painter.save()
                painter.setClipPath(path)
                source = QRectF(number * side, 0, side, self._image.height())
                painter.drawImage(place, self._image, source)
                painter.restore()
            if number == chosen:
                painter.setPen(QPen(palette.color(role.Highlight), 2))
                painter.drawPath(path)
            elif number == self._hovered:
                painter.setPen(QPen(palette.color(role.WindowText), 1))
                painter.drawPath(path)
        if self.hasFocus():
            painter.setPen(QPen(palette.color(role.Highlight), 1, Qt.PenStyle.DotLine))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), HALF, HALF)
        painter.end()


def digits_of(low: float, high: float) -> int:
    """The number of decimals, at most six, with which a range has about a thousand steps."""
    return min(6, max(0, math.ceil(3 - math.log10(high - low))))


class _Row:
    """The widgets of one live input."""

    def __init__(self, model: PanelModel, slider: Slider, grid: QGridLayout, number: int) -> None:
        self._model, self.input = model, slider
        name = slider.label
        self.label = QLabel(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…")
        self.slider = HorizontalSlider()
        self.slider.setRange(0, _STEPS)
        self.slider.setSingleStep(_STEPS // 100)
        self.slider.setPageStep(_LARGE_STEP)
        self.slider.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.box = RealBox()
        self.box.setRange(slider.low, slider.high)
        self.box.setDecimals(digits_of(slider.low, slider.high))
        self.box.setSingleStep((slider.high - slider.low) / 100)
        self.box.setKeyboardTracking(False)
        self.box.setFixedWidth(_BOX)
        self.reset = QToolButton()
        self.reset.setAutoRaise(True)
        self.reset.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        wear(self.reset, "undo")
        tip = (
            f"Moves {slider.name} in both pictures, from {slider.low:g} to {slider.high:g} (arrow "
            "keys, Page Up and Page Down). The bake learns all values."
        )
        self.slider.setToolTip(tip)
        self.box.setToolTip(tip)
        self.reset.setToolTip(f"Sets {name} back to {slider.value_of(slider.default):.4g}")
        self.slider.setAccessibleName(name)
        self.box.setAccessibleName(f"{name}, as a number")
        self.reset.setAccessibleName(f"Set {name} back")
        self.slider.valueChanged.connect(lambda value: self._take(value / _STEPS))
        self.slider.sliderPressed.connect(self._activate)
        self.box.valueChanged.connect(lambda value: self._take(slider.share_of(value)))
        self.reset.clicked.connect(lambda _: self._take(slider.default))
        self._scrub = Scrub(self.label, self.box)
        self.label.setToolTip(f"{slider.name}\n{self.label.toolTip()}")
        for column, widget in enumerate((self.label, self.slider, self.box, self.reset)):
            grid.addWidget(widget, number, column)

    def _activate(self) -> None:
        self._model.state.live.show_range_of(self.input.name)

    def _take(self, share: float) -> None:
        self._activate()
        self._model.set_live(self.input.name, share)

    def show_share(self, share: float, is_active: bool) -> None:
        with blocked_signals(self.slider, self.box):
            self.slider.setValue(round(share * _STEPS))
            self.box.setValue(self.input.value_of(share))
        self.reset.setEnabled(share != self.input.default)
        self.label.setFont(bold(self.slider) if is_active else self.slider.font())

    def remove(self) -> None:
        for widget in (self.label, self.slider, self.box, self.reset):
            widget.setParent(None)
            widget.deleteLater()


class LiveBar(QWidget):
    """A row for each live input that is open, and pictures over the range of one. Hidden without
    live inputs."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.built = Signal()
        """New widgets come last in the order of the Tab key."""
        self.rows: list[_Row] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GAP)
        self._grid.setVerticalSpacing(HALF)
        self._grid.setColumnStretch(1, 1)
        self.pictures = RangePictures(model)
        # it has no parent until it is shown
        self.destroyed.connect(self.pictures.deleteLater)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()
        bind(self, model.state.live.changed, self._show)

    def _show(self) -> None:
        live = self._model.state.live
        if tuple(row.input for row in self.rows) != live.sliders:
            self._build()
        for row in self.rows:
            is_active = len(self.rows) > 1 and row.input.name == live.active
            row.show_share(live.share(row.input.name), is_active)

    def _build(self) -> None:
        for row in self.rows:
            row.remove()
        sliders = self._model.state.live.sliders
        self.rows = [
            _Row(self._model, each, self._grid, number) for number, each in enumerate(sliders)
        ]
        self._grid.addWidget(self.pictures, len(sliders), 1)
        self.setVisible(bool(sliders))
        self.built.emit()
