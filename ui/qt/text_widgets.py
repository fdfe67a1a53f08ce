"""Texts that wrap and grow with their contents."""

from __future__ import annotations

import math

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPainter, QTextOption
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QTextEdit

from verdigris.ui.style.metrics import small_font
from verdigris.ui.style.sheet import NOTE


class MessageText(QTextEdit):
    """Plain text that can be selected, as high as its lines. Unlike a label it also wraps inside
    long paths, without characters that would be copied along."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(lambda _: self._fit())
        self._fit()

    def show_message(self, text: str, colour: QColor) -> None:
        """Shows a text. Tags in it are shown as they are."""
        self.setStyleSheet(f"color: {colour.name()}; background: transparent")
        self.setPlainText(text)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(super().sizeHint().width(), self.height())

    def _fit(self) -> None:
        self.setFixedHeight(math.ceil(self.document().size().height()))


class Line(QLabel):
    """A label that wraps. Its size hint is its minimum: QLabel reserves the height of a much
    narrower label."""

    def __init__(self) -> None:
        super().__init__()
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return self.minimumSizeHint()


class Note(Line):
    """A line of small letters in a quiet colour, for what is looked up and not read first."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.setObjectName(NOTE)
        self.setFont(small_font(self))
        self.setText(text)


class Elided(QLabel):
    """One line of text, which ends in an ellipsis if it is too long."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), int(self.alignment()), text)
        painter.end()
