"""The colours that the panel adds to a light or a dark palette, and the palettes of its own window.
Inside a host, the panel has the palette of the host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from verdigris.ui.style.metrics import tabular

_DARK_BELOW = 128
# Disabled and quiet text keep these contrasts if the palette itself has them.
_MIN_CONTRAST, _QUIET_CONTRAST, _MARK_CONTRAST = 2.8, 4.5, 3.2
# Lightness in percent of the background.
_MAX_FADE = 60
DARK, LIGHT = "dark", "light"
THEMES = (DARK, LIGHT)
_STYLE = "fusion"
_ROLE, _GROUP = QPalette.ColorRole, QPalette.ColorGroup


@dataclass(frozen=True)
class Colours:
    """Colours that are readable on the window's background and differ from each other."""

    good: QColor
    middling: QColor
    bad: QColor
    raw: QColor
    """The raw loss."""
    smooth: QColor
    """The smoothed loss."""
    error: QColor
    target: QColor


def ground_of(widget: QWidget) -> QColor:
    """The background behind a widget. The palette of one with a style sheet of its own has the
    background of that sheet, which may be of the theme before."""
    while widget.styleSheet() and widget.parentWidget() is not None:
        widget = widget.parentWidget()
    return widget.palette().color(QPalette.ColorRole.Window)


def is_dark(widget: QWidget) -> bool:
    return ground_of(widget).lightness() < _DARK_BELOW


def colours_for(widget: QWidget) -> Colours:
    """The colours for the present palette of a widget."""
    if is_dark(widget):
        return Colours(
            QColor("#7fd6a4"),
            QColor("#e8c268"),
            QColor("#ff8f80"),
            QColor(110, 150, 200, 160),
            QColor("#6fb1ff"),
            QColor("#e8c268"),
            QColor("#7fd6a4"),
        )
    return Colours(
        QColor("#11734a"),
        QColor("#8a5a00"),
        QColor("#b3261e"),
        QColor(60, 100, 170, 90),
        QColor("#1455b0"),
        QColor("#8a5a00"),
        QColor("#11734a"),
    )


def dim_text(palette: QPalette) -> QColor:
    """The colour of disabled text and of hints on the window's background. Some palettes fade them
    too much: settings are disabled during a bake but still read."""
    role = QPalette.ColorRole
    return _faded(palette.color(role.WindowText), palette.color(role.Window))


def quiet_text(palette: QPalette) -> QColor:
    """The colour of secondary text, which must still be readable."""
    role = QPalette.ColorRole
    ground = palette.color(role.Window)
    return _faded(palette.color(role.WindowText), ground, _QUIET_CONTRAST)


def mark_edge(palette: QPalette) -> QColor:
    """The colour of a border that shows whether something is chosen."""
    role = QPalette.ColorRole
    ground = palette.color(role.Window)
    return _faded(palette.color(role.WindowText), ground, _MARK_CONTRAST)


def contrast(one: QColor, other: QColor) -> float:
    """The WCAG 2 contrast ratio of two colours, 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: QColor) -> float:
    shares = (colour.redF(), colour.greenF(), colour.blueF())
    red, green, blue = (
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _faded(text: QColor, ground: QColor, least: float = _MIN_CONTRAST) -> QColor:
    """The text colour, faded as far as the contrast allows."""
    found = _most_faded(text.getRgb()[:3], ground.getRgb()[:3], least)
    return text if found is None else QColor(*found)


# Each button of a panel needs it at each change of the palette.
@lru_cache(maxsize=64)
def _most_faded(
    text: Sequence[int], ground: Sequence[int], least: float
) -> tuple[int, int, int] | None:
    for percent in range(_MAX_FADE, 0, -5):
        red, green, blue = (
            round((percent * under + (100 - percent) * over) / 100)
            for over, under in zip(text, ground, strict=True)
        )
        if contrast(QColor(red, green, blue), QColor(*ground)) >= least:
            return red, green, blue
    return None


def dark_palette() -> QPalette:
    """Neutral greys, so that the eye judges the colours of a material and not those around it."""
    return _palette(
        ("#2b2b2b", "#1e1e1e", "#3b3b3b", "#e2e2e2", "#8d8d8d"),
        ("#4a4a4a", "#545454", "#404040", "#191919", "#0e0e0e"),
        ("#1b7f6e", "#7cc7ff", "#ff8f80"),
    )


def light_palette() -> QPalette:
    return _palette(
        ("#f0f0f0", "#ffffff", "#e3e3e3", "#1d1d1d", "#767676"),
        ("#bdbdbd", "#ffffff", "#ececec", "#9c9c9c", "#6b6b6b"),
        ("#0f766e", "#1455b0", "#b3261e"),
    )


def apply_theme(application: QApplication, theme: str) -> None:
    """Gives the panel's own application the same look on every desktop."""
    # each of them makes all widgets of an open window again
    if application.style().name() != _STYLE:
        application.setStyle(_STYLE)
    application.setPalette(light_palette() if theme == LIGHT else dark_palette())
    font = tabular(application.font())
    if font != application.font():
        application.setFont(font)


def _palette(
    grounds: tuple[str, ...], edges: tuple[str, ...], accents: tuple[str, ...]
) -> QPalette:
    window, base, button, text, dim = map(QColor, grounds)
    mid, light, midlight, dark, shadow = map(QColor, edges)
    accent, link, bright = map(QColor, accents)
    palette = QPalette()
    for role, colour in (
        *((_ROLE.Window, window), (_ROLE.AlternateBase, window), (_ROLE.Button, button)),
        *((_ROLE.Base, base), (_ROLE.ToolTipBase, base), (_ROLE.ToolTipText, text)),
        *((_ROLE.WindowText, text), (_ROLE.Text, text), (_ROLE.ButtonText, text)),
        *((_ROLE.PlaceholderText, dim), (_ROLE.BrightText, bright), (_ROLE.Link, link)),
        *((_ROLE.Highlight, accent), (_ROLE.HighlightedText, QColor("#ffffff"))),
        *((_ROLE.Mid, mid), (_ROLE.Light, light), (_ROLE.Midlight, midlight)),
        *((_ROLE.Dark, dark), (_ROLE.Shadow, shadow)),
    ):
        palette.setColor(role, colour)
    for role in (_ROLE.WindowText, _ROLE.Text, _ROLE.ButtonText):
        palette.setColor(_GROUP.Disabled, role, dim)
    palette.setColor(_GROUP.Disabled, _ROLE.Highlight, mid)
    palette.setColor(_GROUP.Disabled, _ROLE.HighlightedText, dim)
    return palette
