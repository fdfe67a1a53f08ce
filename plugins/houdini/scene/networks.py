"""The materials of all material networks in the scene, and the colour spaces of their images."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections.abc import Iterable, Iterator

import hou

from verdigris.core.hosts.host import VIEWPORT_SUFFIX
from verdigris.core.material.graph.colour_spaces import name_in_materialx
from verdigris.plugins.common.usd_stages import listed

MATERIAL_PATH = "/mat"
# Nodes of every context that contain materials.
_NETWORKS = ("matnet", "materiallibrary")
_SUBNET, _COLLECT = "subnet", "collect"
# Nodes that MaterialX defines, and those that only Karma has, which are refused by name and not
# silently.
_PREFIXES = ("mtlx", "usdpreviewsurface", "kma_")
# Houdini's renderers read texels of other types, numbers and vectors, as they are.
_COLOURS = ("color3", "color4")
_AUTOMATIC = ("", "auto", "automatic")


def network_materials() -> list[hou.Node]:
    """The materials of /mat, of all material networks and of all Material Libraries."""
    return [node for node in _all_materials() if _has_materialx(node)]


def network_warnings() -> list[str]:
    """A warning about materials that have no MaterialX."""
    bare = [
        node.path()
        for node in _all_materials()
        if not _has_materialx(node) and not node.isInsideLockedHDA()
    ]
    if not bare:
        return []
    return [
        f"these materials have no MaterialX surface: {listed(bare)}. Use a MaterialX shader, a "
        "Karma Material Builder or a USD Preview Surface to bake them."
    ]


def shown_on_stages(nodes: Iterable[hou.LopNode]) -> tuple[str, ...]:
    """The prefixes of paths of materials that come from these LOPs, or from LOPs before them."""
    found: dict[str, None] = {}
    for node in nodes:
        for each in (node, *node.inputAncestors()):
            found[f"{each.path()}/"] = None
    return tuple(found)


def touches(material: str, chosen: Iterable[str]) -> bool:
    """Whether a material, a part of it, or a network around it is among these paths."""
    return any(
        path == material or path.startswith(f"{material}/") or material.startswith(f"{path}/")
        for path in chosen
    )


def material_around(node: hou.Node | None) -> hou.Node | None:
    """The material that a node is, or is a part of; None if there is none."""
    while node is not None:
        if isinstance(node, hou.VopNode) and _is_material(node):
            return node if _has_materialx(node) else None
        node = node.parent()
    return None


def _all_materials() -> Iterator[hou.Node]:
    seen = set()
    for network in _networks():
        for node in _materials_in(network):
            if node.path() not in seen:
                seen.add(node.path())
                yield node


def _networks() -> Iterator[hou.Node]:
    network = hou.node(MATERIAL_PATH)
    if network is not None:
        yield network
    for category in hou.nodeTypeCategories().values():
        for name in _NETWORKS:
            kind = category.nodeType(name)
            if kind is not None:
                yield from kind.instances()


def _materials_in(network: hou.Node) -> Iterator[hou.Node]:
    for node in network.children():
        if _is_material(node):
            if not node.name().endswith(VIEWPORT_SUFFIX):
                yield node
        elif node.type().name() == _SUBNET:
            yield from _materials_in(node)


def _is_material(node: hou.Node) -> bool:
    return bool(node.isGenericFlagSet(hou.nodeFlag.Material))


def _has_materialx(node: hou.Node) -> bool:
    """Whether a shader, a builder or a collection of shaders has nodes of MaterialX."""
    name = node.type().name()
    if name == _COLLECT:
        return any(each is not None and _has_materialx(each) for each in node.inputs())
    return name.startswith(_PREFIXES) or any(_has_materialx(each) for each in node.children())


def with_file_rules(text: str) -> str:
    """The document with the colour spaces that Houdini chooses by the names of files; without a
    space, MaterialX reads colours as they are. The report of a bake names spaces that MaterialX
    lacks."""
    try:
        # Houdini ships it
        import PyOpenColorIO as ocio
    except ImportError:
        return text
    try:
        config = ocio.GetCurrentConfig()
    except ocio.Exception:
        # the configuration is damaged, and Houdini cannot read it either
        return text
    root = xml.fromstring(text)
    changed = False
    for node in root.iter():
        ports = node.findall("input[@type='filename']") if node.get("type") in _COLOURS else ()
        for port in ports:
            if port.get("colorspace", "").lower() not in _AUTOMATIC or not port.get("value"):
                continue
            rule, _ = config.getColorSpaceFromFilepath(port.get("value"))
            # rules may name a role or an alias
            space = config.getColorSpace(rule)
            port.set("colorspace", name_in_materialx(space.getName() if space else rule))
            changed = True
    if not changed:
        return text
    return f'<?xml version="1.0"?>\n{xml.tostring(root, encoding="unicode")}\n'
