"""One flat look in every host: a style sheet in the colours of the present palette."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QWidget

from verdigris.ui.style.colours import dim_text, ground_of, quiet_text
from verdigris.ui.style.metrics import BUTTON, FIELD, GAP, HALF, RADIUS

PRIMARY = "primary"
"""The object name of the one filled button."""
STRIP = "strip"
NOTE = "note"
"""The object name of small text in a quiet colour."""
_HANDLE = 12
_SHEET = """
QPushButton, QToolButton {{ border: 1px solid {edge}; border-radius: {radius}px;
  background: {button}; color: {text}; min-height: {field}px; padding: 0 {gap}px }}
QToolButton {{ padding: 0 {half}px; min-width: {tool}px; min-height: {inner}px }}
QToolButton[autoRaise="true"], QPushButton[flat="true"] {{ border-color: transparent;
  background: transparent }}
QPushButton:hover, QToolButton:hover {{ background: {raised} }}
QPushButton:pressed, QToolButton:pressed {{ background: {sunk} }}
QToolButton:checked {{ background: {sunk}; border-color: {accent} }}
QPushButton:disabled, QToolButton:disabled {{ color: {dim}; background: transparent;
  border-color: {faint} }}
QToolButton[autoRaise="true"]:disabled, QPushButton[flat="true"]:disabled {{
  border-color: transparent }}
QPushButton:focus, QToolButton:focus {{ border-color: {accent} }}
QPushButton#fold {{ padding: 0 {half}px 0 0; text-align: left }}
QToolButton::menu-indicator {{ width: 0 }}
QWidget#{strip} QPushButton {{ min-height: {tall}px }}
QPushButton#{primary} {{ background: {accent}; border-color: {accent}; color: {on_accent};
  font-weight: bold; padding: 0 {wide}px }}
QPushButton#{primary}:hover {{ background: {accent_raised} }}
QPushButton#{primary}:pressed {{ background: {accent_sunk} }}
QPushButton#{primary}:focus {{ border-color: {text} }}
QPushButton#{primary}:disabled {{ background: {button}; border-color: {button}; color: {dim} }}
QLineEdit, QAbstractSpinBox {{ border: 1px solid {edge}; border-radius: {radius}px;
  background: {base}; min-height: {field}px; padding: 0 {half}px }}
QAbstractSpinBox {{ min-height: {inner}px }}
QLineEdit:focus, QAbstractSpinBox:focus {{ border-color: {accent} }}
QLineEdit:disabled, QAbstractSpinBox:disabled {{ border-color: {faint};
  background: transparent }}
QLabel#{note} {{ color: {quiet} }}
QLabel:disabled, QCheckBox:disabled, QComboBox:disabled, QLineEdit:disabled,
QAbstractSpinBox:disabled {{ color: {dim} }}
QLineEdit {{ placeholder-text-color: {quiet} }}
QLineEdit:disabled {{ placeholder-text-color: {dim} }}
QAbstractSpinBox QLineEdit {{ border: none; background: transparent; min-height: 0; padding: 0 }}
QSlider::groove:horizontal {{ height: 4px; border-radius: 2px; background: {groove} }}
QSlider::sub-page:horizontal {{ border-radius: 2px; background: {accent} }}
QSlider::handle:horizontal {{ width: {handle}px; margin: -4px 0; border-radius: 6px;
  background: {text} }}
QSlider::handle:horizontal:focus {{ background: {accent_raised} }}
QScrollBar:vertical {{ width: 8px; border: none; background: transparent }}
QScrollBar::handle:vertical {{ min-height: 24px; border-radius: 4px; background: {edge} }}
QScrollBar::add-line:vertical, QScrollBar::sub-line:vertical {{ height: 0 }}
QScrollBar::add-page:vertical, QScrollBar::sub-page:vertical {{ background: transparent }}
QSplitter::handle {{ background: transparent }}
"""


def mixed(one: QColor, other: QColor, share: float) -> QColor:
    """A colour between two, `share` of the way to the other."""
    pairs = zip(one.getRgb()[:3], other.getRgb()[:3], strict=True)
    return QColor(*(round((1 - share) * a + share * b) for a, b in pairs))


def wear_sheet(widget: QWidget) -> None:
    """Gives a widget and its children the look. Call it again when the palette changes."""
    sheet = sheet_of(widget.palette())
    # setting it raises the event again
    if widget.styleSheet() != sheet:
        widget.setStyleSheet(sheet)


def wear_card(widget: QWidget, name: str, edge: QColor) -> None:
    """Draws a frame with this object name as a card, with a thick edge on one side."""
    ground = ground_of(widget)
    style = (
        f"QFrame#{name} {{ background: {ground.name()}; border: 1px solid {edge.name()}; "
        f"border-left: 4px solid {edge.name()}; border-radius: {RADIUS}px }}"
    )
    if widget.styleSheet() != style:
        widget.setStyleSheet(style)


def sheet_of(palette: QPalette) -> str:
    role = QPalette.ColorRole
    window, base, text = (palette.color(each) for each in (role.Window, role.Base, role.WindowText))
    button, accent = palette.color(role.Button), palette.color(role.Highlight)
    on_accent = palette.color(role.HighlightedText)
    names = {
        "edge": mixed(window, text, 0.22),
        "faint": mixed(window, text, 0.1),
        "button": button,
        "raised": mixed(button, text, 0.12),
        "sunk": mixed(button, window, 0.6),
        "groove": mixed(window, text, 0.2),
        "text": text,
        "dim": dim_text(palette),
        "quiet": quiet_text(palette),
        "base": base,
        "accent": accent,
        "accent_raised": mixed(accent, on_accent, 0.15),
        "accent_sunk": mixed(accent, window, 0.25),
        "on_accent": on_accent,
    }
    # a border of one pixel on both sides
    sizes = {
        "field": FIELD - 2,
        # these two get three pixels more from Qt
        "inner": FIELD - 5,
        "tall": BUTTON - 2,
        "tool": FIELD - 2 - 2 * HALF,
        "half": HALF,
        "gap": GAP,
        "wide": 2 * GAP,
        "radius": RADIUS,
        "handle": _HANDLE,
        "primary": PRIMARY,
        "strip": STRIP,
        "note": NOTE,
    }
    return _SHEET.format(**{name: colour.name() for name, colour in names.items()}, **sizes)
