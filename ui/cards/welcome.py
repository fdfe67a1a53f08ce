"""The page of a window without a document: a place to drop one, recent files, the examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from verdigris.core.hosts.result_folders import find_result
from verdigris.ui.qt.flow_layout import FlowLayout
from verdigris.ui.signals import capitalise
from verdigris.ui.style.metrics import WIDE, title_font
from verdigris.ui.style.sheet import PRIMARY
from verdigris.ui.widgets.thumbnails import blank, picture_of

# In the order of the sheet in docs/images/examples.png.
EXAMPLES = (
    *("copper_tray", "glazed_tile", "painted_wood", "enamel_badge"),
    *("brushed_steel", "car_paint", "two_tone_velvet", "glowing_panel"),
)
_ACROSS = 4
_THUMBNAIL, _RECENT = 128, 40
# Wider rows are hard to read.
_MOST_WIDTH = 1280
_REPOSITORY = Path(__file__).parents[2]


class Welcome(QScrollArea):
    """Everything is one click away: a file, or a first bake."""

    def __init__(
        self,
        choose: Callable[[], None],
        open_file: Callable[[Path], None],
        bake: Callable[[Path], None],
    ) -> None:
        super().__init__()
        self._open = open_file
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(WIDE)
        zone = QFrame()
        zone.setObjectName("zone")
        zone.setStyleSheet("QFrame#zone { border: 2px dashed palette(mid); border-radius: 8px }")
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
        self.recent_title = _title("Recent")
        column.addWidget(self.recent_title)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        column.addLayout(self._recent)
        self.recent: list[QPushButton] = []
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
        self.show_recent(())

    def show_recent(
        self, paths: Sequence[Path], find: Callable[[Path], Path | None] = find_result
    ) -> None:
        """Lists documents that were open before, with the pictures of the bundles that `find`
        returns."""
        for button in self.recent:
            self._recent.removeWidget(button)
            button.deleteLater()
        self.recent = []
        for path in paths:
            button = QPushButton(f"{path.name}   {path.parent}".replace("&", "&&"))
            button.setFlat(True)
            button.setStyleSheet("text-align: left; padding: 4px")
            button.setIcon(QIcon(picture_of(find(path), _RECENT) or blank(_RECENT)))
            button.setIconSize(QSize(_RECENT, _RECENT))
            button.setMinimumHeight(_RECENT + 8)
            button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            button.setToolTip(str(path))
            button.setAccessibleName(f"Open {path.name}")
            button.clicked.connect(lambda _=False, path=path: self._open(path))
            self._recent.addWidget(button)
            self.recent.append(button)
        self.recent_title.setVisible(bool(paths))


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
