"""The parameters that a shader declares: attributes, values and places of their declarations.

Types come from the compiler (reflection). The compiler tells neither attributes of variables nor
their values, so that these are read from the text. A live input varies between samples, which no
uniform can: its declaration becomes that of a plain variable.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from verdigris.core.material.shader.from_hlsl import blanked

PREFIX = "Verdigris"
# Lengths are limited: a megabyte of open brackets would otherwise take minutes.
_ATTRIBUTE = re.compile(rf"\[\s*{PREFIX}(\w+)\s*(?:\(([^\]\n]{{0,400}})\))?\s*\]")
_FUNCTION = re.compile(
    rf"\[\s*{PREFIX}(Response|Emission|Opacity|Height)\s*\]\s*(?:\[[^\]\n]{{0,400}}\]\s*)*"
    r"(?:[\w:<>,]+\s+){1,8}(\w+)\s*\("
)
_TRANSMISSION = re.compile(rf"\[\s*{PREFIX}Transmission\s*(?:\(([^)\]\n]{{0,40}})\))?\s*\]")
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_BLOCK = re.compile(r"\s*(?:\[[^\]]*\]\s*)*[ct]buffer\s+(\w+)\s*(:[^{]*)?$")
_MODIFIERS = "uniform|extern|public|internal|shared|row_major|column_major|precise|volatile"
_VARIABLE = re.compile(
    rf"\s*(?:(?:{_MODIFIERS})\s+)*"
    r"(?P<type>(?:(?:unsigned|snorm|unorm)\s+)?[A-Za-z_][\w:.]*(?:\s*<[\w\s,<>]*>)?)\s+"
    r"(?P<names>[A-Za-z_]\w*\s*(?:$|[\[:=,]).*)",
    re.DOTALL,
)
_DECLARATOR = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)\s*(?P<array>(?:\[[^\]]*\]\s*)*)(?::[^=]*)?(?:=(?P<value>.*))?",
    re.DOTALL,
)
_NOT_PARAMETERS = re.compile(
    r"\b(static|const|groupshared|typedef|using|struct|class|enum|interface|extension|import|"
    r"module|namespace|return|typealias|func|let|var|associatedtype)\b"
)
# Places in memory, which would clash with those of other modules.
_PLACES = re.compile(
    r":\s*(?:register|packoffset)\s*\((?:[^()\n]|\([^()\n]{0,100}\)){0,200}\)"
    r"|\[\[vk::\w+[^\]\n]{0,200}\]\]"
)
_BRACKETS = re.compile(r"\[\[[^\]]{0,400}\]\]|\[[A-Za-z_]\w*(?:\([^\]]{0,400}\))?\]")


@dataclass(frozen=True)
class Declaration:
    """One variable, as the text declares it."""

    name: str
    kind: str
    array: str = ""
    value: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    block: str = ""
    """The constant buffer around it; empty for a global variable."""


@dataclass(frozen=True)
class _Statement:
    """A declaration with its place: from its first letter to behind its semicolon."""

    start: int
    end: int
    variables: tuple[Declaration, ...]
    block_start: int = -1
    """Where the constant buffer around it begins."""


@dataclass(frozen=True)
class Declarations:
    """All that a text declares for Verdigris."""

    text: str
    statements: tuple[_Statement, ...]
    functions: Mapping[str, str]
    """Names of functions that attributes mark, by `Response`, `Emission`, `Opacity` or `Height`."""
    transmission: str | None = None
    """The index of the solid below, or an empty text for a thin wall; None if no light passes."""

    def find(self, name: str, block: str = "") -> Declaration | None:
        """The first declaration: branches of an #if may declare a name twice."""
        for statement in self.statements:
            for each in statement.variables:
                if (each.name, each.block) == (name, block):
                    return each
        return None

    def rewritten(self, varying: Collection[tuple[str, str]]) -> str:
        """The text for the compiler: without attributes, values and registers. `varying` names the
        variables, with their blocks, that samples set."""
        inserted: dict[int, list[str]] = {}
        pieces: list[tuple[int, int, str]] = []
        for statement in self.statements:
            kept = []
            for each in statement.variables:
                code = f"{each.kind} {each.name}{each.array};"
                if (each.name, each.block) in varying:
                    if each.block:
                        inserted.setdefault(statement.block_start, []).append(f"static {code} ")
                    else:
                        kept.append(f"static {code}")
                else:
                    kept.append(code if each.block else f"uniform {code}")
            lines = "\n" * self.text.count("\n", statement.start, statement.end)
            pieces.append((statement.start, statement.end, " ".join(kept) + lines))
        pieces += [(at, at, "".join(codes)) for at, codes in inserted.items()]
        parts, end = [], 0
        for start, stop, code in sorted(pieces):
            parts += [self.text[end:start], code]
            end = stop
        return _without_attributes("".join((*parts, self.text[end:])))


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def without_directives(plain: str) -> str:
    """A text without comments, with spaces for lines of the preprocessor."""
    return PREPROCESSOR.sub(lambda found: _spaces(found[0]), plain)


