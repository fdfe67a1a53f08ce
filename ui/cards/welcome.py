"""The page of a window without a document: a place to drop one, the examples, the shelf."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from verdigris.ui.qt.flow_layout import FlowLayout
from verdigris.ui.signals import capitalise
from verdigris.ui.style.metrics import WIDE, title_font
from verdigris.ui.style.sheet import PRIMARY

# In the order of the sheet in docs/images/examples.png.
EXAMPLES = (
    *("copper_tray", "glazed_tile", "painted_wood", "enamel_badge"),
    *("brushed_steel", "car_paint", "two_tone_velvet", "glowing_panel"),
)
_ACROSS = 4
_THUMBNAIL = 128
# Wider rows are hard to read.
_MOST_WIDTH = 1280
_REPOSITORY = Path(__file__).parents[2]


class Welcome(QScrollArea):
    """Everything is one click away: a file, or a first bake."""

    def __init__(
        self, choose: Callable[[], None], bake: Callable[[Path], None], shelf: QWidget
    ) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(WIDE)
        zone = QFrame()
        zone.setObjectName("zone")
        zone.setStyleSheet(
            "QFrame#zone { border: 2px dashed palette(mid); border-radius: 8px }"
            "QFrame#zone QLabel { color: palette(window-text) }"
        )
        zone.setMinimumHeight(140)
        drop = QVBoxLayout(zone)
        drop.addStretch(1)
        drop.addWidget(_title("Drop a MaterialX document here"), 0, Qt.AlignmentFlag.AlignHCenter)
        more = QLabel("or several, or a folder, to bake them all")
        drop.addWidget(more, 0, Qt.AlignmentFlag.AlignHCenter)
        self.choose = QPushButton("&Open…")
        self.choose.setObjectName(PRIMARY)
        self.choose.setToolTip("Chooses a document")
        self.choose.clicked.connect(lambda _: choose())
        drop.addWidget(self.choose, 0, Qt.AlignmentFlag.AlignHCenter)
        drop.addStretch(1)
        column.addWidget(zone)
        self.shelf_title, self.shelf = _title("Shelf: what was open and baked before"), shelf
        column.addWidget(self.shelf_title)
        column.addWidget(shelf)
        self.examples: dict[str, QToolButton] = {}
        found = [name for name in EXAMPLES if example(name).is_file()]
        if found:
            column.addWidget(_title("Examples: one click bakes"))
            row = QWidget()
            flow = FlowLayout(row)
            for name in found:
                button = QToolButton(text=capitalise(name.replace("_", " ")))
                button.setIcon(QIcon(_picture(name)))
                button.setIconSize(QSize(_THUMBNAIL, _THUMBNAIL))
                button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
                button.setAutoRaise(True)
                button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
                button.setToolTip(f"Opens {example(name)} and bakes it")
                button.setAccessibleName(f"Bake the example {name.replace('_', ' ')}")
                button.clicked.connect(lambda _=False, name=name: bake(example(name)))
                flow.addWidget(button)
                self.examples[name] = button
            column.addWidget(row)
        column.addStretch(1)
        inside.setMaximumWidth(_MOST_WIDTH)
        self.setWidget(inside)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)

    def show_shelf(self, has_entries: bool) -> None:
        """An empty shelf is not shown."""
        self.shelf_title.setVisible(has_entries)
        self.shelf.setVisible(has_entries)


def example(name: str) -> Path:
    """The document of an example. A packaged Verdigris does not contain it."""
    return _REPOSITORY / "examples" / f"{name}.mtlx"


def _picture(name: str) -> QPixmap:
    """The example's part of the sheet in the manual."""
    sheet = QPixmap(str(_REPOSITORY / "docs" / "images" / "examples.png"))
    if sheet.isNull():
        return QPixmap()
    side = sheet.width() // _ACROSS
    at = EXAMPLES.index(name)
    part = sheet.copy(QRect(at % _ACROSS * side, at // _ACROSS * side, side, side))
    smooth = Qt.TransformationMode.SmoothTransformation
    return part.scaled(_THUMBNAIL, _THUMBNAIL, Qt.AspectRatioMode.KeepAspectRatio, smooth)


def _title(text: str) -> QLabel:
    label = QLabel(text)
    label.setFont(title_font(label))
    return label
