"""Opens the live inputs of a document: nodes replace their values, and generated code fills them.

The nodes read geometry properties, which become variables of each sample in generated code. By
these nodes, the reach of an input is found: the inputs of the surface that depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import copy_document
from verdigris.core.material.graph.traversal import counterpart, own_graph, source_of
from verdigris.core.material.live_inputs.find_inputs import find_live_inputs, published_inputs
from verdigris.core.material.live_inputs.live_input import (
    CLOCKS,
    LiveInput,
    PublishedInput,
    WantedInput,
)

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.load.mtlx_document import Document, Material

_READER = "geompropvalue"
_PROPERTY = "verdigris_live"
_COMPONENTS = "xyz"
# Inputs of images and patterns that give the place of the look-up.
_PLACES = ("texcoord", "position")


def open_inputs(root: mx.Document, inputs: Sequence[LiveInput]) -> mx.Document:
    """A copy in which nodes read the live inputs."""
    copied = copy_document(root)
    for number, each in enumerate(inputs):
        for path in each.paths:
            if each.kind in CLOCKS:
                _replace_clock(_at(copied, path), number)
            else:
                owner_path, _, name = path.rpartition("/")
                _connect(_at(copied, owner_path), name, each.kind, number)
    return copied


def _at(root: mx.Document, path: str) -> mx.InterfaceElement:
    """The element with this path. Names may contain path separators."""
    return next(each for each in root.traverseTree() if each.getNamePath() == path)


def _connect(owner: mx.InterfaceElement, name: str, kind: str, number: int) -> None:
    scope = owner.getParent()
    node = scope.addNode(_READER, scope.createValidChildName(f"{_PROPERTY}{number}"), kind)
    node.setInputValue("geomprop", f"{_PROPERTY}{number}", "string")
    port = owner.getInput(name) or owner.addInput(name, kind)
    for attribute in ("value", "interfacename", "unit", "unittype", "colorspace"):
        port.removeAttribute(attribute)
    port.setNodeName(node.getName())


def _replace_clock(node: mx.Node, number: int) -> None:
    for port in node.getInputs():
        node.removeInput(port.getName())
    node.setCategory(_READER)
    node.removeAttribute("nodedef")
    node.setInputValue("geomprop", f"{_PROPERTY}{number}", "string")


def find_number(variable: str) -> int | None:
    """The number of the live input that a variable of the vertex data stands for."""
    _, found, number = variable.partition(f"geomprop_{_PROPERTY}")
    return int(number) if found else None


def value_code(live: LiveInput, number: int) -> str:
    """Slang code for the value of an input, between its low and its high end."""
    share = f"liveOf(point, gLiveValues).{_COMPONENTS[number]}"
    if live.is_colour:
        low, high = (f"float3({', '.join(map(repr, each))})" for each in (live.low, live.high))
    else:
        low, high = repr(live.low[0]), repr(live.high[0])
    return f"lerp({low}, {high}, {share})"


@dataclass(frozen=True)
class Reach:
    """An input of the document, and what depends on it."""

    name: str
    inputs: tuple[str, ...]
    """The inputs of the surface that depend on it."""
    only_by_uv: bool
    """Whether it only moves the places at which images and patterns are looked up."""
    input: PublishedInput | None = None
    """The input itself, if the document offers it."""

    def __str__(self) -> str:
        how = " (only through uv)" if self.only_by_uv else ""
        given = self.input
        # as an argument of `bake --live`
        name = WantedInput(self.name, given.low, given.high) if given else self.name
        return f"{name}: {', '.join(self.inputs) or 'nothing'}{how}"


def reach_of_published(document: Document, material: Material) -> tuple[Reach, ...]:
    """The reach of each input that a bake can keep open."""
    found: list[Reach] = []
    names = published_inputs(document, material)
    for name, each in names.items():
        wanted = WantedInput(name, each.low, each.high)
        reached = reach_of(document, material, find_live_inputs(document, material, [wanted]))
        found += [replace(one, input=each) for one in reached]
    return tuple(found)


def reach_of(
    document: Document, material: Material, inputs: Sequence[LiveInput]
) -> tuple[Reach, ...]:
    """The reach of each of these inputs."""
    if not inputs:
        return ()
    root = open_inputs(document.root, inputs)
    nodes = [counterpart(node, root) for node in document.nodes_of(material)]
    surfaces = [node for node in nodes if node.getType() == "surfaceshader"] or nodes[:1]
    reached: list[list[str]] = [[] for _ in inputs]
    beside_uv: list[bool] = [False for _ in inputs]
    for surface in surfaces:
        # surfaces that a mix reads are in the list themselves
        for port in (each for each in surface.getInputs() if each.getType() != "surfaceshader"):
            for number in _numbers_behind(port, leaves_out=()):
                reached[number].append(port.getName())
            for number in _numbers_behind(port, leaves_out=_PLACES):
                beside_uv[number] = True
    return tuple(
        Reach(each.name, tuple(dict.fromkeys(names)), bool(names) and not is_beside)
        for each, names, is_beside in zip(inputs, reached, beside_uv, strict=True)
    )


def _numbers_behind(port: mx.Input, leaves_out: Sequence[str]) -> set[int]:
    """The numbers of the live inputs that feed an input, except through inputs with these names."""
    found: set[int] = set()
    done: set[str] = set()
    waiting = [source_of(port)]
    while waiting:
        node = waiting.pop()
        if node is None or node.getNamePath() in done:
            continue
        done.add(node.getNamePath())
        number = reader_number(node)
        if number is not None:
            found.add(number)
        graph = own_graph(node)
        ports = (*node.getInputs(), *(graph.getOutputs() if graph else ()))
        waiting += [source_of(each) for each in ports if each.getName() not in leaves_out]
    return found


def reader_number(node: mx.Node) -> int | None:
    """The number of the live input that a node reads."""
    value = node.getInputValue("geomprop") if node.getCategory() == _READER else None
    return int(value.removeprefix(_PROPERTY)) if value and value.startswith(_PROPERTY) else None
