"""Errors of the shader compiler, with the file, the line and the code that the studio wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verdigris.core.base.errors import DocumentError

_MOST_SHOWN = 8
_ERROR = re.compile(
    r"^(?:fatal )?error\[?[^\]:\n]*\]?: (?P<what>[^\n]*)\n"
    r"\s*--> (?P<file>[^\n]*?):(?P<line>\d+):\d+\n"
    r"(?P<shown>(?:[ \t]*(?:\d+ )?\|[^\n]*\n?)*)",
    re.MULTILINE,
)
_CODE = re.compile(r"^\s*\d+ \| (.*)$", re.MULTILINE)
_POINTED = re.compile(r"^\s*\|\s*\^+ ?(.*)$", re.MULTILINE)


def compile_error(name: str, text: str) -> DocumentError:
    """All errors of the compiler's output with file, line and code."""
    found = list(dict.fromkeys(_errors(text)))
    if not found:
        lines = [line.strip() for line in text.splitlines() if "error" in line.lower()]
        found = [lines[0] if lines else text.strip()[:200]]
    more = len(found) - _MOST_SHOWN
    shown = "; ".join(found[:_MOST_SHOWN]) + (f"; and {more} more errors" if more > 0 else "")
    return DocumentError(f"{name} does not compile: {shown}")


def _errors(text: str) -> Iterator[str]:
    for each in _ERROR.finditer(text):
        code, pointed = _CODE.search(each["shown"]), _POINTED.search(each["shown"])
        what = (pointed[1] if pointed and pointed[1].strip() else each["what"]).strip().rstrip(".")
        where = f"{each['file']}({each['line']})"
        if what.startswith("#error: "):
            # a sentence of its own
            yield f"{where}: {what[8:]}"
        else:
            yield f"{where}: {what}" + (f", in {code[1].strip()!r}" if code else "")
