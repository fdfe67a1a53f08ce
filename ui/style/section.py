"""Pages below each other that can be folded. All of them are reached by scrolling."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QPushButton,
    QScrollArea,
    QScrollBar,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from verdigris.ui.style.colours import quiet_text
from verdigris.ui.style.icons import paint_icon, wear
from verdigris.ui.style.later import later
from verdigris.ui.style.metrics import BUTTON, GAP, HALF, ICON, bold
from verdigris.ui.style.sheet import mixed


class Fold(QPushButton):
    """A line of text that shows and hides what is below it. It is checked while that is shown."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setCheckable(True)
        self.setFlat(True)
        self.setObjectName("fold")
        self.setToolTip(f"Shows or hides: {text}")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.toggled.connect(lambda is_open: wear(self, "down" if is_open else "right"))
        wear(self, "right")


class SectionHead(QAbstractButton):
    """The name of a section, with a summary of what is folded."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setText(name)
        self.setCheckable(True)
        self.setFixedHeight(BUTTON)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setToolTip(f"Shows or hides: {name}")
        self.summary = ""

    def show_summary(self, text: str) -> None:
        if text != self.summary:
            self.summary = text
            self.setAccessibleDescription(text)
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        return QSize(120, BUTTON)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        keys = Qt.Key
        if event.key() in (keys.Key_Return, keys.Key_Enter):
            self.click()
        elif event.key() in (keys.Key_Left, keys.Key_Right):
            self.setChecked(event.key() == keys.Key_Right)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        palette, role = self.palette(), QPalette.ColorRole
        window, ink = palette.color(role.Window), palette.color(role.WindowText)
        painter = QPainter(self)
        painter.fillRect(self.rect(), mixed(window, ink, 0.1 if self.underMouse() else 0.05))
        arrow = QRectF(GAP - 2, (BUTTON - ICON) / 2, ICON, ICON).adjusted(3, 3, -3, -3)
        is_open, is_mirrored = (
            self.isChecked(),
            self.layoutDirection() != Qt.LayoutDirection.LeftToRight,
        )
        area = self.rect().adjusted(GAP + ICON + 2, 0, -GAP, 0)
        if is_mirrored:
            arrow.moveRight(self.width() - GAP)
            area = self.rect().adjusted(GAP, 0, -GAP - ICON - 2, 0)
        if not is_open and is_mirrored:
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)
            arrow.moveLeft(GAP)
        paint_icon(painter, "down" if is_open else "right", arrow, ink)
        painter.resetTransform()
        sides = [Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight]
        near, far = sides[::-1] if is_mirrored else sides
        flat = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute
        painter.setFont(bold(self))
        painter.setPen(ink)
        painter.drawText(area, int(near | flat), self.text())
        taken = painter.fontMetrics().horizontalAdvance(self.text()) + 2 * GAP
        if self.summary and not is_open:
            painter.setFont(self.font())
            painter.setPen(quiet_text(palette))
            room = max(0, area.width() - taken)
            elide = Qt.TextElideMode.ElideRight
            text = painter.fontMetrics().elidedText(self.summary, elide, room)
            painter.drawText(area, int(far | flat), text)
        if self.hasFocus():
            painter.setPen(QPen(palette.color(role.Highlight), 1))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()


class Section(QWidget):
    """A section: its head and its page."""

    def __init__(self, name: str, page: QWidget) -> None:
        super().__init__()
        self.page = page
        self.head = SectionHead(name)
        self.body = QWidget()
        inside = QVBoxLayout(self.body)
        inside.setContentsMargins(HALF, GAP, HALF, GAP)
        inside.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self.body)
        self.body.hide()
        self.head.toggled.connect(self.body.setVisible)


class _ScrollBar(QScrollBar):
    """A scroll bar that is not drawn while everything is in sight."""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        if self.maximum() > self.minimum():
            super().paintEvent(event)


class Sections(QScrollArea):
    """Some sections. Each is open or not, independently of the others."""

    toggled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # always there, so that nothing moves when it is needed
        self.setVerticalScrollBar(_ScrollBar(Qt.Orientation.Vertical))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.all: dict[str, Section] = {}
        inside = QWidget()
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(1)
        self._column.addStretch(1)
        self.setWidget(inside)

    def add(self, name: str, page: QWidget) -> Section:
        section = self.all[name] = Section(name, page)
        self._column.insertWidget(self._column.count() - 1, section)
        section.head.toggled.connect(lambda is_open: self._toggle(section, is_open))
        return section

    def open(self, page: QWidget) -> None:
        """Opens the section of a page, and scrolls to it."""
        self.of(page).head.setChecked(True)

    def of(self, page: QWidget) -> Section:
        return next(each for each in self.all.values() if each.page is page)

    def is_open(self, page: QWidget) -> bool:
        return self.of(page).head.isChecked()

    @property
    def open_names(self) -> list[str]:
        return [name for name, each in self.all.items() if each.head.isChecked()]

    def show_only(self, names: list[str]) -> None:
        for name, section in self.all.items():
            section.head.setChecked(name in names)
        later(self, lambda: self.verticalScrollBar().setValue(0))

    def _toggle(self, section: Section, is_open: bool) -> None:
        if is_open and self.isVisible():
            # after the layout has given it its height
            later(self, lambda: self._reveal(section))
        self.toggled.emit()

    def _reveal(self, section: Section) -> None:
        """Scrolls until the whole section is visible, or as much of it as fits from its head on."""
        bar, top = self.verticalScrollBar(), section.y()
        lowest = top + section.height() - self.viewport().height()
        bar.setValue(min(max(bar.value(), lowest), top))
