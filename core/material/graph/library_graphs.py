"""Repairs of graphs in MaterialX 1.39.5's library that contradict its specification.

Each has a test that fails once MaterialX no longer needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

_MOST_OF_SWITCH = 10


def repair_library_graphs(library: mx.Document) -> None:
    """Repairs the graphs of the nodes below, for each type."""
    # all are found before any is changed: with each change MaterialX indexes the library again
    found = [
        (repair, definition.getImplementation())
        for category, repair in _REPAIRS.items()
        for definition in library.getMatchingNodeDefs(category)
    ]
    for repair, graph in found:
        repair(graph)


def _order_clamp_limits(graph: mx.NodeGraph) -> None:
    """A range is clamped between `outlow` and `outhigh`, whichever is larger.

    The graph uses the first as minimum and the second as maximum: falling limits give a constant
    that depends on the compiler. Random numbers and noises end in a range too.
    """
    clamp = next(node for node in graph.getNodes() if node.getCategory() == "clamp")
    for name, category in (("low", "min"), ("high", "max")):
        port = clamp.getInput(name)
        end = graph.addNode(category, f"{category}_of_ends", port.getType())
        for at, given in (("in1", "outlow"), ("in2", "outhigh")):
            end.addInput(at, port.getType()).setInterfaceName(given)
        port.removeAttribute("interfacename")
        port.setNodeName(end.getName())


def _double_triangle_wave(graph: mx.NodeGraph) -> None:
    """A triangle wave is 2 |x - floor(x + 1/2)|. The graph returns half of that."""
    output = graph.getOutputs()[0]
    twice = graph.addNode("multiply", "from_zero_to_one", output.getType())
    twice.addInput("in1", output.getType()).setNodeName(output.getNodeName())
    twice.addInput("in2", output.getType()).setValueString("2")
    output.setNodeName(twice.getName())


def _extend_switch(graph: mx.NodeGraph) -> None:
    """A switch returns input floor(`which`) + 1, of 1 to 10. The graph returns zero from 10 on."""
    beyond = graph.getNode(f"ifgreater_{_MOST_OF_SWITCH}").getInput("in2")
    beyond.removeAttribute("value")
    beyond.setInterfaceName(f"in{_MOST_OF_SWITCH}")


def _end_ramp_intervals(graph: mx.NodeGraph) -> None:
    """Behind an interval of a ramp, its end colour continues.

    The graph divides by the width of the interval, which is 0 at an edge: behind the last colour
    the result is NaN.
    """
    share = graph.getNode("interpolation_selector").getInput("in1")
    beyond = graph.addNode("ifgreatereq", "beyond_interval", share.getType())
    for name, given in (("value1", "x"), ("value2", "interval2")):
        beyond.addInput(name, "float").setInterfaceName(given)
    beyond.addInput("in1", share.getType()).setValueString("1")
    beyond.addInput("in2", share.getType()).setNodeName(share.getNodeName())
    share.setNodeName(beyond.getName())


def _swap_film_limits(graph: mx.NodeGraph) -> None:
    """A glTF film has its minimum thickness where the texture is 0, and its maximum where it is 1
    or missing. The graph swaps the two."""
    mix = graph.getNode("mixThickness")
    for name, given in (("bg", "thicknessMin"), ("fg", "thicknessMax")):
        mix.getInput(name).setInterfaceName(given)
    graph.getNodeDef().getInput("default").setValueString("1, 1, 1")


_REPAIRS: dict[str, Callable[[mx.NodeGraph], None]] = {
    "range": _order_clamp_limits,
    "trianglewave": _double_triangle_wave,
    "switch": _extend_switch,
    "ramp_gradient": _end_ramp_intervals,
    "gltf_iridescence_thickness": _swap_film_limits,
}
