"""Reads a shader file with all that it includes and imports, as text that compiles alone.

The compiler opens no file of the studio: includes become text, so that a confined shader reads only
what its search path allows, and `#line` keeps file and line in the compiler's errors.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.files.paths import is_file
from verdigris.core.material.shader.from_hlsl import COMMENT_OR_TEXT, blanked, from_hlsl

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.files.paths import SearchPath

SUFFIXES = (".slang", ".hlsl")
# Includes of these files are Slang; all others are HLSL.
_OF_SLANG = (".slang", ".slangh", ".glsl")
# Files that may implement a node of a document.
_NODE_SUFFIXES = (*SUFFIXES, ".glsl")
# Measured materials of the MERL and the RGL database.
MERL_SUFFIX, RGL_SUFFIX = ".binary", ".bsdf"
# The file in a folder of images, one for each light, that names them.
LIGHTS = "lights.json"
# Folders of MaterialX's own code, which its generator includes.
_OF_MATERIALX = ("lib/", "libraries/")
MOST_BYTES = 1 << 20
_MOST_EXPANDED = 4 << 20
_DEEPEST = 64
# Stands for the digest of the text, which is known when all of it has been read.
_DIGEST = "VERDIGRIS_DIGEST"
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(include|pragma[ \t]+once)\b([^\n]*)$", re.MULTILINE)
_INCLUDED = re.compile(r"\s*(?:\"([^\"\n]+)\"|<([^>\n]+)>)")
_IMPORT = re.compile(r"\b(import|__include|implementing)\s+([\w./-]+|\"[^\"\n]*\")\s*;")
_GUARD = re.compile(r"\A\s*#\s*ifndef\s+(\w+)\s+#\s*define\s+\1\b")
_BRACKET = re.compile(r"\.\s*(Sample|SampleBias)\s*\(|[()\[\]{},]")
_NAME = re.compile(r"[A-Za-z_]\w*")
# A point of a material has no neighbours: differences are zero, and images are sampled at level 0.
_PRELUDE = """#define ddx(x) ((x) - (x))
#define ddy(x) ((x) - (x))
#define fwidth(x) ((x) - (x))
"""
_PRELUDE += "".join(
    f"#define min16{kind}{count} {stands}{count}\n"
    for kind, stands in (("float", "half"), ("uint", "uint"), ("int", "int"))
    for count in ("", "2", "3", "4", "2x2", "3x3", "4x4")
)


def is_shader(path: str | Path) -> bool:
    """Whether a file is a shader by its name."""
    return Path(path).suffix.lower() in SUFFIXES


def is_node_source(implementation: mx.Implementation) -> bool:
    """Whether a file of code implements a node, not a whole surface."""
    definition = implementation.getNodeDef()
    is_surface = definition is not None and definition.getType() == "surfaceshader"
    suffix = Path(implementation.getFile()).suffix.lower()
    return suffix in _NODE_SUFFIXES and not is_surface


def is_document(path: Path) -> bool:
    """Whether a file is a MaterialX document, a shader or a measured material by its name."""
    suffixes = (".mtlx", *SUFFIXES, MERL_SUFFIX, RGL_SUFFIX)
    return path.suffix.lower() in suffixes or path.name == LIGHTS


@dataclass(frozen=True)
class ShaderText:
    """The text of a shader, and of the modules that it imports."""

    name: str
    """The shader's file, as messages name it."""
    text: str = field(repr=False)
    modules: tuple[tuple[str, str], ...] = ()
    """Imported modules by name, each after those that it imports."""
    files: tuple[Path, ...] = ()
    digest: str = ""
    own: str = field(default="", repr=False)
    """The file itself."""


