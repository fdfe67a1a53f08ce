"""What USD's library raises for damaged and odd stages, as errors of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from verdigris.core.base.errors import VerdigrisError

# pxr's own error is a RuntimeError, and its text is not always UTF-8. Values of other types than
# their attribute's, and arrays that do not exist, fail in numpy and in Python.
_RAISED = (RuntimeError, TypeError, ValueError, LookupError, OverflowError, MemoryError)
# The first message: Error in '…' at line 1 in file … : 'message'
_SAID = re.compile(r" in file \S+ : '(.*?)'\s*(?:$|Error in )", re.DOTALL)
_LONGEST = 300


def said_by_usd(failure: Exception) -> str:
    """The message, without the places in USD's own code."""
    try:
        text = str(failure)
    except UnicodeDecodeError:
        return "its message has unreadable names"
    said = _SAID.search(text)
    return " ".join((said.group(1) if said else text).split())[:_LONGEST]


@contextmanager
def refusing_damage(error: type[VerdigrisError], what: object) -> Iterator[None]:
    """Turns what USD raises into an error that names the file or prim."""
    try:
        yield
    except _RAISED as failure:
        why = said_by_usd(failure)
        raise error(f"{what}: cannot be read as USD ({why}): export it again") from None
