"""The materials of all material networks in the scene."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import hou

from verdigris.core.hosts.host import VIEWPORT_SUFFIX
from verdigris.plugins.houdini.scene.nodes import instances
from verdigris.plugins.houdini.scene.translator import TRANSLATOR

# Networks that hold materials: managers, and nodes of every context.
_MANAGERS = ("/mat", "/shop")
_NETWORKS = ("matnet", "shopnet", "materiallibrary", "editmaterial", "componentmaterial")
_SUBNET, _COLLECT = "subnet", "collect"
# Nodes that MaterialX defines, and those that only Karma has, which are refused by name and not
# silently. Houdini shows the Principled Shader to USD as a preview surface.
_OF_MATERIALX = ("mtlx", "usd", "kma_")
_PREFIXES = (*_OF_MATERIALX, "principledshader")
# Builders and shaders of renderers by the start of their types, as the renderers' plug-ins and the
# tools of studios name them.
_RENDERERS = {
    "redshift": "Redshift",
    "rs_usd": "Redshift",
    "pxr": "RenderMan",
    "octane": "Octane",
    "vray": "V-Ray",
    "arnold": "Arnold",
    "3delight": "3Delight",
    "materialbuilder": "Mantra",
    "vopmaterial": "Mantra",
    "classicshader": "Mantra",
}


def network_materials() -> list[tuple[hou.Node, str]]:
    """The materials of all networks that hold materials, with the reason if one cannot be baked.
    What a locked asset has for other renderers is none of the artist's business."""
    return [
        (node, find_problem(node))
        for node in _all_materials()
        if not node.isInsideLockedHDA() or _has_nodes(node, _OF_MATERIALX)
    ]


def find_problem(node: hou.Node) -> str:
    """Why a material cannot be translated; empty if it can."""
    if _has_materialx(node):
        return ""
    kinds = [each.type().name().lower() for each in (node, *node.children())]
    for start, renderer in _RENDERERS.items():
        if any(kind.startswith(start) for kind in kinds):
            return f"is a material of {renderer}: {_REMEDY}"
    return f"has no MaterialX surface: {_REMEDY}"


_REMEDY = "build it with MtlX nodes, in a Karma Material Builder for example"


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
    for path in _MANAGERS:
        network = hou.node(path)
        if network is not None:
            yield network
    for network in instances(*_NETWORKS):
        if network.parent().name() != TRANSLATOR:
            yield network


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
    """Whether a shader, a builder or a collection of shaders has nodes that can be translated."""
    return _has_nodes(node, _PREFIXES)


def _has_nodes(node: hou.Node, prefixes: tuple[str, ...]) -> bool:
    name = node.type().name()
    if name == _COLLECT:
        return any(each is not None and _has_nodes(each, prefixes) for each in node.inputs())
    return name.startswith(prefixes) or any(_has_nodes(each, prefixes) for each in node.children())
