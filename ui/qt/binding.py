"""Binds widgets to the model: signals in one direction, blocked signals in the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from verdigris.ui.signals.signal import Signal


@contextmanager
def blocked_signals(*widgets: QObject) -> Iterator[None]:
    """Blocks the signals of widgets while the model changes them."""
    before = [widget.blockSignals(True) for widget in widgets]
    try:
        yield
    finally:
        for widget, was_blocked in zip(widgets, before, strict=True):
            widget.blockSignals(was_blocked)


def bind(widget: QWidget, signal: Signal, show: Callable[..., None]) -> None:
    """Calls `show` now and at each signal, as long as the widget exists."""
    signal.connect(show)
    widget.destroyed.connect(lambda *_: signal.disconnect(show))
    show()
