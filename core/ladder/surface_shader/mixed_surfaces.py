"""Mixes of surface shaders of one kind as one shader whose inputs are mixed.

Where a mask is 0 or 1, both reflect the same. They differ only at its borders, which a fit
improves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.ladder.surface_shader.surface_shader import COUNTS, is_plain_surface
from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.graph.traversal import counterpart, source_of

if TYPE_CHECKING:
    import MaterialX as mx

# The nodes that read the geometry which inputs read by default.
_GEOMETRY = {"Nworld": "normal", "Tworld": "tangent", "Bworld": "bitangent"}
_CONNECTIONS = ("nodename", "nodegraph", "output", "interfacename", "channels")
_VALUES = ("value", "colorspace", "unit", "unittype")


def merge_mix(mix: mx.Node) -> tuple[mx.Document, mx.Node] | None:
    """A copy of a document in which a `mix` of surface shaders is one shader, and the node of this
    shader. None if the shaders are of several kinds, or in several graphs."""
    root = mix.getDocument().copy()
    root.setDataLibrary(standard_library())
    node = counterpart(mix, root)
    return (root, node) if _merge(node) else None


def connect(port: mx.Input, source: mx.Node | mx.Input) -> None:
    """Feeds a port from a node, or with the source or the value of another port."""
    import MaterialX as mx

    port.setType(source.getType())
    if isinstance(source, mx.Node):
        port.setNodeName(source.getName())
        return
    for name in (*_CONNECTIONS, *_VALUES):
        if source.hasAttribute(name):
            port.setAttribute(name, source.getAttribute(name))
    if source.getType() == "color3" and source_of(source) is None:
        port.setColorSpace(source.getActiveColorSpace())


def _merge(node: mx.Node) -> bool:
    """Turns a mix and the shaders that it mixes into one shader in place. Returns False if they
    cannot become one."""
    ends = [_source(node, name) for name in ("fg", "bg")]
    for each in ends:
        if each is None or each.getParent() != node.getParent():
            return False
        if each.getCategory() == "mix" and not _merge(each):
            return False
        if not is_plain_surface(each):
            return False
    fg, bg = ends
    assert fg is not None and bg is not None
    if fg.getCategory() != bg.getCategory():
        return False
    share = node.getInput("mix")
    mixed = {}
    for default in fg.getNodeDef().getActiveInputs():
        name = default.getName()
        ports = [end.getInput(name) for end in (fg, bg)]
        if ports == [None, None]:
            continue
        if default.getType() not in COUNTS or _are_equal(*ports):
            mixed[name] = ports[0] or ports[1]
        elif share is None:
            mixed[name] = ports[1] or default
        else:
            mixed[name] = _add_mix(node, share, default, ports)
    for name in ("fg", "bg", "mix"):
        if name != "mix" or share is not None:
            node.removeInput(name)
    node.setCategory(fg.getCategory())
    node.removeAttribute("nodedef")
    for name, source in mixed.items():
        connect(node.addInput(name, source.getType()), source)
    return True


def _source(node: mx.Node, name: str) -> mx.Node | None:
    port = node.getInput(name)
    return None if port is None else source_of(port)


def _are_equal(one: mx.Input | None, other: mx.Input | None) -> bool:
    """Whether two inputs have the same value."""
    if one is None or other is None or source_of(one) or source_of(other):
        return False
    values = [each.getResolvedValueString() for each in (one, other)]
    spaces = [each.getActiveColorSpace() for each in (one, other)]
    return len({*values}) == len({*spaces}) == 1


def _add_mix(
    node: mx.Node, share: mx.Input, default: mx.Input, ports: list[mx.Input | None]
) -> mx.Node:
    """A node that mixes the foreground's and the background's input."""
    scope, kind = node.getParent(), default.getType()
    mixing = scope.addNode("mix", scope.createValidChildName(f"mixed_{default.getName()}"), kind)
    for name, port in zip(("fg", "bg"), ports, strict=True):
        source: mx.Node | mx.Input = port or default
        geometry = default.getDefaultGeomPropString()
        if port is None and geometry:
            source = scope.addNode(
                _GEOMETRY[geometry], scope.createValidChildName(f"own_{name}"), kind
            )
            source.setInputValue("space", "world", "string")
        connect(mixing.addInput(name, kind), source)
    connect(mixing.addInput("mix", "float"), share)
    return mixing
