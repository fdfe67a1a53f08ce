"""A minimal signal, so that the model needs no Qt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Signal:
    """A list of listeners that are called in turn."""

    def __init__(self) -> None:
        self._listeners: list[Callable[..., Any]] = []

    def connect(self, listener: Callable[..., Any]) -> None:
        self._listeners.append(listener)

    def disconnect(self, listener: Callable[..., Any]) -> None:
        """Removes a listener. Does nothing if it is not connected."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def emit(self, *values: Any) -> None:
        for listener in tuple(self._listeners):
            listener(*values)
