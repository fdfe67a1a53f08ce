"""The palettes of the window of its own. Inside of a host, the panel has the host's."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from verdigris.ui.style.metrics import tabular

DARK, LIGHT = "dark", "light"
THEMES = (DARK, LIGHT)
_STYLE = "fusion"
_ROLE, _GROUP = QPalette.ColorRole, QPalette.ColorGroup


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
    """Gives an application of its own the same look on every desktop."""
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
