"""The names and arguments of the applications' Python APIs, read from published stubs."""

from __future__ import annotations

import ast
import importlib.metadata
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

ANYTHING = frozenset({"*"})
Arguments = frozenset[str]
Known = TypeVar("Known")


@cache
def stub(distribution: str, file: str) -> str:
    """A stub file of an installed distribution."""
    for entry in importlib.metadata.files(distribution) or ():
        if str(entry) == file:
            return Path(str(entry.locate())).read_text(encoding="utf-8")
    raise FileNotFoundError(f"{distribution} holds no {file}")


def _arguments(function: ast.FunctionDef) -> Arguments:
    found = function.args
    named = [each.arg for each in (*found.posonlyargs, *found.args, *found.kwonlyargs)]
    return frozenset(named) | (ANYTHING if found.kwarg else frozenset())


class _Parts(Mapping[str, Known]):
    """What a stub file has at its top, by name. A part is parsed when it is looked at: the files
    are long, and few of their parts are used."""

    def __init__(self, word: str, text: str) -> None:
        begins = [*re.finditer(r"^(?:(def|class) (\w+)|[A-Za-z_@])", text, re.M)]
        self._texts: dict[str, list[str]] = {}
        for begin, end in zip_longest(begins, begins[1:]):
            if begin[1] == word:
                part = text[begin.start() : end.start() if end else None]
                self._texts.setdefault(begin[2], []).append(part)
        self._parsed: dict[str, Known] = {}

    def __getitem__(self, name: str) -> Known:
        if name not in self._parsed:
            nodes = [node for part in self._texts[name] for node in ast.parse(part).body]
            self._parsed[name] = self._read(nodes)
        return self._parsed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def _read(self, nodes: list[ast.stmt]) -> Known:
        raise NotImplementedError


class Functions(_Parts[Arguments]):
    """The functions of a module with the arguments of all their overloads."""

    def __init__(self, text: str) -> None:
        super().__init__("def", text)

    def _read(self, nodes: list[ast.stmt]) -> Arguments:
        found: Arguments = frozenset()
        return found.union(*(_arguments(node) for node in nodes))


class Classes(_Parts[dict[str, Arguments]]):
    """The classes of a module with their members, inherited ones too."""

    def __init__(self, text: str) -> None:
        super().__init__("class", text)

    def _read(self, nodes: list[ast.stmt]) -> dict[str, Arguments]:
        found: dict[str, Arguments] = {}
        (kind,) = nodes
        assert isinstance(kind, ast.ClassDef)
        for base in kind.bases:
            if isinstance(base, ast.Name) and base.id in self:
                found.update(self[base.id])
        for node in kind.body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = found.get(node.name, frozenset()) | _arguments(node)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = frozenset()
            elif isinstance(node, ast.Assign):
                found.update({t.id: frozenset() for t in node.targets if isinstance(t, ast.Name)})
        return found


@cache
def maya_commands() -> Functions:
    return Functions(stub("maya-stubs", "maya-stubs/cmds/__init__.pyi"))


@cache
def open_maya() -> Classes:
    return Classes(stub("maya-stubs", "maya-stubs/api/OpenMaya.pyi"))


@cache
def open_maya_ui() -> Classes:
    return Classes(stub("maya-stubs", "maya-stubs/OpenMayaUI.pyi"))


@cache
def maya_module(name: str) -> Functions:
    """Functions of a small module of Maya: mel, standalone."""
    try:
        return Functions(stub("maya-stubs", f"maya-stubs/{name}.pyi"))
    except FileNotFoundError:
        return Functions(stub("maya-stubs", f"maya-stubs/{name}/__init__.pyi"))


@cache
def houdini() -> tuple[Functions, Classes]:
    """The functions and the classes of hou."""
    module = stub("types-houdini", "hou-stubs/__init__.pyi")
    return Functions(module), Classes(module)