def expand_shader(
    path: Path,
    search: SearchPath,
    defines: Mapping[str, str] | None = None,
    is_fragment: bool = False,
) -> ShaderText:
    """Reads a shader file. Raises DocumentError for files that are missing, refused or too
    large. A fragment becomes a part of a module that has a prelude already."""
    prelude = "" if is_fragment else _PRELUDE
    start = f"{prelude}{_defines(defines or {}, path)}"
    reader = _Reader(search, start, str(path), is_fragment)
    text = reader.module(path.resolve(), str(path))
    digest = hashlib.sha256("\0".join([text, *reader.modules.values()]).encode()).hexdigest()[:24]
    modules = tuple(
        (name.replace(_DIGEST, digest), each.replace(_DIGEST, digest))
        for name, each in reader.modules.items()
    )
    own = _read(path, str(path))
    return ShaderText(
        str(path), text.replace(_DIGEST, digest), modules, tuple(reader.files), digest, own
    )


def _defines(defines: Mapping[str, str], path: Path) -> str:
    lines = []
    for name, value in defines.items():
        if not _NAME.fullmatch(name) or "\n" in value:
            raise DocumentError(f"{path}: {name!r} cannot be defined: use NAME or NAME=VALUE")
        lines.append(f"#define {name} {value}\n")
    return "".join(lines)


class _Reader:
    def __init__(self, search: SearchPath, start: str, shown: str, is_fragment: bool) -> None:
        self._search = search
        self._shown = shown
        self._is_fragment = is_fragment
        self._start = start
        self._size = 0
        self.files: dict[Path, None] = {}
        self.modules: dict[str, str] = {}
        self._open: list[Path] = []

    def module(self, path: Path, shown: str) -> str:
        outer, self._open = self._open, []
        text = f"{self._start}{self._file(path, shown)}"
        self._open = outer
        return text

    def _file(self, path: Path, shown: str) -> str:
        if len(self._open) >= _DEEPEST:
            raise DocumentError(f"{shown}: includes are nested more than {_DEEPEST} deep")
        self._open.append(path)
        self.files[path] = None
        text = _with_levels(_read(path, shown))
        if path.suffix.lower() not in _OF_SLANG:
            text = from_hlsl(text)
        plain = blanked(text)
        parts, end = [f'#line 1 "{_quoted(shown)}"\n'], 0
        # a file may be pasted more than once, as where one branch of an #if includes it first
        guard = ""
        for start, stop, insert in self._insertions(text, plain, path, shown):
            if insert is None:
                guard = f"VERDIGRIS_ONCE_{list(self.files).index(path)}"
                insert = ""
            line = text.count("\n", 0, stop) + 1
            back = ""
            if "\n" in insert:
                # behind a directive follows the end of its line
                is_end = text[stop : stop + 1] in ("", "\n")
                name = _quoted(shown)
                back = f'\n#line {line + 1} "{name}"' if is_end else f'\n#line {line} "{name}"\n'
            parts += [text[end:start], insert, back]
            end = stop
        parts.append(text[end:])
        self._open.pop()
        found = "".join(parts)
        self._size += len(found)
        if self._size > _MOST_EXPANDED:
            raise DocumentError(
                f"{self._shown}: has more than {_MOST_EXPANDED >> 20} MB with its includes: "
                "include less"
            )
        return f"#ifndef {guard}\n#define {guard}\n{found}\n#endif\n" if guard else found

    def _insertions(
        self, text: str, plain: str, path: Path, shown: str
    ) -> Iterator[tuple[int, int, str | None]]:
        """What replaces directives and imports, in their order; None for `#pragma once`."""
        found = [*_DIRECTIVE.finditer(plain), *_IMPORT.finditer(_without_strings(text, plain))]
        for each in sorted(found, key=re.Match.start):
            where = f"{shown}({text.count(chr(10), 0, each.start()) + 1})"
            if each[1] in ("import", "__include", "implementing"):
                yield each.start(), each.end(), self._imported(each, path, where)
            elif each[1] == "include":
                # the name is a string, which is blank in `plain`
                yield each.start(), each.end(), self._included(text, each, path, where)
            else:
                yield each.start(), each.end(), None

    def _included(self, text: str, found: re.Match[str], path: Path, where: str) -> str:
        named = _INCLUDED.match(text, found.start(2), found.end())
        if named is None:
            raise DocumentError(f"{where}: write the name of the included file in quotes")
        name = named[1] or named[2]
        there = any(is_file(each) for each in self._search.candidates(name, path.parent))
        if self._is_fragment and not there and name.startswith(_OF_MATERIALX):
            return found[0]
        try:
            file = self._search.require(name, path.parent, where, DocumentError).resolve()
        except DocumentError as failure:
            if self._is_fragment:
                raise
            # the compiler reports it, unless a condition leaves the line out
            reason = str(failure).removeprefix(f"{where}: ")
            return f"#error {reason}"
        if file in self._open:
            if _GUARD.match(blanked(_read(file, name))) or "#pragma once" in _read(file, name):
                return ""
            ring = " -> ".join(each.name for each in (*self._open, file))
            raise DocumentError(
                f"{self._shown}: {where}: files include each other: {ring}: remove an include"
            )
        return f"\n{self._file(file, name)}"

    def _imported(self, found: re.Match[str], path: Path, where: str) -> str:
        keyword, name = found[1], found[2].strip('"')
        if keyword == "implementing":
            return ""
        file = self._find_module(name, path, where)
        if file is None:
            # a module of the compiler or of Verdigris; an unknown one is the compiler's error
            return found[0]
        if keyword == "__include":
            return "" if file in self._open else f"\n{self._file(file, file.name)}"
        plain = re.sub(r"\W", "_", file.stem)
        module = f"studio_{_DIGEST}_{plain}"
        if module not in self.modules:
            self.modules[module] = ""
            text = self.module(file, file.name)
            # behind those that it imports itself
            del self.modules[module]
            self.modules[module] = text
        return f"import {module};"

    def _find_module(self, name: str, path: Path, where: str) -> Path | None:
        stem = name.removesuffix(".slang").replace(".", "/")
        for file in (f"{stem}.slang", f"{stem.replace('_', '-')}.slang"):
            if any(is_file(each) for each in self._search.candidates(file, path.parent)):
                return self._search.require(file, path.parent, where, DocumentError).resolve()
        return None


