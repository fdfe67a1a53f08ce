"""Finds the inputs that a document offers as live inputs, with ranges to begin with, and refuses
inputs that cannot vary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.graph.colour_spaces import to_linear_rec709
from verdigris.core.material.graph.traversal import (
    defined_input,
    defined_inputs,
    implementing_graphs,
    is_connected,
    is_defined_here,
)
from verdigris.core.material.live_inputs.live_input import (
    CLOCKS,
    LiveInput,
    PublishedInput,
    WantedInput,
)
from verdigris.core.material.normalise.inputs import PUBLISHED, PUBLISHED_LABEL

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.load.mtlx_document import Document, Material

_COUNTS = {"float": 1, "color3": 3}
_FOR_FILES = "filename"
_OTHER_NUMBERS = ("color4", "vector2", "vector3", "vector4", "matrix33", "matrix44")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
# Soft limits come first: hard limits are often those of what is possible at all, as for an index of
# refraction.
_ENDS = (("uisoftmin", "uimin"), ("uisoftmax", "uimax"))
_LARGEST_END = 1e4
_OF_CLOCKS = {"time": (0.0, 10.0), "frame": (1.0, 100.0)}
_BLACK, _WHITE = (0.0,) * 3, (1.0,) * 3


@dataclass(frozen=True)
class _Offer:
    """An input of a node or of a graph; the port is in the document or in a definition."""

    owner: mx.InterfaceElement
    port: mx.Input

    @property
    def name(self) -> str:
        return str(self.port.getName())

    @property
    def path(self) -> str:
        return f"{self.owner.getNamePath()}/{self.name}"

    @property
    def given(self) -> mx.Input | None:
        """The port in the document, if it has one."""
        return self.owner.getInput(self.name)

    @property
    def is_open(self) -> bool:
        """Whether the input has a value that can vary."""
        given = self.given
        if given is not None and is_connected(given):
            return False
        return self.port.getType() in _COUNTS and not self.is_uniform

    @property
    def is_offered(self) -> bool:
        """Whether the document sets the input to a value that can vary."""
        return self.is_open and self.given is not None

    @property
    def is_of_material(self) -> bool:
        """Whether the value is that of an input of the material."""
        given = self.given
        return given is not None and bool(given.getAttribute(PUBLISHED))

    @property
    def is_uniform(self) -> bool:
        return any(port.getIsUniform() for port in self.definitions())

    @property
    def value(self) -> tuple[float, ...]:
        """The value as MaterialX reads it, with colours linear; empty if it does not have the
        numbers that its type needs."""
        given = self.given if self.given is not None else self.port
        found = _numbers_in(given.getResolvedValueString())
        if len(found) != _COUNTS[self.port.getType()]:
            return ()
        return to_linear_rec709(found, given.getActiveColorSpace()) if len(found) == 3 else found

    def definitions(self) -> Iterator[mx.Input]:
        """The ports of definitions that read the value directly."""
        import MaterialX as mx

        pairs = [(self.owner, self.name)]
        if isinstance(self.owner, mx.NodeGraph):
            pairs = [
                (node, port.getName())
                for node in self.owner.getNodes()
                for port in node.getInputs()
                if port.getInterfaceName() == self.name
            ]
        for node, name in pairs:
            port = defined_input(node, name)
            if port is not None:
                yield port


def published_inputs(document: Document, material: Material) -> dict[str, PublishedInput]:
    """The inputs that a bake can keep open, by name: inputs of graphs, inputs that are set on the
    surface, and clocks. If several inputs have the same name, their paths are used."""
    import MaterialX as mx

    nodes = list(document.nodes_of(material))
    found = {}
    for name, ports in _of_material(nodes).items():
        first = ports[0]
        label = first.port.getAttribute(PUBLISHED_LABEL)
        found[name] = _published(name, first.port.getType(), first.value, (), label=label)
    offers = [each for each in _offers(nodes) if each.is_offered and not each.is_of_material]
    names = [each.name for each in offers] + [*found]
    for each in offers:
        name = each.name if names.count(each.name) == 1 else each.path
        ports = [port for port in (each.given, each.port, *each.definitions()) if port is not None]
        is_of_surface = each.owner.getType() == mx.SURFACE_SHADER_TYPE_STRING
        found[name] = _published(name, each.port.getType(), each.value, ports, is_of_surface)
    for name in CLOCKS:
        if any(node.getCategory() == name for node in nodes):
            found[name] = _published(name, name, (CLOCKS[name],), ())
    return found


def _published(
    name: str,
    kind: str,
    value: tuple[float, ...],
    ports: Sequence[mx.Input],
    is_of_surface: bool = False,
    label: str = "",
) -> PublishedInput:
    """An input with a range to begin with. The first port with a limit or a label counts."""
    label = label or next((text for port in ports if (text := port.getAttribute("uiname"))), "")
    if kind == "color3":
        value = value or _BLACK
        return PublishedInput(name, kind, value, value, contrast(value), label, is_of_surface)
    if kind in _OF_CLOCKS:
        low, high = _OF_CLOCKS[kind]
        return PublishedInput(name, kind, (max(low, value[0]),), (low,), (high,), label)
    number = value[0] if value else 0.0
    low, high = _range_of(number, ports)
    return PublishedInput(name, kind, (number,), (low,), (high,), label, is_of_surface)


def _range_of(number: float, ports: Sequence[mx.Input]) -> tuple[float, float]:
    """The range of the slider, widened to the value; without a slider, a guess."""
    low, high = ([port.getAttribute(name) for name in names for port in ports] for names in _ENDS)
    return range_around(number, _numbers(low), _numbers(high))


def _numbers(texts: Sequence[str]) -> list[float]:
    return [found[0] for text in texts if len(found := _numbers_in(text)) == 1]


def range_around(
    number: float, lows: Sequence[float] = (), highs: Sequence[float] = ()
) -> tuple[float, float]:
    """A range that contains the number: between the first sensible limits, or a guess."""
    guess = (min(0.0, 2 * number), 1.0 if 0 <= number <= 1 else max(0.0, 2 * number))
    if number < 0:
        guess = (2 * number, 0.0)
    low, high = (
        next((each for each in limits if abs(each) <= _LARGEST_END), other)
        for limits, other in zip((lows, highs), guess, strict=True)
    )
    low, high = min(low, number), max(high, number)
    return (low, high) if low < high else guess


def contrast(colour: tuple[float, ...]) -> tuple[float, ...]:
    """Another colour, for the end of a range that begins with one."""
    return _BLACK if sum(colour) > 1.5 else _WHITE


def _numbers_in(text: str) -> tuple[float, ...]:
    """The numbers in a text, as MaterialX reads them: text after a number is ignored."""
    return tuple(map(float, _NUMBER.findall(text)))


def find_live_inputs(
    document: Document, material: Material, wanted: Sequence[WantedInput]
) -> tuple[LiveInput, ...]:
    """The document's inputs for these requests. Raises DocumentError for an input that does not
    exist or that cannot vary."""
    nodes = list(document.nodes_of(material))
    return tuple(_find(document, material, nodes, each) for each in wanted)


def _find(
    document: Document, material: Material, nodes: list[mx.Node], wanted: WantedInput
) -> LiveInput:
    shown = f"{document.name}: live input {wanted.name!r}"
    clocks = [node for node in nodes if node.getCategory() == wanted.name]
    if wanted.name in CLOCKS and clocks:
        _require_count(shown, "float", wanted)
        paths = tuple(node.getNamePath() for node in clocks)
        return _live(wanted, wanted.name, (CLOCKS[wanted.name],), paths)
    shared = _of_material(nodes).get(wanted.name)
    if shared:
        kind = shared[0].port.getType()
        _require_count(shown, kind, wanted)
        paths = tuple(each.path for each in shared)
        return _live(wanted, kind, shared[0].value or wanted.low, paths)
    offer = _require_offer(shown, document, material, nodes, wanted.name)
    _require_variable(shown, offer)
    kind = offer.port.getType()
    _require_count(shown, kind, wanted)
    return _live(wanted, kind, offer.value or wanted.low, (offer.path,))


def _require_offer(
    shown: str, document: Document, material: Material, nodes: Sequence[mx.Node], name: str
) -> _Offer:
    """The only input with this name or path."""
    offers = [each for each in _offers(nodes) if name in (each.name, each.path)]
    # a bare name means the offered input, even if others have the same name
    offers = [each for each in offers if each.is_offered] or offers
    if not offers:
        offers = [each for each in _offers_of_nodes(nodes) if each.path == name]
    if len(offers) > 1:
        listed = " or ".join(each.path for each in offers)
        raise DocumentError(f"{shown}: several inputs have this name: name one as {listed}")
    if offers:
        return offers[0]
    known = published_inputs(document, material)
    if name in CLOCKS:
        listed = f"use one of {', '.join(known)}" if known else "it has no other inputs"
        raise DocumentError(
            f"{shown}: no node of material {material.name!r} reads the {name}: {listed}"
        )
    listed = f"it has {', '.join(known)}" if known else "it has none"
    raise DocumentError(
        f"{shown} is not an input of material {material.name!r}: {listed}, or name any other "
        "by its path, as in GRAPH/NODE/INPUT"
    )


def _require_variable(shown: str, offer: _Offer) -> None:
    """Refuses an input that cannot vary."""
    kind = offer.port.getType()
    if kind == _FOR_FILES:
        raise DocumentError(f"{shown} names an image: bake another material for another image")
    if kind in _OTHER_NUMBERS:
        raise DocumentError(
            f"{shown} has the type {kind}: only numbers and colours (float, color3) can stay open"
        )
    if kind not in _COUNTS or offer.is_uniform:
        raise DocumentError(
            f"{shown} has the type {kind} and changes the graph itself: only numbers and colours "
            "(float, color3) with which nodes compute can stay open"
        )
    if not offer.is_open:
        raise DocumentError(
            f"{shown} is connected to a node: name an input that has a value of its own"
        )


def _require_count(shown: str, kind: str, wanted: WantedInput) -> None:
    if len(wanted.low) != _COUNTS[kind]:
        example = "0..1" if kind == "float" else "1,1,1..1,.5,0"
        raise DocumentError(f"{shown} has the type {kind}: use a range such as {example}")


def _live(
    wanted: WantedInput, kind: str, value: tuple[float, ...], paths: tuple[str, ...]
) -> LiveInput:
    """The live input. Without a requested default, it is the document's value, or the nearest value
    in the range."""
    found = LiveInput(wanted.name, kind, wanted.low, wanted.high, 0.0, wanted.density, paths)
    if wanted.default is not None:
        share = found.share_of(wanted.default)
    else:
        along = [high - low for low, high in zip(wanted.low, wanted.high, strict=True)]
        offset = [at - low for low, at in zip(wanted.low, value, strict=True)]
        share = sum(map(float.__mul__, along, offset)) / sum(each * each for each in along)
    default = min(1.0, max(0.0, share))
    return LiveInput(wanted.name, kind, wanted.low, wanted.high, default, wanted.density, paths)


def _offers(nodes: Sequence[mx.Node]) -> list[_Offer]:
    """The inputs of graphs, then of surfaces and of nodes that the document defines."""
    import MaterialX as mx

    root = nodes[0].getDocument()
    implementing = implementing_graphs(root)
    graphs = {node.getParent().getName(): node.getParent() for node in nodes}
    found = [
        _Offer(graph, port)
        for name, graph in graphs.items()
        if isinstance(graph, mx.NodeGraph) and name not in implementing
        for port in graph.getInputs()
    ]
    shown = [
        node
        for node in nodes
        if node.getType() == mx.SURFACE_SHADER_TYPE_STRING or is_defined_here(node)
    ]
    return found + _offers_of_nodes(shown)


def _of_material(nodes: Sequence[mx.Node]) -> dict[str, list[_Offer]]:
    """Inputs of nodes by the input of the material that they read, if all its readers can vary."""
    found: dict[str, list[_Offer]] = {}
    for node in nodes:
        for port in node.getInputs():
            name = port.getAttribute(PUBLISHED)
            if name:
                found.setdefault(name, []).append(_Offer(node, port))
    return {
        name: ports
        for name, ports in found.items()
        if all(each.is_open for each in ports) and len({p.port.getType() for p in ports}) == 1
    }


def _offers_of_nodes(nodes: Sequence[mx.Node]) -> list[_Offer]:
    found = []
    for node in nodes:
        ports = {port.getName(): port for port in node.getInputs()}
        for port in defined_inputs(node):
            ports.setdefault(port.getName(), port)
        found += [_Offer(node, port) for port in ports.values()]
    return found
