"""The layout that wraps rows, in both reading directions."""

import os

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QWidget

from verdigris.ui.qt.flow_layout import FlowLayout

LEFT, RIGHT = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
WIDTH = 200


class Box(QWidget):
    """A widget of this width."""

    def __init__(self, width):
        super().__init__()
        self._width = width

    def sizeHint(self):  # noqa: N802 - Qt's name
        return QSize(self._width, 20)


@pytest.fixture
def make_row(qtbot):
    """Rows of boxes of the given widths, in a width of 200."""

    def make(*widths):
        made = QWidget()
        qtbot.addWidget(made)
        layout = FlowLayout(made)
        for width in widths:
            layout.addWidget(Box(width))
        made.resize(WIDTH, 100)
        made.show()
        return made

    return make


def places(row):
    row.layout().activate()
    items = [row.layout().itemAt(number).geometry() for number in range(row.layout().count())]
    return [(place.left(), place.top(), place.width()) for place in items]


# the third box does not fit into the first row
WIDTHS = 80, 60, 90
FROM_LEFT = [(0, 0, 80), (84, 0, 60), (0, 24, 90)]
FROM_RIGHT = [(120, 0, 80), (56, 0, 60), (110, 24, 90)]


@pytest.mark.parametrize(("direction", "expected"), [(LEFT, FROM_LEFT), (RIGHT, FROM_RIGHT)])
def test_rows_follow_the_reading_direction(make_row, direction, expected):
    row = make_row(*WIDTHS)
    row.setLayoutDirection(direction)
    assert places(row) == expected


def test_rows_follow_a_change_of_the_reading_direction(make_row):
    row = make_row(*WIDTHS)
    for direction, expected in ((RIGHT, FROM_RIGHT), (LEFT, FROM_LEFT), (RIGHT, FROM_RIGHT)):
        row.setLayoutDirection(direction)
        assert places(row) == expected
