"""What the artist is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from verdigris.ui.signal import Signal

INFO, WARNING, ERROR = "info", "warning", "error"
# One that was among the last so many is moved to the end.
_REMEMBERED = 3


@dataclass(frozen=True)
class Notice:
    """Something to tell the artist."""

    severity: str
    text: str


def as_sentence(text: str) -> str:
    """With a large letter first."""
    return text[:1].upper() + text[1:]


class Notices(Sequence[Notice]):
    """All that was told, the newest last."""

    def __init__(self) -> None:
        self.changed = Signal()
        self._told: list[Notice] = []

    @overload
    def __getitem__(self, index: int) -> Notice: ...

    @overload
    def __getitem__(self, index: slice) -> list[Notice]: ...

    def __getitem__(self, index: int | slice) -> Notice | list[Notice]:
        return self._told[index]

    def __len__(self) -> int:
        return len(self._told)

    def tell(self, severity: str, text: str) -> None:
        notice = Notice(severity, text)
        if notice in self._told[-_REMEMBERED:]:
            # by its place, since one that was told long before stays where it is
            del self._told[len(self._told) - 1 - self._told[::-1].index(notice)]
        self._told.append(notice)
        self.changed.emit()

    def tell_notes(self, notes: Sequence[str]) -> None:
        """What was noted on the way, as sentences."""
        for note in notes:
            self.tell(INFO, as_sentence(note))

    def clear(self) -> None:
        self._told.clear()
        self.changed.emit()
