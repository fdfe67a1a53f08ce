"""The names of the phases of a bake, above the chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from verdigris.ui.style.colours import quiet_text
from verdigris.ui.style.metrics import HALF, small_font

_APART = 10.0


@dataclass(frozen=True)
class Span:
    """A phase, and where it begins and ends on the ruler."""

    name: str
    left: float
    right: float


def place_names(
    spans: Sequence[Span], letters: QFontMetricsF, width: float
) -> list[tuple[str, QRectF]]:
    """The names that have room, and their places. The last phase is short and is explained: its
    name ends with it. Every other name is inside of its phase, and none is near another one."""
    placed: list[tuple[str, QRectF]] = []
    for number, span in reversed(list(enumerate(spans))):
        wide = letters.horizontalAdvance(span.name) + 1
        left, right = max(0.0, span.left), min(width, span.right)
        is_last = number == len(spans) - 1
        if left >= width or right <= 0:
            continue
        start = max(0.0, right - wide) if is_last and right - left < wide else left
        place = QRectF(start, 0, wide, letters.height())
        end = placed[-1][1].left() - _APART if placed else width
        fits = place.right() <= end and (is_last or place.right() <= right)
        if fits:
            placed.append((span.name, place))
    return placed[::-1]


class PhaseRuler(QWidget):
    """One line of names over the phases."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: tuple[Span, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Phases of the bake")

    def show_spans(self, spans: Sequence[Span]) -> None:
        self.spans = tuple(spans)
        self.setToolTip(", ".join(each.name for each in spans))
        self.update()

    def places(self) -> list[tuple[str, QRectF]]:
        """The names that are shown, and where."""
        return place_names(self.spans, QFontMetricsF(self._font()), self.width())

    def _font(self) -> QFont:
        return small_font(self)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        return QSize(100, round(QFontMetricsF(self._font()).height()) + HALF)

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setFont(self._font())
        painter.setPen(quiet_text(self.palette()))
        for name, place in self.places():
            painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, name)
        painter.end()
