"""The reach of open inputs of a material: inputs of its surface, and whether only through uv."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from verdigris.core.material.graph.traversal import counterpart, own_graph, source_of
from verdigris.core.material.live_inputs.find_inputs import find_live_inputs, published_inputs
from verdigris.core.material.live_inputs.live_input import (
    LiveInput,
    PublishedInput,
    WantedInput,
)
from verdigris.core.material.live_inputs.open_inputs import open_inputs, reader_number

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.load.mtlx_document import Document, Material

# Inputs of images and patterns that say where these are looked up.
_PLACES = ("texcoord", "position")


@dataclass(frozen=True)
class Reach:
    """An input of the document, and what depends on it."""

    name: str
    inputs: tuple[str, ...]
    """Of the surface."""
    only_by_uv: bool
    """It only moves where images and patterns are looked up."""
    input: PublishedInput | None = None
    """The input itself, if it is one that the document offers."""

    def __str__(self) -> str:
        how = " (only through uv)" if self.only_by_uv else ""
        given = self.input
        # as `bake --live` takes it
        name = WantedInput(self.name, given.low, given.high) if given else self.name
        return f"{name}: {', '.join(self.inputs) or 'nothing'}{how}"


def reach_of_published(document: Document, material: Material) -> tuple[Reach, ...]:
    """What each input that a bake can keep open reaches."""
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
    """What each of these reaches."""
    if not inputs:
        return ()
    root = open_inputs(document.root, inputs)
    nodes = [counterpart(node, root) for node in document.nodes_of(material)]
    surfaces = [node for node in nodes if node.getType() == "surfaceshader"] or nodes[:1]
    reached: list[list[str]] = [[] for _ in inputs]
    beside_uv: list[bool] = [False for _ in inputs]
    for surface in surfaces:
        # surfaces that a mix takes speak for themselves
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
    """Numbers of the live inputs that feed an input, not by inputs of these names."""
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
