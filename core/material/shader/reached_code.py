"""What code of a shader its functions reach, by names: engines include much more.

Overloads count as one function, and conditions of the preprocessor as on, unless nothing defines
their name. So everything that is used is reached, and a little more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from verdigris.core.material.shader.declarations import (
    PREPROCESSOR,
    closing,
    read_declarations,
    without_directives,
)
from verdigris.core.material.shader.from_hlsl import blanked

_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\.|\\\n)*)", re.MULTILINE)
_LONGEST_HEAD = 4000
# Namespaces in each other.
_DEEPEST = 16
_WORD = re.compile(r"[A-Za-z_]\w*")
# the name of a function in its head, before types of its parameters and semantics
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<[^()]{0,200}>)?\s*\((?![^()]{0,200}\)\s*\])")
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
# a condition of one name, or another one
_CONDITION = re.compile(
    r"[ \t]*#[ \t]*(ifdef|ifndef|if|elif|else|endif)\b[ \t]*"
    r"(?:(?P<not>!)?[ \t]*(?:defined[ \t]*\(?[ \t]*)?(?P<name>[A-Za-z_]\w*|0)[ \t]*\)?[ \t]*$)?"
)
# names that no shader compiler defines
_NEVER = ("0", "__cplusplus")
_TYPE = re.compile(
    r"(?:\[[^\]]{0,80}\]\s*|public\s+|internal\s+|export\s+)*(?:struct|class|enum|interface)\b"
)
_ANY_TYPE = r"(?:\s*<[^(){}=]{0,100}>)?"
# a type, a name and parameters, without a value
_FUNCTION_HEAD = re.compile(
    rf"(?:\[[^\]]{{0,200}}\]\s*)*(?:[\w:.]+{_ANY_TYPE}\s+){{1,8}}\w+\s*{_ANY_TYPE}\s*"
    r"\([^{}]{0,2000}\)\s*(?:(?:const\b|:)[^{}=()]{0,80})?$"
)


def names_behind(text: str, functions: Iterable[str]) -> set[str]:
    """All names that these functions use, by way of other functions, types and macros. Overloads
    count as one function."""
    plain = _without_inactive(blanked(text))
    used: dict[str, set[str]] = {}
    for macro in _MACRO.finditer(plain):
        used.setdefault(macro[1], set()).update(_WORD.findall(macro[2]))
    plain = without_directives(plain)
    for block in _blocks(plain, 0, len(plain)):
        inner, name = plain[block.brace : block.close], block.name
        for method in block.methods:
            start, end = method.start - block.brace, method.close - block.brace
            inner = f"{inner[:start]}{' ' * (end - start)}{inner[end:]}"
            code = _WORD.findall(plain[method.start : method.close])
            used.setdefault(method.name or name, set()).update(code)
        if name:
            used.setdefault(name, set()).update(_WORD.findall(block.head), _WORD.findall(inner))
    found: set[str] = set()
    waiting = [*functions]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += used.get(name, ())
    return found


def without_unused(text: str, functions: Iterable[str]) -> str:
    """The text without functions, methods and global variables that these functions do not reach:
    engines have code that is not Slang, and more resources than a kernel can bind."""
    kept = names_behind(text, functions)
    bare = blanked(text)
    plain = without_directives(bare)
    spans = [
        (one.start, one.close + 1)
        for block in _blocks(plain, 0, len(plain))
        for one in (block, *block.methods)
        # operators are parts of their type
        if one.is_function and (one.name or block.name) not in kept
    ]
    spans += [
        (each.start, each.end)
        for each in read_declarations(text).statements
        if each.block_start < 0 and kept.isdisjoint(one.name for one in each.variables)
    ]
    removed = bytearray(len(text))
    for start, end in spans:
        removed[start:end] = b"\1" * (min(end, len(text)) - start)
    for each in PREPROCESSOR.finditer(bare):
        removed[each.start() : each.end()] = bytes(each.end() - each.start())
    return "".join(
        " " if is_removed and letter != "\n" else letter
        for letter, is_removed in zip(text, removed, strict=True)
    )


def _without_inactive(plain: str) -> str:
    """A text without comments, and with spaces for branches of the preprocessor whose condition is
    a name that nothing defines."""
    defined = set(_DEFINED.findall(plain))
    lines = plain.split("\n")
    # for each open #if: whether its branch is inactive, and whether that of its #else is
    stack: list[tuple[bool, bool]] = []
    for number, line in enumerate(lines):
        found = _CONDITION.match(line)
        if found and found[1].startswith("if"):
            name = found["name"] or ""
            is_known = name not in defined and (name in _NEVER or not name.startswith("__"))
            is_off = found[1] != "ifndef" and not found["not"]
            stack.append((is_known and is_off, is_known and not is_off) if name else (False, False))
        elif found and stack and found[1] in ("else", "elif"):
            rest = stack.pop()[1]
            stack.append((rest, found[1] == "elif" and rest))
        elif found and stack and found[1] == "endif":
            stack.pop()
        elif any(is_inactive for is_inactive, _ in stack):
            lines[number] = " " * len(line)
    return "\n".join(lines)


@dataclass(frozen=True)
class _Block:
    """Something in braces: a function, a type, or the value of a variable."""

    head: str
    start: int
    brace: int
    close: int
    methods: tuple[_Block, ...] = ()

    @property
    def name(self) -> str:
        """The name of a function or type; empty for operators."""
        called = [each[1] for each in _CALLED.finditer(self.head)]
        if called and not self.is_type:
            return "" if re.search(r"\boperator\b|\b__subscript\b", self.head) else called[0]
        words: list[str] = _WORD.findall(self.head.partition(":")[0])
        return words[-1] if words else ""

    @property
    def is_type(self) -> bool:
        return bool(_TYPE.match(self.head))

    @property
    def is_function(self) -> bool:
        head = self.head
        if self.is_type or len(head) > _LONGEST_HEAD:
            return False
        return bool(_FUNCTION_HEAD.match(head)) or "__subscript" in head


def _blocks(plain: str, start: int, end: int, depth: int = 0) -> Iterator[_Block]:
    """Functions and types, also those in namespaces."""
    begun = place = start
    while place < end:
        if plain[place] == ";":
            begun = place + 1
        elif plain[place] == "{":
            close = closing(plain, place, end)
            head = plain[begun:place]
            first = begun + len(head) - len(head.lstrip())
            found = _Block(head.strip(), first, place, close)
            if depth < _DEEPEST and re.search(r"\bnamespace\s+[\w:.]+\s*$", head):
                yield from _blocks(plain, place + 1, close, depth + 1)
            elif found.is_type and depth < _DEEPEST:
                methods = tuple(_blocks(plain, place + 1, close, _DEEPEST))
                yield replace(found, methods=tuple(each for each in methods if each.is_function))
            else:
                yield found
            begun, place = close + 1, close
        place += 1
