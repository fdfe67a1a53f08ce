"""Reads a document with nothing but XML, and compares it with what the scene was given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from verdigris.core.hosts.documents import parse_text
from verdigris.plugins.common.selftest.report import DifferenceError
from verdigris.plugins.common.selftest.scratch import (
    BASE_COLOUR,
    DISPLACEMENT,
    METALNESS,
    NORMAL,
    ROUGHNESS,
    Expected,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from verdigris.core.hosts.host import HostDocument

# The inputs of surface shaders for each part of the surface.
_INPUTS = {
    BASE_COLOUR: ("base_color", "diffuseColor"),
    ROUGHNESS: ("specular_roughness", "roughness"),
    METALNESS: ("base_metalness", "metalness", "metallic"),
    NORMAL: ("geometry_normal", "normal"),
}
_TOLERANCE = 1e-3


def check_document(document: HostDocument, expected: Expected) -> str:
    """Compares a document with the scene. Raises a DifferenceError with all differences."""
    surface = Surface(document.text, document.material)
    faults = [
        f"{part} is {surface.describe(part)} in the document, and {_text(value)} in the scene"
        for part, value in expected.values.items()
        if not _is_close(surface.value(part), value)
    ]
    faults += [
        f"{part} does not have the image {file}, but {surface.describe(part)}"
        for part, file in expected.images.items()
        if file not in surface.files(part)
    ]
    faults += [
        f"{part} is {surface.describe(part)}, and no note names the node {node}"
        for part, node in expected.nodes.items()
        if not surface.nodes(part) and not any(node in note for note in document.notes)
    ]
    if faults:
        raise DifferenceError("; ".join(faults))
    count = len(expected.values) + len(expected.images) + len(expected.nodes)
    return f"{count} values, images and nodes are there; notes: {'; '.join(document.notes)}"


class Surface:
    """The surface shader of a material in a document, and what feeds it."""

    def __init__(self, text: str, material: str) -> None:
        self._root = parse_text(text, material)
        self._above = {child: each for each in self._root.iter() for child in each}
        found = self._root.find(f"*[@name='{material}']")
        port = found.find("input[@name='surfaceshader']") if found is not None else None
        shaders = list(self._sources(port)) if port is not None else []
        if not shaders:
            raise DifferenceError(f"the document has no material {material!r} with a surface")
        self._shader = shaders[0]
        moved = found.find("input[@name='displacementshader']")
        movers = list(self._sources(moved)) if moved is not None else []
        self._mover = movers[0] if movers else None

    def value(self, part: str) -> tuple[float, ...] | None:
        """The numbers of a part; None if it has none, or something feeds it."""
        port = self._port(part)
        while port is not None and port.get("value") is None:
            nodes = list(self._sources(port))
            port = nodes[0].find("input[@name='value']") if len(nodes) == 1 else None
        try:
            return (
                tuple(float(each) for each in port.get("value", "").split(","))
                if port is not None
                else None
            )
        except ValueError:
            return None

    def nodes(self, part: str) -> tuple[str, ...]:
        """The categories of the nodes upstream of a part."""
        return tuple(node.tag for node in self._upstream(part))

    def files(self, part: str) -> tuple[str, ...]:
        """The names of the files upstream of a part."""
        return tuple(
            PurePosixPath(port.get("value", "").replace("\\", "/")).name
            for node in self._upstream(part)
            for port in node.iter("input")
            if port.get("type") == "filename"
        )

    def describe(self, part: str) -> str:
        """What a part has, for messages."""
        value, nodes = self.value(part), self.nodes(part)
        if value is not None:
            return _text(value)
        return f"fed by {', '.join(dict.fromkeys(nodes))}" if nodes else "not set"

    def _port(self, part: str) -> Element | None:
        if part == DISPLACEMENT:
            return None if self._mover is None else self._mover.find("input[@name='displacement']")
        ports = {port.get("name"): port for port in self._shader.findall("input")}
        return next((ports[name] for name in _INPUTS[part] if name in ports), None)

    def _upstream(self, part: str) -> list[Element]:
        port = self._port(part)
        waiting = list(self._sources(port)) if port is not None else []
        found: dict[Element, None] = {}
        while waiting:
            node = waiting.pop()
            if node not in found:
                found[node] = None
                for each in node.findall("input"):
                    waiting += self._sources(each)
        return list(found)

    def _sources(self, port: Element) -> Iterator[Element]:
        """The nodes that feed an input or an output, through graphs and their interfaces."""
        owner = port if port.tag == "output" else self._above[port]
        scope = self._above.get(owner, self._root)
        if port.get("interfacename"):
            outer = scope.find(f"input[@name='{port.get('interfacename')}']")
            if outer is not None:
                yield from self._sources(outer)
            return
        name = port.get("nodegraph") or port.get("nodename")
        found = next((each for each in scope if name and each.get("name") == name), None)
        if found is None or found.tag != "nodegraph":
            if found is not None:
                yield found
            return
        wanted = port.get("output")
        for output in found.findall("output"):
            if wanted in (None, output.get("name")):
                yield from self._sources(output)


def _is_close(found: tuple[float, ...] | None, value: float | tuple[float, ...]) -> bool:
    wanted = value if isinstance(value, tuple) else (value,)
    return (
        found is not None
        and len(found) == len(wanted)
        and all(abs(a - b) < _TOLERANCE for a, b in zip(found, wanted, strict=True))
    )


def _text(value: float | tuple[float, ...]) -> str:
    return " ".join(f"{each:g}" for each in (value if isinstance(value, tuple) else (value,)))
