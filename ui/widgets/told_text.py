"""Text that is told, and can be copied as it is."""

from __future__ import annotations

import math

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QTextOption
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QTextEdit


class ToldText(QTextEdit):
    """As high as its lines. They break inside of a path, too, which has no blanks: a label could do
    that only with signs between, which whoever copies the path would copy along."""

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

    def tell(self, text: str, colour: QColor) -> None:
        """Shows a text, of which nothing is taken for a tag."""
        self.setStyleSheet(f"color: {colour.name()}; background: transparent")
        self.setPlainText(text)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(super().sizeHint().width(), self.height())

    def _fit(self) -> None:
        self.setFixedHeight(math.ceil(self.document().size().height()))


class Line(QLabel):
    """A line that breaks where there is little room, or letters are large, and is then as high as
    all of it. A label would ask for a height that is only needed where it is a few words wide."""

    def __init__(self) -> None:
        super().__init__()
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return self.minimumSizeHint()
