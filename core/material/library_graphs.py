"""Graphs of MaterialX 1.39.5's library that do not give what its specification says, put right.

Each says what is wrong upstream. When upstream mends the fault, a test of it fails and tells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

_MOST_OF_SWITCH = 10


def mend_graphs(library: mx.Document) -> None:
    """Puts right every graph of the nodes below, one for each type."""
    for category, mend in _MENDED.items():
        for definition in library.getMatchingNodeDefs(category):
            mend(definition.getImplementation())


def _clamp_between_ends_of_any_order(graph: mx.NodeGraph) -> None:
    """A range is clamped from `outlow` to `outhigh`, whichever is larger.

    The graph takes the first for the least and the second for the most, so that ends that fall
    give a single value, and which is left to the compiler. Random numbers and noises whose largest
    value is below their smallest get there, too.
    """
    clamp = next(node for node in graph.getNodes() if node.getCategory() == "clamp")
    for name, category in (("low", "min"), ("high", "max")):
        port = clamp.getInput(name)
        end = graph.addNode(category, f"{category}_of_ends", port.getType())
        for at, given in (("in1", "outlow"), ("in2", "outhigh")):
            end.addInput(at, port.getType()).setInterfaceName(given)
        port.removeAttribute("interfacename")
        port.setNodeName(end.getName())


def _span_from_zero_to_one(graph: mx.NodeGraph) -> None:
    """A triangle wave is 2 |x - floor(x + 1/2)|. The graph gives half of that."""
    output = graph.getOutputs()[0]
    twice = graph.addNode("multiply", "from_zero_to_one", output.getType())
    twice.addInput("in1", output.getType()).setNodeName(output.getNodeName())
    twice.addInput("in2", output.getType()).setValueString("2")
    output.setNodeName(twice.getName())


def _give_the_last_beyond_it(graph: mx.NodeGraph) -> None:
    """A switch gives input floor(`which`) + 1, of 1 to 10. The graph gives zero from 10 on."""
    beyond = graph.getNode(f"ifgreater_{_MOST_OF_SWITCH}").getInput("in2")
    beyond.removeAttribute("value")
    beyond.setInterfaceName(f"in{_MOST_OF_SWITCH}")


_MENDED: dict[str, Callable[[mx.NodeGraph], None]] = {
    "range": _clamp_between_ends_of_any_order,
    "trianglewave": _span_from_zero_to_one,
    "switch": _give_the_last_beyond_it,
}
