"""Makes the Slang compiler's text readable: names without numbers, loops with a condition.

The compiler appends a number to every name and spells methods `NeuralSampled_fetch_0`. Names of the
outermost level get the prefix `neural`, so that they do not clash with those of an including
shader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
"""The first line of every shader that is shipped."""

_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*|(?<=[.>])[A-Za-z_]\w*")
_NUMBERED = re.compile(r"^(?:_S\d+|\w+_\d+)$")
_TEMPORARY = re.compile(r"^_S\d+$")
_STRUCT = re.compile(
    r"^(?:layout\(.*\)\s*)*(?:struct|cbuffer|(?:readonly )?buffer|uniform \w+\s*\{|uniform block)",
    re.MULTILINE,
)
_FLOAT = re.compile(r"(?<![\w.])(\d+\.\d+(?:e[+-]?\d+)?)(f?)\b")
_PREFIX = "neural"
# Names that several languages reserve, and that the text may not contain.
_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """
    active alignas asm attribute buffer cast class common const default device distance dot
    double enum explicit export extern external filter final fixed flat float fract from
    goto half highp in inline input int interface invariant isampler layout length line lowp
    mediump mix mod module namespace noinline noise of out output override packed part
    partition pass pixelfragment point position precision private protected public ref
    register resource row_major sample sampler self shared sign signed smooth static step
    string struct superp switch target template texture this thread triangle type typedef
    uint uniform union unsigned using varying vec vertexfragment volatile while
        """,
    )
)
# Better names for those that would be reserved, and for functions that would have the name of a
# public one.
_MEMBERS = {"texture": "textureIndex"}
_SPECIAL = {
    "prepare": "neuralPrepareSurface",
    "globalParams": "neuralParams",
    "GlobalParams": "NeuralParams",
    "this": "object",
    "texture": "image",
    "output": "unit",
    "position": "place",
    "part": "share",
    "from": "start",
    "thread": "index",
}
_ENDLESS = re.compile(
    r"^(?P<i>[ ]*)for\(;;\)\n(?P=i)\{\n"
    r"(?P=i)    if\((?P<condition>.*)\)\n(?P=i)    \{\n(?P=i)    \}\n"
    r"(?P=i)    else\n(?P=i)    \{\n(?P=i)        break;\n(?P=i)    \}\n",
    re.MULTILINE,
)
_COUNTED = re.compile(
    r"^(?P<i>[ ]*)while\((?P<condition>(?P<name>\w+) < [^\n]*)\)\n(?P=i)\{\n"
    r"(?P<body>(?:(?P=i)    .*\n|\n)*?)"
    r"(?P=i)    (?P<step>(?P=name) = (?P=name) \+ [^\n]*);\n(?P=i)\}\n",
    re.MULTILINE,
)


def readable(text: str) -> str:
    """The same program, to be read and included by people."""
    text = re.sub(r"(?<=\w)  (?=\w)", " ", text)
    return _short_numbers(_with_conditions(_renamed(text)))


def declarations(text: str) -> Iterator[str]:
    """Functions, structures, variables and directives of the outermost level, in order."""
    lines: list[str] = []
    depth = 0
    for line in text.splitlines():
        if not line.strip():
            continue
        lines.append(line)
        depth += line.count("{") - line.count("}")
        if depth == 0 and (line[0] == "#" or line.rstrip()[-1] in ";}"):
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def _renamed(text: str) -> str:
    words = {match.group() for match in _WORD.finditer(text) if text[match.start() - 1] != "."}
    avoided = {word for word in words if not _NUMBERED.match(word)} | _RESERVED
    parts = list(declarations(text))
    names = _global_names(parts, avoided)
    avoided |= set(names.values())
    for part in parts:
        if _STRUCT.search(part):
            names |= _local_names(part, names, _RESERVED, _MEMBERS)
    return "\n".join(
        part if part[0] == "#" else _replace(part, names | _local_names(part, names, avoided))
        for part in parts
    )


def _replace(part: str, names: dict[str, str]) -> str:
    return _WORD.sub(lambda match: names.get(match.group(), match.group()), part)


def _outermost(part: str) -> Iterator[tuple[str, bool]]:
    """Words outside of all brackets, and whether each is a function's name."""
    depth, at = 0, 0
    for match in re.finditer(r"[(){}\[\]]|(?<![\w.])[A-Za-z_]\w*", part):
        found = match.group()
        at = match.end()
        if found in "({[":
            depth += 1
        elif found in ")}]":
            depth -= 1
        elif depth == 0:
            yield found, part[at : at + 1] == "("