def read_declarations(text: str) -> Declarations:
    """Finds the variables outside of functions and types, and the marked functions."""
    plain = without_directives(blanked(text))
    functions = {found[1]: found[2] for found in _FUNCTION.finditer(plain)}
    statements = tuple(_statements(text, plain, 0, len(plain), "", -1))
    passes = _TRANSMISSION.search(plain)
    transmission = (passes[1] or "").strip() if passes else None
    return Declarations(text, statements, functions, transmission)


def _statements(
    text: str, plain: str, start: int, end: int, block: str, block_start: int
) -> Iterator[_Statement]:
    begun = place = start
    while place < end:
        letter = plain[place]
        if letter == ";":
            found = _statement(text, plain, begun, place + 1, block, block_start)
            if found is not None:
                yield found
            begun = place + 1
        elif letter == "{":
            close = closing(plain, place, end)
            head = plain[begun:place]
            inner = _BLOCK.match(head)
            if inner and not block:
                first = begun + len(head) - len(head.lstrip())
                yield from _statements(text, plain, place + 1, close, inner[1], first)
            if "=" not in head or "(" in head.partition("=")[0]:
                begun = close + 1
            place = close
        place += 1


def closing(plain: str, start: int, end: int) -> int:
    depth = 0
    for place in range(start, end):
        if plain[place] == "{":
            depth += 1
        elif plain[place] == "}":
            depth -= 1
            if depth == 0:
                return place
    return end


def _statement(
    text: str, plain: str, start: int, end: int, block: str, block_start: int
) -> _Statement | None:
    code = plain[start : end - 1]
    attributes = {
        found[1]: text[start + found.start(2) : start + found.end(2)].strip()
        if found[2] is not None
        else ""
        for found in _ATTRIBUTE.finditer(code)
    }
    bare = _BRACKETS.sub(lambda found: " " * len(found[0]), code)
    if _NOT_PARAMETERS.search(bare.partition("=")[0]):
        return None
    found = _VARIABLE.fullmatch(bare)
    if found is None:
        return None
    variables = []
    for declarator in _split(found["names"]):
        one = _DECLARATOR.fullmatch(declarator)
        if one is None:
            return None
        value = one["value"].strip() if one["value"] is not None else None
        array = re.sub(r"\s", "", one["array"])
        kind = " ".join(found["type"].split())
        variables.append(Declaration(one["name"], kind, array, value, attributes, block))
    first = start + len(code) - len(code.lstrip())
    return _Statement(first, end, tuple(variables), block_start)


def _split(names: str) -> list[str]:
    """Declarators of one statement, at commas outside of brackets."""
    depth, parts, begun = 0, [], 0
    for place, letter in enumerate(names):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(names[begun:place])
            begun = place + 1
    return [*parts, names[begun:]]


def _without_attributes(text: str) -> str:
    """The text with spaces for attributes and places in memory."""
    plain = blanked(text)
    parts, end = [], 0
    for start, stop in sorted(
        each.span() for every in (_ATTRIBUTE, _PLACES) for each in every.finditer(plain)
    ):
        if start >= end:
            parts += [text[end:start], re.sub(r"[^\n]", " ", text[start:stop])]
            end = stop
    return "".join((*parts, text[end:]))
