"""Signals and messages for the artist, on which the panel is built. Without Qt."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

INFO, WARNING, ERROR = "info", "warning", "error"
# A notice that repeats one of the last three replaces it.
_REPEAT_WINDOW = 3
# Folders in a path: names may contain spaces, but a space before another path separates the two.
_FOLDERS = re.compile(
    r"""(?<![\w.:/\\])(?:[A-Za-z]:|~)?[\\/]{1,2}(?:[^\\/:\n"']*[^\\/:\n"'\s][\\/])+(?=[^\\/\s])"""
)


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


@dataclass(frozen=True)
class Notice:
    """One message."""

    severity: str
    text: str
    names_folder: bool = False
    """Whether it names a folder, which is then shown whole."""
    reveal: Path | None = None
    """A file that was written, whose folder a button shows."""

    @property
    def short(self) -> str:
        """The text without folders, unless it names one."""
        return self.text if self.names_folder else short_paths(self.text)


def short_paths(text: str) -> str:
    """A text with file names in place of whole paths, which fill a narrow panel."""
    return _FOLDERS.sub("", text)


def capitalise(text: str) -> str:
    """Makes the first letter a capital, unless the text begins with the name of a file."""
    first = text.partition(" ")[0].rstrip(".:,")
    is_file = any(each in first for each in "./\\")
    return text if is_file else text[:1].upper() + text[1:]


class Notices(Sequence[Notice]):
    """All messages, the newest last."""

    def __init__(self) -> None:
        self.changed = Signal()
        self._notices: list[Notice] = []

    @overload
    def __getitem__(self, index: int) -> Notice: ...

    @overload
    def __getitem__(self, index: slice) -> list[Notice]: ...

    def __getitem__(self, index: int | slice) -> Notice | list[Notice]:
        return self._notices[index]

    def __len__(self) -> int:
        return len(self._notices)

    def add(
        self, severity: str, text: str, names_folder: bool = False, reveal: Path | None = None
    ) -> None:
        """Adds a message. A recent repetition is moved to the end instead."""
        notice = Notice(severity, text, names_folder, reveal)
        if notice in self._notices[-_REPEAT_WINDOW:]:
            # deletes the last occurrence: an older one keeps its place
            del self._notices[len(self._notices) - 1 - self._notices[::-1].index(notice)]
        self._notices.append(notice)
        self.changed.emit()

    def add_notes(self, notes: Sequence[str]) -> None:
        """Adds each note as information."""
        for note in notes:
            self.add(INFO, capitalise(note))

    def clear(self) -> None:
        self._notices.clear()
        self.changed.emit()
