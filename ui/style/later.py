"""Calls that wait until Qt is idle."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget


def later(widget: QWidget, do: Callable[[], None]) -> None:
    """Calls a function when Qt is idle, unless the widget is destroyed before."""
    timer = QTimer(widget)
    timer.setSingleShot(True)
    timer.timeout.connect(do)
    timer.timeout.connect(timer.deleteLater)
    timer.start(0)
