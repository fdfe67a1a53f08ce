"""Graphs of MaterialX 1.39.5's library that do not give what its specification says, put right.

Each says what is wrong upstream. When upstream mends the fault, a test of it fails and tells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

_MOST_OF_SWITCH = 10


def repair_library_graphs(library: mx.Document) -> None:
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


def _give_the_end_of_an_interval_without_width(graph: mx.NodeGraph) -> None:
    """A ramp has the colour of an interval's end from there on.

    The graph divides by the width of the interval first, which is 0 where two colours of a ramp
    stand at one place to make an edge: behind the last of them that is no number.
    """
    share = graph.getNode("interpolation_selector").getInput("in1")
    beyond = graph.addNode("ifgreatereq", "beyond_interval", share.getType())
    for name, given in (("value1", "x"), ("value2", "interval2")):
        beyond.addInput(name, "float").setInterfaceName(given)
    beyond.addInput("in1", share.getType()).setValueString("1")
    beyond.addInput("in2", share.getType()).setNodeName(share.getNodeName())
    share.setNodeName(beyond.getName())


def _thicken_with_the_texture(graph: mx.NodeGraph) -> None:
    """The film of glTF is as thick as its least where the texture is 0, and as its most where it is
    1 or is not there. The graph mixes them the other way round."""
    mix = graph.getNode("mixThickness")
    for name, given in (("bg", "thicknessMin"), ("fg", "thicknessMax")):
        mix.getInput(name).setInterfaceName(given)
    graph.getNodeDef().getInput("default").setValueString("1, 1, 1")


_MENDED: dict[str, Callable[[mx.NodeGraph], None]] = {
    "range": _clamp_between_ends_of_any_order,
    "trianglewave": _span_from_zero_to_one,
    "switch": _give_the_last_beyond_it,
    "ramp_gradient": _give_the_end_of_an_interval_without_width,
    "gltf_iridescence_thickness": _thicken_with_the_texture,
}
