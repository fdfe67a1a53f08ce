"""Colours that the panel adds to the palette of its host, for light and for dark ones."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QWidget

_DARK_BELOW = 128


@dataclass(frozen=True)
class Colours:
    """Readable on the window's background, and apart from each other."""

    good: QColor
    middling: QColor
    bad: QColor
    raw: QColor
    """Of the raw loss."""
    smooth: QColor
    """Of the smoothed loss."""
    error: QColor
    target: QColor


def is_dark(widget: QWidget) -> bool:
    return widget.palette().color(QPalette.ColorRole.Window).lightness() < _DARK_BELOW


def colours_for(widget: QWidget) -> Colours:
    """For the palette that the widget has now."""
    if is_dark(widget):
        return Colours(
            QColor("#7fd6a4"),
            QColor("#e8c268"),
            QColor("#ff8f80"),
            QColor(110, 150, 200, 110),
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


def keep_readable(widget: QWidget) -> None:
    """Settings cannot be changed while a bake trains, but are read then: some palettes fade them so
    far that they are not. This grey stands out from light and from dark."""
    palette = QPalette()
    for role in (QPalette.ColorRole.Text, QPalette.ColorRole.WindowText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor("#7d8187"))
    palette.setColor(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText, QColor("#7d8187"))
    widget.setPalette(palette)


def dark_palette() -> QPalette:
    """As of an application that is dark, for pictures of the panel in one."""
    palette = QPalette()
    window, base, text = QColor("#2b2d30"), QColor("#1f2123"), QColor("#dfe1e5")
    dim, accent = QColor("#7d8187"), QColor("#3d7fd0")
    role = QPalette.ColorRole
    for each, colour in (
        (role.Window, window),
        (role.WindowText, text),
        (role.Base, base),
        (role.AlternateBase, window),
        (role.ToolTipBase, base),
        (role.ToolTipText, text),
        (role.Text, text),
        (role.Button, QColor("#3a3d41")),
        (role.ButtonText, text),
        (role.BrightText, QColor("#ff8f80")),
        (role.Link, QColor("#6fb1ff")),
        (role.Highlight, accent),
        (role.HighlightedText, QColor("#ffffff")),
        (role.PlaceholderText, dim),
        (role.Mid, QColor("#45484d")),
        (role.Light, QColor("#4a4d52")),
        (role.Midlight, QColor("#404347")),
        (role.Dark, QColor("#1a1b1d")),
        (role.Shadow, QColor("#101112")),
    ):
        palette.setColor(each, colour)
    for each in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, each, dim)
    return palette
