"""The nodes of applications as definitions and graphs of MaterialX: the `.mtlx` files beside this
module.

A definition `maya_multiplyDivide` describes the node `multiplyDivide`: its inputs have the names,
types and defaults of the node's attributes, its outputs those of the node's plugs. A graph says
what the node computes. Beside MaterialX's own, these attributes have a meaning:

- an output, an input of a node, or a `let` with a `formula` is what the formula returns;
- a graph with `when="operation=1|2 mode=0"` serves these values of attributes that are not
  connected, `*` a connected one, `!` one that is not. `uvCoord.wrapU=1` asks the node that is
  connected. The first graph that serves the values and has the output is used;
- a graph with `inline="true"` becomes nodes of the document instead of a definition in it;
- an input with `reads="image"` reads this attribute, with `at="DEFINITION"` at the texture
  coordinates that a definition computes from the node;
- an input with `from="DEFINITION"` is what a definition computes from the node. `from="image"` and
  `from="alpha"` are the texels of its file;
- an input with `array="colorEntryList"` folds the elements of an array with the definition `step`,
  sorted by `order` (a child, `index` or `-index`). Inputs of a step are the result `so_far`, the
  `children` of the element (`position:value_Position` is an input and its child), those of the
  elements around it (`previous_position`, `before_position` two before, `next_position`), and
  inputs of the node (`with="at:at"`). With
  `start="value"`, this child of the first element is the first result;
- with `count="8"` instead of an array, attributes from 1 to 8 are folded: `color:input#`;
- an input with `output="outColor"` reads this output of the node that is connected;
- an angle with `unit="degree"` is in degrees, and in radians if it is connected;
- an input with `fixed="true"` has the present value, also of an attribute that is connected;
- a colour with `data="true"` is no colour: it is not converted between colour spaces;
- `note` on a graph tells how the translation differs, and so does the text of a `note` in a
  definition, if the values `unless` do not hold;
- a definition with `writes="standard_surface"` is this node of MaterialX, with inputs named `as`;
- a definition with `inherit` has the inputs, outputs and graphs of another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from xml.etree import ElementTree as xml

FOLDER = Path(__file__).parent
PREFIX = "maya_"
Conditions = tuple[tuple[str, tuple[str, ...]], ...]
"""Attributes, each with the values that it may have."""
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Port:
    """An input or an output of a definition."""

    name: str
    type: str
    value: str = ""
    geometry: str = ""
    """What feeds an input that is not connected: texture coordinates or a normal."""

    attributes: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def reads(self) -> str:
        """The attribute of the node."""
        return self.attributes.get("reads", self.name)


@dataclass(frozen=True)
class Graph:
    """A graph of a definition."""

    element: xml.Element
    conditions: Conditions
    note: str

    @property
    def category(self) -> str:
        """The category of nodes with this graph."""
        return self.element.get("name", "").removeprefix("NG_")

    @property
    def is_inline(self) -> bool:
        return self.element.get("inline") == "true"

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(each.get("name", "") for each in self.element.findall("output"))

    @property
    def used_names(self) -> frozenset[str]:
        """Names of inputs that the graph reads, and of its own parts."""
        found: set[str] = set()
        for each in self.element.iter():
            found.add(each.get("interfacename", ""))
            found.update(_NAME.findall(each.get("formula", "")))
        return frozenset(found)


@dataclass(frozen=True)
class NodeType:
    """A definition with its graphs."""

    category: str
    inputs: dict[str, Port]
    outputs: dict[str, Port]
    graphs: tuple[Graph, ...]
    notes: tuple[tuple[Conditions, str], ...] = ()
    """What differs, each with the values for which nothing differs."""

    def inputs_of(self, graph: Graph) -> Iterator[Port]:
        """The inputs that a graph reads."""
        used = graph.used_names
        return (port for name, port in self.inputs.items() if name in used)


@lru_cache(maxsize=1)
def node_types() -> dict[str, NodeType]:
    """All definitions by category."""
    found: dict[str, NodeType] = {}
    for path in sorted(FOLDER.glob("*.mtlx")):
        root = xml.parse(path).getroot()
        graphs: dict[str, list[Graph]] = {}
        for element in root.findall("nodegraph"):
            graph = Graph(element, _conditions(element.get("when")), element.get("note", ""))
            graphs.setdefault(element.get("nodedef", ""), []).append(graph)
        for element in root.findall("nodedef"):
            kind = _node_type(element, tuple(graphs.get(element.get("name", ""), ())))
            base = element.get("inherit", "").removeprefix("ND_")
            found[kind.category] = _inherited(kind, found[base]) if base else kind
    return found


def _node_type(element: xml.Element, graphs: tuple[Graph, ...]) -> NodeType:
    category = element.get("node", "")
    if element.get("writes"):
        graphs = (_renaming_graph(element),)
    notes = tuple(
        (_conditions(each.get("unless")), " ".join((each.text or "").split()))
        for each in element.findall("note")
    )
    return NodeType(category, _ports(element, "input"), _ports(element, "output"), graphs, notes)


def _inherited(kind: NodeType, base: NodeType) -> NodeType:
    return NodeType(
        kind.category,
        base.inputs | kind.inputs,
        base.outputs | kind.outputs,
        kind.graphs + base.graphs,
        kind.notes + base.notes,
    )


def _renaming_graph(definition: xml.Element) -> Graph:
    """The graph of a node that MaterialX has with other names of inputs."""
    output = definition.find("output")
    assert output is not None
    kind = output.get("type", "")
    root = xml.Element("nodegraph", name=f"NG_{definition.get('node')}", inline="true")
    node = xml.SubElement(root, definition.get("writes", ""), name="node", type=kind)
    for port in definition.findall("input"):
        own = port.get("name", "")
        xml.SubElement(
            node, "input", name=port.get("as", own), type=port.get("type", ""), interfacename=own
        )
    xml.SubElement(root, "output", name=output.get("name", ""), type=kind, nodename="node")
    return Graph(root, (), "")


def find_type(kind: str) -> NodeType | None:
    """The definition of a kind of nodes."""
    return node_types().get(f"{PREFIX}{kind}")


def _ports(element: xml.Element, tag: str) -> dict[str, Port]:
    return {
        each.get("name", ""): Port(
            each.get("name", ""),
            each.get("type", ""),
            each.get("value", ""),
            each.get("defaultgeomprop", ""),
            dict(each.attrib),
        )
        for each in element.findall(tag)
    }


def _conditions(text: str | None) -> Conditions:
    pairs = (each.split("=") for each in (text or "").split())
    return tuple((key, tuple(values.split("|"))) for key, values in pairs)
