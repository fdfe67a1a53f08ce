"""Sizes on a grid of eight pixels, and the three sizes of letters: of titles, of text, and of what
is looked up."""

from __future__ import annotations

from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget

HALF, GAP, WIDE = 4, 8, 16
"""Between things that belong together, between others, and around groups."""
FIELD, BUTTON = 24, 32
"""Heights of fields and small buttons, and of the buttons of a bake."""
ICON = 16
RADIUS = 4
_TITLE, _SMALL = 1.3, 0.89
_TABULAR = "tnum"


def title_font(widget: QWidget) -> QFont:
    """The large font, for what is read first. Text has the size of the host."""
    font = widget.font()
    font.setPointSizeF(_TITLE * font.pointSizeF())
    font.setBold(True)
    return font


def small_font(widget: QWidget) -> QFont:
    """The small font, for what is looked up: names of files, figures, and notes."""
    font = widget.font()
    font.setPointSizeF(_SMALL * font.pointSizeF())
    return font


def bold(widget: QWidget) -> QFont:
    font = widget.font()
    font.setBold(True)
    return font


def tabular(font: QFont) -> QFont:
    """The font with figures that all have the same width, so that counting numbers do not tremble.
    Qt before 6.7 cannot choose them; most fonts of a desktop have no others."""
    changed = QFont(font)
    if hasattr(QFont, "Tag"):
        changed.setFeature(QFont.Tag(_TABULAR), 1)
    return changed
