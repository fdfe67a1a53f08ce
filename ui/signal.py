"""Tells whoever listens that something has changed: all that a model needs of Qt's signals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Signal:
    """A list of functions that are called in turn."""

    def __init__(self) -> None:
        self._listeners: list[Callable[..., Any]] = []

    def connect(self, listener: Callable[..., Any]) -> None:
        self._listeners.append(listener)

    def disconnect(self, listener: Callable[..., Any]) -> None:
        """Forgets a listener, if it is known."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def emit(self, *values: Any) -> None:
        for listener in tuple(self._listeners):
            listener(*values)
