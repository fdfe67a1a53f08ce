"""The names and arguments of the applications' Python APIs, read from published stubs."""

from __future__ import annotations

import ast
import importlib.metadata
from functools import cache
from pathlib import Path

ANYTHING = frozenset({"*"})
Arguments = frozenset[str]


@cache
def stub(distribution: str, file: str) -> ast.Module:
    """A stub file of an installed distribution."""
    for entry in importlib.metadata.files(distribution) or ():
        if str(entry) == file:
            return ast.parse(Path(str(entry.locate())).read_text(encoding="utf-8"))
    raise FileNotFoundError(f"{distribution} holds no {file}")


def _arguments(function: ast.FunctionDef) -> Arguments:
    found = function.args
    named = [each.arg for each in (*found.posonlyargs, *found.args, *found.kwonlyargs)]
    return frozenset(named) | (ANYTHING if found.kwarg else frozenset())


def functions(module: ast.Module) -> dict[str, Arguments]:
    """The functions of a module with the arguments of all their overloads."""
    known: dict[str, Arguments] = {}
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            known[node.name] = known.get(node.name, frozenset()) | _arguments(node)
    return known


def classes(module: ast.Module) -> dict[str, dict[str, Arguments]]:
    """The classes of a module with their members, inherited ones too."""
    nodes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
    known: dict[str, dict[str, Arguments]] = {}

    def members(name: str) -> dict[str, Arguments]:
        if name in known:
            return known[name]
        found: dict[str, Arguments] = {}
        for base in nodes[name].bases:
            if isinstance(base, ast.Name) and base.id in nodes:
                found.update(members(base.id))
        for node in nodes[name].body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = found.get(node.name, frozenset()) | _arguments(node)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = frozenset()
            elif isinstance(node, ast.Assign):
                found.update({t.id: frozenset() for t in node.targets if isinstance(t, ast.Name)})
        known[name] = found
        return found

    for name in nodes:
        members(name)
    return known


@cache
def maya_commands() -> dict[str, Arguments]:
    return functions(stub("maya-stubs", "maya-stubs/cmds/__init__.pyi"))


@cache
def open_maya() -> dict[str, dict[str, Arguments]]:
    return classes(stub("maya-stubs", "maya-stubs/api/OpenMaya.pyi"))


@cache
def open_maya_ui() -> dict[str, dict[str, Arguments]]:
    return classes(stub("maya-stubs", "maya-stubs/OpenMayaUI.pyi"))


@cache
def maya_module(name: str) -> dict[str, Arguments]:
    """Functions of a small module of Maya: mel, standalone."""
    try:
        return functions(stub("maya-stubs", f"maya-stubs/{name}.pyi"))
    except FileNotFoundError:
        return functions(stub("maya-stubs", f"maya-stubs/{name}/__init__.pyi"))


@cache
def houdini() -> tuple[dict[str, Arguments], dict[str, dict[str, Arguments]]]:
    """The functions and the classes of hou."""
    module = stub("types-houdini", "hou-stubs/__init__.pyi")
    return functions(module), classes(module)