def _read(path: Path, shown: str) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise DocumentError(f"{shown}: there is no such file") from None
    except OSError as failure:
        raise DocumentError(f"{shown}: cannot be read: {failure.strerror}") from None
    if len(content) > MOST_BYTES:
        raise DocumentError(
            f"{shown}: has more than {MOST_BYTES >> 20} MB: a shader file may have at most that"
        )
    if not content.strip():
        raise DocumentError(f"{shown}: is empty: save the shader again")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise DocumentError(f"{shown}: is not UTF-8: save the shader in UTF-8") from None


def _quoted(shown: str) -> str:
    return shown.replace("\\", "/").replace('"', "")


def _without_strings(text: str, plain: str) -> str:
    """The text without comments, but with strings: `import` may name one."""
    found = list(plain)
    for each in COMMENT_OR_TEXT.finditer(text):
        if each[0].startswith('"'):
            found[each.start() : each.end()] = each[0]
    return "".join(found)


def _with_levels(text: str) -> str:
    """The text with explicit levels where images are sampled: a point has no neighbours from which
    a level follows."""
    if "Sample" not in text:
        return text
    edits: list[tuple[int, int, str]] = []
    # the call of each open bracket, if it samples, and the commas between its arguments
    stack: list[tuple[re.Match[str] | None, list[int]]] = []
    for found in _BRACKET.finditer(blanked(text)):
        last = found[0][-1]
        if last in "([{":
            stack.append((found if found[1] else None, []))
        elif stack and last == ",":
            stack[-1][1].append(found.start())
        elif stack:
            call, commas = stack.pop()
            if call is not None and commas:
                edits += _with_level(call, commas, found.start())
    parts, end = [], 0
    for start, stop, code in sorted(edits):
        if start >= end:
            parts += [text[end:start], code]
            end = stop
    return "".join((*parts, text[end:]))


def _with_level(call: re.Match[str], commas: list[int], close: int) -> list[tuple[int, int, str]]:
    """What is replaced in a call with a sampler and a place; a bias of the level is removed."""
    level = commas[1] if len(commas) > 1 else close
    rest = level
    if call[1] == "SampleBias" and len(commas) > 1:
        rest = commas[2] if len(commas) > 2 else close
    return [(call.start(), call.end(), ".SampleLevel("), (level, rest, ", 0.0")]
