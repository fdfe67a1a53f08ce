"""The order in which the Tab key goes through widgets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def order_tabs(window: QWidget, parts: Sequence[QWidget]) -> None:
    """Orders what can have the focus by the part that it is in. Inside of a part, the order stays:
    a widget that moves to another place would come last."""
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
