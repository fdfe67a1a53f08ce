"""The lists and buttons of the page for painted weights."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from verdigris.core.worker.protocol.commands import EVERYWHERE, IN_VIEW, PAINTED
from verdigris.ui.brush.texture_view import ERRORS, WEIGHTS
from verdigris.ui.paint import brush_tools
from verdigris.ui.paint.brush_space import OBJECT, TEXTURE, VIEW
from verdigris.ui.qt.flow_layout import FlowLayout
from verdigris.ui.style.combo import Combo
from verdigris.ui.style.icons import wear

IMAGES = "Images (*.exr *.png *.tif *.tiff *.jpg *.hdr *.npy)"
LAYERS = (("Painted weights", WEIGHTS), ("Error by place", ERRORS))
FOCUS = (
    ("Train everywhere", EVERYWHERE),
    ("Train painted places only", PAINTED),
    ("Train visible places more", IN_VIEW),
)
SPACES = (
    ("Texture: % of its width", TEXTURE),
    ("Object: units of the scene", OBJECT),
    ("View: % of its shorter side", VIEW),
)
MIRRORS = (
    ("None", brush_tools.NO_MIRROR),
    ("Left and right of the texture", brush_tools.MIRROR_U),
    ("Left and right of the mesh", brush_tools.MIRROR_X),
)
PENS = (
    ("Pressure changes the strength", brush_tools.STRENGTH),
    ("Pressure changes the size", brush_tools.SIZE),
    ("Pressure changes both", brush_tools.BOTH),
    ("Pressure changes nothing", brush_tools.NOTHING),
)
COMPARE = "To measure what the paint does, bake once without it, with the same settings."


def button(text: str, icon: str, tip: str) -> QToolButton:
    made = QToolButton(text=text)
    wear(made, icon)
    made.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    made.setToolTip(tip)
    return made


def choice(entries: tuple[tuple[str, str], ...], name: str, tip: str) -> Combo:
    combo = Combo()
    for text, value in entries:
        combo.addItem(text, value)
    combo.setAccessibleName(name)
    combo.setToolTip(tip)
    return combo


def flow_of(*widgets: QWidget) -> QWidget:
    row = QWidget()
    flow = FlowLayout(row)
    for widget in widgets:
        flow.addWidget(widget)
    return row
