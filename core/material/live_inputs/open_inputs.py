"""A document with nodes in place of the values of its live inputs, and the code that fills them.

The nodes read geometry properties, which become variables of each sample in generated code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.live_inputs.live_input import CLOCKS, LiveInput

if TYPE_CHECKING:
    import MaterialX as mx

_READER = "geompropvalue"
_PROPERTY = "verdigris_live"
_COMPONENTS = "xyz"


def open_inputs(root: mx.Document, inputs: Sequence[LiveInput]) -> mx.Document:
    """A copy in which nodes read the live inputs."""
    copied = root.copy()
    copied.setDataLibrary(standard_library())
    for number, each in enumerate(inputs):
        for path in each.paths:
            if each.kind in CLOCKS:
                _replace_clock(_at(copied, path), number)
            else:
                owner_path, _, name = path.rpartition("/")
                _connect(_at(copied, owner_path), name, each.kind, number)
    return copied


def reader_number(node: mx.Node) -> int | None:
    """The number of the live input that a node reads."""
    value = node.getInputValue("geomprop") if node.getCategory() == _READER else None
    return int(value.removeprefix(_PROPERTY)) if value and value.startswith(_PROPERTY) else None


def _at(root: mx.Document, path: str) -> mx.InterfaceElement:
    """The element of a path. Names may contain separators of paths."""
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
    """Slang for the value of an input, between its low and its high end."""
    share = f"liveOf(point, gLiveValues).{_COMPONENTS[number]}"
    if live.is_colour:
        low, high = (f"float3({', '.join(map(repr, each))})" for each in (live.low, live.high))
    else:
        low, high = repr(live.low[0]), repr(live.high[0])
    return f"lerp({low}, {high}, {share})"
