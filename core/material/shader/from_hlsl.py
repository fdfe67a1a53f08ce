"""HLSL that Slang reads differently, as Slang. Lines stay in their places.

- Methods may change their object. In Slang they need `[mutating]`, and those that do not change it
  must not have it: they are called for constants, too.
- Templates of one type become a function for each type of numbers: a generic function of Slang
  knows nothing about its type, not even that `x * x` exists.
- Constants need no value.
- Enumerators need no name of their type.
- `operator[]` becomes a subscript.
- Members that are defined outside of their type are left out, as nothing calls most of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

COMMENT_OR_TEXT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"?", re.DOTALL)
_TEMPLATE = re.compile(r"\btemplate\s*<\s*(?:(?:typename|class)\s+(\w+)\s*)?>\s*")
_SIZES = ("", "2", "3", "4")
_NUMBERS = ("float", "half", "int", "uint")
_OUTSIDE = re.compile(
    r"^[ \t]*(?:[\w:<>,]+[ \t]+){1,4}\w+(?:::\w+)+[ \t]*\([^;{}()]{0,400}\)\s*(?:const\s*)?(?=\{)",
    re.MULTILINE,
)
_SUBSCRIPT = re.compile(
    r"\b(?:inline\s+)?([\w<>]{1,30})\s+operator\s*\[\s*\]\s*(\([^(){}]{0,200}\))\s*(?:const\s*)?(?=\{)"
)
_TYPE = re.compile(r"\b(?:struct|class)\s+(?:\w+\s*\([^;{}()]{0,40}\)\s*)?\w+[^;{}()]{0,200}(?=\{)")
_WITHOUT_VALUE = re.compile(r"\bstatic\s+const\s+(?=[\w:]+\s+\w+\s*;)")
_ENUM = re.compile(r"\benum\s+(?!class\b)\w+[^;{}()]{0,80}(?=\{)")
_METHOD = re.compile(
    r"(?<=[;{}\n])\s{0,100}(?P<head>(?:[\w:<>,]{1,100}\s{1,40}){1,5})(?P<name>\w+)\s*"
    r"\((?P<parameters>[^;{}()]{0,600})\)\s*(?:const\s*)?(?=\{)"
)
_NO_METHODS = {"return", "else", "new", "static", "property"}
_ASSIGNED = re.compile(
    r"(?:^|[;{}()])\s*(?:this\s*\.\s*)?([A-Za-z_]\w*)(?:\s*\.\s*\w+|\s*\[[^\]]{0,80}\])*\s*"
    r"(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)"
)
_DECLARED = re.compile(r"\b[A-Za-z_][\w<>]{0,30}\s+(\w+)\s*(?=[=;,:\[])")
_CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\s*\(")
_WORD = re.compile(r"\w+")
_BRACE, _BRACE_OR_END = re.compile("[{}]"), re.compile("[{};]")

Edit = tuple[int, int, str]


def blanked(text: str) -> str:
    """The text with spaces for comments and for the contents of strings, in the same places."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found[0])

    return COMMENT_OR_TEXT.sub(blank, text)


def from_hlsl(text: str) -> str:
    """The text for Slang's compiler."""
    plain = blanked(text)
    ends = _Ends(plain)
    edits = [*_templates(text, plain, ends), *_outside(text, plain, ends)]
    edits += [*_subscripts(text, plain, ends), *_mutating(plain, ends)]
    edits += [(*each.span(), "static ") for each in _WITHOUT_VALUE.finditer(plain)]
    edits += [(each.start(), each.start(), "[UnscopedEnum] ") for each in _ENUM.finditer(plain)]
    parts, at = [], 0
    for start, stop, code in sorted(edits):
        if start >= at:
            parts += [text[at:start], code]
            at = stop
    return "".join((*parts, text[at:]))


