"""Opens the live inputs of a document: nodes replace their values, and generated code fills them.

The nodes read geometry properties, which become variables of each sample in generated code. By
these nodes, the reach of an input is found: the inputs of the surface that depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.graph.library import copy_document
from verdigris.core.material.graph.traversal import counterpart, own_graph, source_of
from verdigris.core.material.live_inputs.find_inputs import find_live_inputs, published_inputs
from verdigris.core.material.live_inputs.live_input import (
    CLOCKS,
    KEPT_HEIGHTS,
    LiveInput,
    PublishedInput,
    WantedInput,
)
from verdigris.core.material.load.displaced import height_document

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
                name = path.rpartition("/")[2]
                _connect(_at(copied, _owner(each, path)), name, each.kind, number)
    return copied


def _owner(live: LiveInput, path: str) -> str:
    """The element whose input is live: the node or graph of a path."""
    return path if live.kind in CLOCKS else path.rpartition("/")[0]


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
    keeps_heights: bool = False
    """Whether the displacement depends on it, too. Its height map keeps the document's value."""

    def __str__(self) -> str:
        how = " (only through uv)" if self.only_by_uv else ""
        how += f" ({KEPT_HEIGHTS})" if self.keeps_heights else ""
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
        inputs = find_live_inputs(document, material, [wanted])
        keeps = bool(inputs_of_heights(document, material, inputs))
        reached = reach_of(document, material, inputs)
        found += [replace(one, input=each, keeps_heights=keeps) for one in reached]
    return tuple(found)


def inputs_of_heights(
    document: Document, material: Material, inputs: Sequence[LiveInput]
) -> list[LiveInput]:
    """Those of these inputs on which the displacement of a material depends."""
    try:
        found = height_document(document, material) if inputs else None
    except DocumentError:
        # reports tell why the displacement is left out
        return []
    if found is None:
        return []
    there = {each.getNamePath() for each in found[0].root.traverseTree()}
    return [
        each
        for each in inputs
        if all(_owner(each, path) in there for path in each.paths)
        and reach_of(*found, [each])[0].inputs
    ]


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
