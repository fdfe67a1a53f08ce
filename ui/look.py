"""Colours that the panel adds to the palette of its host, for light and for dark ones."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QWidget

_DARK_BELOW = 128
# What can be read; what fades stays above it where the palette itself is.
_LEAST_CONTRAST = 2.8
_MOST_FADED = 60
_WRITTEN_ON = {
    QPalette.ColorRole.Text: QPalette.ColorRole.Base,
    QPalette.ColorRole.WindowText: QPalette.ColorRole.Window,
    QPalette.ColorRole.ButtonText: QPalette.ColorRole.Button,
}


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


def keep_readable(widget: QWidget) -> None:
    """Settings cannot be changed while a bake trains, but are read then: some palettes fade them so
    far that they are not, and hints in empty fields, too. To be called again when the palette is
    another."""
    seen, palette = widget.palette(), QPalette()
    for role, ground in _WRITTEN_ON.items():
        faded = _faded(seen.color(role), seen.color(ground))
        palette.setColor(QPalette.ColorGroup.Disabled, role, faded)
    hint = _faded(seen.color(QPalette.ColorRole.Text), seen.color(QPalette.ColorRole.Base))
    palette.setColor(QPalette.ColorRole.PlaceholderText, hint)
    if palette.resolve(seen) != seen:
        widget.setPalette(palette)


def contrast(one: QColor, other: QColor) -> float:
    """Of two colours, from 1 to 21, as web pages are judged by (WCAG 2)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: QColor) -> float:
    shares = (colour.redF(), colour.greenF(), colour.blueF())
    red, green, blue = (
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _faded(text: QColor, ground: QColor) -> QColor:
    """As near to the ground as can still be read."""
    for percent in range(_MOST_FADED, 0, -5):
        mixed = [
            round((percent * under + (100 - percent) * over) / 100)
            for over, under in zip(text.getRgb()[:3], ground.getRgb()[:3], strict=True)
        ]
        if contrast(QColor(*mixed), ground) >= _LEAST_CONTRAST:
            return QColor(*mixed)
    return text


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
