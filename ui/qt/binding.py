"""Binds widgets to the model, and orders them for the Tab key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget

from verdigris.ui.signals import Signal


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


def order_tabs(window: QWidget, parts: Sequence[QWidget]) -> None:
    """Orders widgets that can have the focus by the parts that they are in. Inside a part, the
    order stays: Qt would put a widget that moves to another place last."""
    chain, widget = [], window.nextInFocusChain()
    while widget is not window:
        chain.append(widget)
        widget = widget.nextInFocusChain()
    can_have_it = [each for each in chain if each.focusPolicy() & Qt.FocusPolicy.TabFocus]
    ordered = [
        each for part in parts for each in can_have_it if each is part or part.isAncestorOf(each)
    ]
    for before, after in pairwise(ordered):
        QWidget.setTabOrder(before, after)
