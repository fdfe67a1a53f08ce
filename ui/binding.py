"""The two lines that bind a control: model to widget without an echo, and widget to model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from verdigris.ui.signal import Signal


@contextmanager
def quietly(*widgets: QObject) -> Iterator[None]:
    """Changes widgets without their telling it to the model."""
    before = [widget.blockSignals(True) for widget in widgets]
    try:
        yield
    finally:
        for widget, was_blocked in zip(widgets, before, strict=True):
            widget.blockSignals(was_blocked)


def follow(widget: QWidget, signal: Signal, show: Callable[..., None]) -> None:
    """Shows what is now, and whenever the signal comes, for as long as the widget lives."""
    signal.connect(show)
    widget.destroyed.connect(lambda *_: signal.disconnect(show))
    show()