def _global_names(parts: list[str], avoided: set[str]) -> dict[str, str]:
    kinds: dict[str, bool] = {}
    for part in parts:
        if part[0] == "#":
            continue
        for word, is_function in _outermost(part):
            if _NUMBERED.match(word):
                kinds[word] = kinds.get(word, False) or is_function
    names: dict[str, str] = {}
    # names that other shaders call keep theirs
    for word in sorted(kinds, key=lambda word: (not word.startswith(_PREFIX), word)):
        wanted = _global_name(word.rsplit("_", 1)[0], kinds[word])
        names[word] = _unused(wanted, avoided | set(names.values()))
    return names


def _global_name(base: str, is_function: bool) -> str:
    if base in _SPECIAL:
        return _SPECIAL[base]
    base = re.sub(r"^StructuredBuffer_(\w+)_t$", r"\1_buffer", base)
    base = re.sub(r"^block_(\w+)$", r"\1_block", base)
    base = base.replace("entryPointParam_evaluateQueries", "answer").replace("x24", "")
    first, *others = base.split("_")
    name = first + "".join(other[:1].upper() + other[1:] for other in others)
    if re.match(r"k[A-Z]", name):
        return f"kNeural{name[1:]}"
    if name.lower().startswith(_PREFIX):
        return name[0].lower() + name[1:] if is_function else name
    prefix = _PREFIX if is_function or name[0].islower() else _PREFIX.capitalize()
    return f"{prefix}{name[0].upper()}{name[1:]}"


def _local_names(
    part: str,
    known: dict[str, str],
    avoided: set[str] | frozenset[str],
    special: dict[str, str] = _SPECIAL,
) -> dict[str, str]:
    names: dict[str, str] = {}
    used = set(avoided)
    temporaries = 0
    for match in _WORD.finditer(part):
        word = match.group()
        if word in known or word in names or not _NUMBERED.match(word):
            continue
        if _TEMPORARY.match(word):
            temporaries += 1
            names[word] = _unused(f"t{temporaries}", used)
        else:
            base = word.rsplit("_", 1)[0]
            names[word] = _unused(special.get(base, base), used)
        used.add(names[word])
    return names


def _unused(name: str, used: set[str]) -> str:
    if name not in used:
        return name
    number = 2
    while f"{name}{number}" in used:
        number += 1
    return f"{name}{number}"


def _with_conditions(text: str) -> str:
    """Endless loops that begin with a test as `while` and `for`."""
    text = _ENDLESS.sub(r"\g<i>while(\g<condition>)\n\g<i>{\n", text)
    before = ""
    while before != text:
        before = text
        text = _COUNTED.sub(_counted, text)
    return text


def _counted(match: re.Match[str]) -> str:
    indent, body = match["i"], match["body"]
    if re.search(r"\bcontinue;", body):
        return match.group()
    head = f"{indent}for(; {match['condition']}; {match['step']})\n"
    return f"{head}{indent}{{\n{body}{indent}}}\n"


def _short_numbers(text: str) -> str:
    """The fewest digits that give the same single float."""

    def short(match: re.Match[str]) -> str:
        value = str(np.float32(match[1]))
        return value + match[2]

    return _FLOAT.sub(short, text)
