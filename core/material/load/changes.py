"""Changes of a document as it is loaded: values of its inputs, and definitions of its shaders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.graph.library import COMPONENTS
from verdigris.core.material.graph.traversal import (
    defined_input,
    free_graphs,
    is_connected,
    value_of,
)

if TYPE_CHECKING:
    import MaterialX as mx

_MOST_SHOWN = 16


@dataclass(frozen=True)
class DocumentChanges:
    """Values and definitions by name, as texts."""

    inputs: tuple[tuple[str, str], ...] = ()
    """Inputs that a document publishes, or paths of any, with their values."""
    defines: tuple[tuple[str, str], ...] = ()
    """Definitions for the preprocessor of a shader file."""

    def as_json(self) -> dict[str, dict[str, str]]:
        """Empty without changes."""
        found = {"inputs": dict(self.inputs), "defines": dict(self.defines)}
        return {name: values for name, values in found.items() if values}

    @classmethod
    def of(cls, inputs: Mapping[str, Any], defines: Mapping[str, Any]) -> DocumentChanges:
        return cls(
            tuple((name, plain_text(value)) for name, value in inputs.items()),
            tuple((name, plain_text(value)) for name, value in defines.items()),
        )


NO_CHANGES = DocumentChanges()


def plain_text(value: Any) -> str:
    """A value of JSON as a document writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def read_changes(inputs: Sequence[str], defines: Sequence[str]) -> DocumentChanges:
    """Changes from texts: NAME=VALUE for inputs, NAME or NAME=VALUE for definitions."""
    values: dict[str, str] = {}
    for text in inputs:
        name, is_given, value = text.partition("=")
        if not is_given or not name.strip():
            raise DocumentError(f"{text!r} sets no input: use NAME=VALUE, as in roughness=0.3")
        values[name.strip()] = value.strip()
    defined = {}
    for text in defines:
        name, is_given, value = text.partition("=")
        defined[name.strip()] = value.strip() if is_given else "1"
    return DocumentChanges(tuple(values.items()), tuple(defined.items()))


def set_inputs(root: mx.Document, inputs: Sequence[tuple[str, str]]) -> None:
    """Sets inputs of a document as it is written: those of graphs, then those of surfaces, or any
    by its path."""
    for name, value in inputs:
        port = _require_input(root, name)
        if is_connected(port) or port.getInterfaceName():
            raise DocumentError(f"input {name!r} is connected to a node: set an input of that node")
        port.setValueString(value)
        if port.getType() in COMPONENTS and value_of(port) is None:
            raise DocumentError(f"input {name!r} has the type {port.getType()}, unlike {value!r}")


def _require_input(root: mx.Document, name: str) -> mx.Input:
    graphs = free_graphs(root)
    owners = [*root.getNodes(), *(node for graph in graphs for node in graph.getNodes())]
    surfaces = [node for node in owners if node.getType() == "surfaceshader"]
    path, _, last = name.rpartition("/")
    for several, wanted in (
        (graphs, name),
        (surfaces, name),
        ([each for each in (*graphs, *owners) if each.getNamePath() == path], last),
    ):
        found = [each for each in several if _has(each, wanted)]
        if len(found) > 1:
            listed = " or ".join(f"{each.getNamePath()}/{wanted}" for each in found)
            raise DocumentError(f"several inputs are called {name!r}: name one as {listed}")
        if found:
            given, defined = found[0].getInput(wanted), defined_input(found[0], wanted)
            if given is None and defined is not None:
                given = found[0].addInput(wanted, defined.getType())
            return given
    there = {port.getName(): None for graph in graphs for port in graph.getInputs()}
    there |= {port.getName(): None for each in surfaces for port in each.getInputs()}
    known = ", ".join([*there][:_MOST_SHOWN]) + (", …" if len(there) > _MOST_SHOWN else "")
    raise DocumentError(f"has no input {name!r} to set: it has {known or 'none'}")


def _has(owner: mx.InterfaceElement, name: str) -> bool:
    return owner.getInput(name) is not None or defined_input(owner, name) is not None