def _templates(text: str, plain: str, ends: _Ends) -> Iterator[Edit]:
    known = set()
    end = 0
    for found in _TEMPLATE.finditer(plain):
        if found.start() < end:
            continue
        end = ends.behind(found.end())
        body = text[found.end() : end]
        lines = "\n" * text.count("\n", found.start(), end)
        code = " ".join(re.sub(r"//[^\n]*|/\*.*?\*/", " ", body, flags=re.DOTALL).split())
        name = found[1]
        if not name:
            # a version for one type, which an overload is already
            yield found.start(), found.end(), " " * (found.end() - found.start())
        elif "#" not in body:
            copies = {}
            for size in _SIZES[_fewest(name, code) - 1 :]:
                for number in _NUMBERS:
                    copy = re.sub(rf"\b{name}\b", f"{number}{size}", code)
                    copies[copy.partition("{")[0]] = copy
            yield (
                found.start(),
                end,
                " ".join(c for h, c in copies.items() if h not in known) + lines,
            )
            known |= {*copies}


def _fewest(kind: str, code: str) -> int:
    """The fewest components that a parameter of this type must have."""
    named = re.findall(rf"\b{kind}\s+(\w+)", code)
    used = re.findall(rf"\b(?:{'|'.join(named)})\.([xyzwrgba]{{1,4}})\b", code) if named else []
    return max((1 + "xyzwrgba".index(each) % 4 for each in "".join(used)), default=1)


def _outside(text: str, plain: str, ends: _Ends) -> Iterator[Edit]:
    end = 0
    for found in _OUTSIDE.finditer(plain):
        if found.start() < end:
            continue
        end = ends.behind(found.end())
        yield found.start(), end, "\n" * text.count("\n", found.start(), end)


def _subscripts(text: str, plain: str, ends: _Ends) -> Iterator[Edit]:
    end = 0
    for found in _SUBSCRIPT.finditer(plain):
        if found.start() < end:
            continue
        end = ends.behind(found.end())
        taken, body = text[slice(*found.span(2))], text[found.end() : end]
        yield found.start(), end, f"__subscript{taken} -> {found[1]} {{ get {body} }}"


def _mutating(plain: str, ends: _Ends) -> Iterator[Edit]:
    """`[mutating]` for methods that change their object, also by calls of others that do."""
    end = 0
    for kind in _TYPE.finditer(plain):
        if kind.start() < end:
            # a type in a type, whose methods have been seen
            continue
        end = ends.behind(kind.end())
        methods = [
            each
            for each in _METHOD.finditer(plain, kind.end(), end)
            if not _NO_METHODS & set(each["head"].split())
        ]
        bodies = [plain[each.end() : ends.behind(each.end())] for each in methods]
        changing = {
            each["name"]
            for each, body in zip(methods, bodies, strict=True)
            if _changes(each["parameters"], body)
        }
        count = -1
        while count != len(changing):
            count = len(changing)
            changing |= {
                each["name"]
                for each, body in zip(methods, bodies, strict=True)
                if not changing.isdisjoint(_CALL.findall(body))
            }
        for each in methods:
            if each["name"] in changing:
                yield each.start("head"), each.start("head"), "[mutating] "


def _changes(parameters: str, body: str) -> bool:
    own = {*_WORD.findall(parameters), *_DECLARED.findall(body)}
    return any(name not in own for name in _ASSIGNED.findall(body))


class _Ends:
    """Where declarations end."""

    def __init__(self, plain: str) -> None:
        self._plain = plain
        self._closing: dict[int, int] = {}
        opened: list[int] = []
        for found in _BRACE.finditer(plain):
            if found[0] == "{":
                opened.append(found.start())
            elif opened:
                self._closing[opened.pop()] = found.end()

    def behind(self, start: int) -> int:
        """Behind the semicolon or the braces that come first."""
        found = _BRACE_OR_END.search(self._plain, start)
        if found is None:
            return len(self._plain)
        if found[0] == "{":
            return self._closing.get(found.start(), len(self._plain))
        return found.end()
