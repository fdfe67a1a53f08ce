"""Removes functions of generated code that nothing calls.

The generator writes whole files of MaterialX's library, and each kernel would compile all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

# The entry point that the generator writes.
ENTRY = "fragmentMain"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_HEAD = re.compile(r"^[A-Za-z_][\w<>, ]* (?P<name>\w+)\([^;{}]*\)\s*\{", re.MULTILINE)
_BRACE = re.compile(r"[{}]")
_WORD = re.compile(r"[A-Za-z_]\w*")


class _Function(NamedTuple):
    start: int
    end: int
    name: str


def drop_unused_functions(code: str, entry: str = ENTRY) -> str:
    """The code without functions that are neither named outside of functions nor called, directly
    or not, by `entry`. Code that cannot be split into functions is returned unchanged."""
    bare = _COMMENT.sub(_blank, code)
    functions = _find_functions(bare)
    bodies: dict[str, set[str]] = {}
    for function in functions:
        body = bare[function.start : function.end]
        bodies.setdefault(function.name, set()).update(_WORD.findall(body))
    waiting = {entry, *_WORD.findall(_without(bare, functions))} & bodies.keys()
    called: set[str] = set()
    while waiting:
        name = waiting.pop()
        called.add(name)
        waiting |= bodies[name] & bodies.keys() - called
    return _without(code, [each for each in functions if each.name not in called])


def _blank(comment: re.Match[str]) -> str:
    """As many spaces, in as many lines."""
    return "\n".join(" " * len(line) for line in comment[0].split("\n"))


def _find_functions(bare: str) -> list[_Function]:
    """The functions at top level; none where braces do not match or functions are nested."""
    heads = {head.end() - 1: head for head in _HEAD.finditer(bare)}
    found: list[_Function] = []
    depth, current = 0, None
    for brace in _BRACE.finditer(bare):
        head = heads.get(brace.start())
        if head and current:
            return []
        if depth == 0:
            current = head
        depth += 1 if brace[0] == "{" else -1
        if depth < 0:
            return []
        if depth == 0 and current:
            found.append(_Function(current.start(), brace.end(), current["name"]))
            current = None
    return [] if depth else found


def _without(code: str, functions: Iterable[_Function]) -> str:
    parts, end = [], 0
    for function in functions:
        parts.append(code[end : function.start])
        end = function.end
    return "".join([*parts, code[end:]])
