"""What commands print beside their results: warnings, and a line of progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from verdigris.core.base.text import format_share

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle

# Before, the line would only flicker.
_QUICK_SECONDS = 2.0
_LINE_SECONDS = 0.2
_CLEAR = "\r\x1b[K"


def warn(text: str) -> None:
    """Prints a note to standard error."""
    print(f"verdigris: {text}", file=sys.stderr, flush=True)


def warn_of_light_from_below(bundles: Sequence[Bundle], what: str) -> None:
    """Prints which bundles transmit light. `what` has reflected light only."""
    for bundle in bundles:
        if bundle.manifest.transmitted:
            warn(f"{bundle.manifest.name} transmits light, and {what} reflected light only")


@contextmanager
def progress_line() -> Iterator[Callable[[str, float], None]]:
    """A line on a terminal with the current work, the part of it that is done, and the time left.
    Where standard error is not a terminal, nothing is shown."""
    work, shown = "", 0.0
    begun = work_begun = time.monotonic()

    def show(what: str, part: float) -> None:
        nonlocal work, work_begun, shown
        now = time.monotonic()
        if what != work:
            work, work_begun = what, now
        is_early = now - begun < _QUICK_SECONDS or now - shown < _LINE_SECONDS
        if is_early or not sys.stderr.isatty():
            return
        passed = now - work_begun
        is_known = part and passed >= _QUICK_SECONDS
        left = f", {passed * (1 - part) / part:.0f} s left" if is_known else ""
        print(f"{_CLEAR}{what}: {format_share(part)}{left}", end="", file=sys.stderr, flush=True)
        shown = now

    try:
        yield show
    finally:
        if shown:
            print(_CLEAR, end="", file=sys.stderr, flush=True)
