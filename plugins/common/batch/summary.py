"""The outcomes of a batch, and the summary that is written after each material."""

from __future__ import annotations

import contextlib
import json
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import HostError, reason, suggest_elsewhere
from verdigris.core.base.files import make_folders, replace_file

BAKED, UP_TO_DATE, FAILED, CANCELLED = "baked", "up to date", "failed", "cancelled"
LISTED, HANDED_OVER, WAITING = "listed", "handed over", "waiting"
LEFT_OUT = "left out"
"""The list of materials says why it cannot be baked, and nobody named it."""
STATUSES = (BAKED, UP_TO_DATE, FAILED, CANCELLED, LEFT_OUT, LISTED, HANDED_OVER, WAITING)


@dataclass
class Outcome:
    """The outcome of one material."""

    name: str
    key: str
    source: str
    status: str
    bundle: str = ""
    document: str = ""
    search: tuple[str, ...] = ()
    error: str = ""
    importance: str = ""
    """The file of painted weights of a handed-over document."""
    live: tuple[str, ...] = ()
    """Inputs that a handed-over document keeps open, as texts of `bake --live`."""
    confined: bool = False
    """Whether a handed-over document may only read files in its folders."""
    notes: tuple[str, ...] = ()
    stopped_by: str = ""
    """Why training ended, as in the event `finished`; `request` if it was ended early."""
    seconds: float = 0.0

    @property
    def is_whole(self) -> bool:
        """Whether the bake ended by itself, and was not left out or ended early."""
        return self.status != CANCELLED and self.stopped_by != "request"


@dataclass
class Summary:
    """The summary of a batch."""

    scene: Path
    file: Path | None = None
    host: str = ""
    warnings: tuple[str, ...] = ()
    outcomes: Sequence[Outcome] = ()
    error: str = ""
    is_complete: bool = field(default=False, init=False)

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "scene": str(self.scene),
            "host": self.host,
            "warnings": list(self.warnings),
            "materials": [asdict(each) for each in self.outcomes],
            "complete": self.is_complete,
        }
        if self.error:
            found["error"] = self.error
        for status in STATUSES:
            found[status.replace(" ", "_")] = self.count(status)
        return found

    def count(self, status: str) -> int:
        return sum(each.status == status for each in self.outcomes)

    @property
    def text(self) -> str:
        return json.dumps(self.as_json(), indent=2)

    def save(self) -> None:
        """Writes the file, if there is one, with the outcomes so far."""
        if self.file is not None:
            write(self.file, f"{self.text}\n".encode())


def describe_unexpected(failure: Exception) -> str:
    """The text of an error that Verdigris does not raise itself. Prints its traceback, for a
    report."""
    with contextlib.suppress(OSError, ValueError):
        traceback.print_exception(failure)
    return f"unexpected {type(failure).__name__}: {failure}: report it with the traceback"


def write(file: Path, data: bytes) -> None:
    """Writes a file completely or not at all, and makes its folder."""
    try:
        make_folders(file.parent)
        replace_file(file, data)
    except OSError as failure:
        raise HostError(
            f"{file}: cannot be written ({reason(failure)}): {suggest_elsewhere(failure)}"
        ) from None
