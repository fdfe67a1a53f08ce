"""Nodes of Maya's scene: what every part of the adapter asks of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from maya import cmds

from verdigris.core.base.errors import HostError


def of_type(kind: str) -> list[str]:
    """The nodes of a type; a type of a plug-in that is not loaded has none."""
    if kind not in (cmds.ls(nodeTypes=True) or []):
        return []
    return list(cmds.ls(type=kind, long=True) or [])


def require_node(node: str) -> str:
    """The node, or an error that says what to do where it is gone."""
    if not cmds.objExists(node):
        raise HostError(f"{node}: is not in the scene (any more): refresh the list")
    return node


def identity_of(node: str) -> str:
    """What Maya tells nodes apart by, and writes into scenes."""
    return str(cmds.ls(node, uuid=True)[0])


def text_of(node: str, attribute: str) -> str:
    """A string attribute; nothing where the node has none so called."""
    if not cmds.attributeQuery(attribute, node=node, exists=True):
        return ""
    return cmds.getAttr(f"{node}.{attribute}") or ""


def note_text(node: str, attribute: str, text: str) -> None:
    """Writes a string attribute, on a node that may not have it yet."""
    if not cmds.attributeQuery(attribute, node=node, exists=True):
        cmds.addAttr(node, longName=attribute, dataType="string")
    cmds.setAttr(f"{node}.{attribute}", text, type="string")


def nodes_with(attribute: str) -> list[str]:
    """The nodes of the root that have an attribute. What is referenced is in a namespace, and its
    notes are of a scene of its own."""
    return list(cmds.ls(f":*.{attribute}", objectsOnly=True, long=True) or [])


def surface_of(engine: str) -> str:
    """The shader of a shading group; nothing where it has none."""
    found = cmds.listConnections(f"{engine}.surfaceShader", source=True, destination=False)
    return found[0] if found else ""


def selected_meshes() -> list[str]:
    """Of skinned and deformed ones that which is seen, and not what it was made of."""
    found = cmds.ls(selection=True, dagObjects=True, type="mesh", noIntermediate=True, long=True)
    return found or []


def parent_of(shape: str) -> str:
    """The transform of a shape."""
    return shape.rpartition("|")[0] or shape


def load_plugin(name: str) -> None:
    """Loads a plug-in, unless it is."""
    if cmds.pluginInfo(name, query=True, loaded=True):
        return
    try:
        cmds.loadPlugin(name, quiet=True)
    except RuntimeError as failure:
        raise HostError(f"the plug-in {name} cannot be loaded: {failure}") from None


def refuse_locked(node: str) -> None:
    """Refuses, before anything is changed, to change what is locked."""
    if any(cmds.lockNode(node, query=True, lock=True) or []):
        raise HostError(f"{node}: is locked: unlock it (lockNode -lock off), or work on a copy")


@contextmanager
def one_step(label: str) -> Iterator[None]:
    """What happens inside is undone at once, also where it fails half way."""
    cmds.undoInfo(openChunk=True, chunkName=label)
    failed = True
    try:
        yield
        failed = False
    except RuntimeError as failure:
        raise HostError(f"{label}: Maya refused: {failure}") from None
    finally:
        cmds.undoInfo(closeChunk=True)
        # an empty step is none: undoing then would take back what the artist did before
        if failed and cmds.undoInfo(query=True, undoName=True) == label:
            cmds.undo()
