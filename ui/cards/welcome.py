"""The page of a window without a document: what Verdigris does, a place to drop a document, the
demonstrations, the examples, the shelf."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
from verdigris.ui.qt.text_widgets import Line
from verdigris.ui.signals import capitalise
from verdigris.ui.style.metrics import WIDE, title_font
from verdigris.ui.style.sheet import PRIMARY

# In the order of the sheet in docs/images/examples.png.
EXAMPLES = (
    *("copper_tray", "glazed_tile", "painted_wood", "enamel_badge"),
    *("brushed_steel", "car_paint", "two_tone_velvet", "glowing_panel"),
)


@dataclass(frozen=True)
class Demonstration:
    """An example that shows at once what a bake is for."""

    name: str
    text: str
    live: tuple[str, ...] = ()
    """Requests of the live inputs that are open from the start."""


# In the order of docs/images/demonstrations.jpg.
DEMONSTRATIONS = (
    Demonstration("street_stone", "Make a street wet with one slider", ("wetness=0..1",)),
    Demonstration("rusting_paint", "Let steel rust with one slider", ("age=0..1",)),
    Demonstration("copper_tray", "Four layers in one small texture"),
)
SENTENCE = (
    "Verdigris turns a MaterialX material, with all its layers, into a small neural material that "
    "games draw in real time."
)
_ACROSS = 4
_THUMBNAIL, _LARGE = 128, 232
# Wider rows are hard to read.
_MOST_WIDTH = 1280
_REPOSITORY = Path(__file__).parents[2]


class Welcome(QScrollArea):
    """Everything is one click away: a file, or a first bake."""

    def __init__(
        self,
        choose: Callable[[], None],
        bake: Callable[[Path, tuple[str, ...]], None],
        shelf: QWidget,
    ) -> None:
        """`bake` opens a document with live inputs, and bakes it."""
        super().__init__()
        self._bake = bake
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(WIDE)
        self.sentence = Line()
        self.sentence.setText(SENTENCE)
        self.sentence.setFont(title_font(self.sentence))
        column.addWidget(self.sentence)
        column.addWidget(self._zone(choose))
        self.shelf_title, self.shelf = _title("Shelf: what was open and baked before"), shelf
        column.addWidget(self.shelf_title)
        column.addWidget(shelf)
        self.demonstrations: dict[str, QToolButton] = {}
        self.examples: dict[str, QToolButton] = {}
        large, small = _Row(column), _Row(column)
        for shown in DEMONSTRATIONS:
            if example(shown.name).is_file():
                large.begin("See what it does: one click bakes")
                button = self._button(shown.name, _LARGE, shown.live, shown.text)
                self.demonstrations[shown.name] = large.add(button)
        for name in EXAMPLES:
            if name not in self.demonstrations and example(name).is_file():
                small.begin("More examples")
                self.examples[name] = small.add(self._button(name, _THUMBNAIL))
        column.addStretch(1)
        inside.setMaximumWidth(_MOST_WIDTH)
        self.setWidget(inside)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)

    def _zone(self, choose: Callable[[], None]) -> QFrame:
        """Where documents are dropped, with the button that opens one."""
        zone = QFrame()
        zone.setObjectName("zone")
        zone.setStyleSheet(
            "QFrame#zone { border: 2px dashed palette(mid); border-radius: 8px }"
            "QFrame#zone QLabel { color: palette(window-text) }"
        )
        zone.setMinimumHeight(124)
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
        return zone

    def _button(
        self, name: str, side: int, live: tuple[str, ...] = (), text: str = ""
    ) -> QToolButton:
        """A picture that opens and bakes an example."""
        words = name.replace("_", " ")
        button = QToolButton(text="\n".join(filter(None, (capitalise(words), text))))
        button.setIcon(QIcon(_picture(name, side)))
        button.setIconSize(QSize(side, side))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setToolTip(f"Opens {example(name)} and bakes it")
        button.setAccessibleName(f"Bake the example {words}")
        button.setAccessibleDescription(text)
        button.clicked.connect(lambda _=False: self._bake(example(name), live))
        return button

    def show_shelf(self, has_entries: bool) -> None:
        """An empty shelf is not shown."""
        self.shelf_title.setVisible(has_entries)
        self.shelf.setVisible(has_entries)


def example(name: str) -> Path:
    """The document of an example. A packaged Verdigris does not contain it."""
    return _REPOSITORY / "examples" / f"{name}.mtlx"


class _Row:
    """Buttons that wrap, below a title. It is made with its first button."""

    def __init__(self, column: QVBoxLayout) -> None:
        self._column = column
        self._flow: FlowLayout | None = None

    def begin(self, title: str) -> None:
        if self._flow is None:
            self._column.addWidget(_title(title))
            row = QWidget()
            self._flow = FlowLayout(row)
            self._column.addWidget(row)

    def add(self, button: QToolButton) -> QToolButton:
        assert self._flow is not None
        self._flow.addWidget(button)
        return button


def _picture(name: str, side: int) -> QPixmap:
    """The example's part of a sheet in the manual."""
    file, names, across = "examples.png", EXAMPLES, _ACROSS
    if side == _LARGE:
        names = tuple(each.name for each in DEMONSTRATIONS)
        file, across = "demonstrations.jpg", len(names)
    sheet = QPixmap(str(_REPOSITORY / "docs" / "images" / file))
    if sheet.isNull():
        return QPixmap()
    cell = sheet.width() // across
    at = names.index(name)
    part = sheet.copy(QRect(at % across * cell, at // across * cell, cell, cell))
    smooth = Qt.TransformationMode.SmoothTransformation
    return part.scaled(side, side, Qt.AspectRatioMode.KeepAspectRatio, smooth)


def _title(text: str) -> QLabel:
    label = QLabel(text)
    label.setFont(title_font(label))
    return label
