"""Helpers for the nodes of a Maya scene."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from maya import cmds

from verdigris.core.base.errors import HostError

MADE_FOR = "verdigrisMadeFor"
"""Marks the nodes of a material for the viewport. Holds the material and the part."""

PAINTED = "verdigrisPainted"
"""Marks the shading group that displays weights. Holds the mesh and its display settings."""

LEVEL_OF = "verdigrisLevelOf"
"""Marks the nodes of the rungs of a ladder. Holds the material."""


def is_ours(node: str) -> bool:
    """Whether Verdigris has made a shader or a shading group, which is not baked."""
    marks = (MADE_FOR, PAINTED, LEVEL_OF)
    return any(cmds.attributeQuery(mark, node=node, exists=True) for mark in marks)


def of_type(kind: str) -> list[str]:
    """The nodes of a type. Empty if the plug-in of the type is not loaded."""
    if kind not in (cmds.ls(nodeTypes=True) or []):
        return []
    return list(cmds.ls(type=kind, long=True) or [])


def require_node(node: str) -> str:
    """The node. Raises an error if it does not exist."""
    if not cmds.objExists(node):
        raise HostError(f"{node} is not in the scene: refresh the list")
    return node


def identity_of(node: str) -> str:
    """The UUID of a node, which Maya stores in the scene."""
    return str(cmds.ls(node, uuid=True)[0])


def text_of(node: str, attribute: str) -> str:
    """The value of a string attribute. Empty if the node does not have it."""
    if not cmds.attributeQuery(attribute, node=node, exists=True):
        return ""
    return cmds.getAttr(f"{node}.{attribute}") or ""


def note_text(node: str, attribute: str, text: str) -> None:
    """Sets a string attribute. Adds it if the node does not have it."""
    if not cmds.attributeQuery(attribute, node=node, exists=True):
        cmds.addAttr(node, longName=attribute, dataType="string")
    cmds.setAttr(f"{node}.{attribute}", text, type="string")


def nodes_with(attribute: str) -> list[str]:
    """The nodes of the root namespace that have an attribute. Referenced nodes carry notes of
    another scene."""
    return list(cmds.ls(f":*.{attribute}", objectsOnly=True, long=True) or [])


def free_name(name: str, end: str = "") -> str:
    """An unused name in the root namespace."""
    number = 1
    while cmds.objExists(candidate := f":{name}{f'_{number}' if number > 1 else ''}{end}"):
        number += 1
    return candidate


def surface_of(engine: str) -> str:
    """The shader of a shading group. Empty if it has none."""
    found = cmds.listConnections(f"{engine}.surfaceShader", source=True, destination=False)
    return found[0] if found else ""


def selected_meshes() -> list[str]:
    """The selected meshes, without intermediate meshes of deformers."""
    found = cmds.ls(selection=True, dagObjects=True, type="mesh", noIntermediate=True, long=True)
    return found or []


def parent_of(shape: str) -> str:
    """The transform of a shape."""
    return shape.rpartition("|")[0] or shape


def bare_path(path: str) -> str:
    """The last part of a path, without its namespace."""
    return path.rpartition("|")[2].rpartition(":")[2]


def load_plugin(name: str) -> None:
    """Loads a plug-in unless it is loaded."""
    if cmds.pluginInfo(name, query=True, loaded=True):
        return
    try:
        cmds.loadPlugin(name, quiet=True)
    except RuntimeError as failure:
        raise HostError(f"the plug-in {name} cannot be loaded: {failure}") from None


def refuse_locked(node: str) -> None:
    """Raises an error if a node is locked. Call it before the first change."""
    if any(cmds.lockNode(node, query=True, lock=True) or []):
        raise HostError(f"{node} is locked: unlock it (lockNode -lock off), or use a copy")


@contextmanager
def note_step(label: str) -> Iterator[None]:
    """One undo step for a note. If the artist has undone something, the note stays out of the undo
    steps, as a new step would discard what can be redone."""
    if not cmds.undoInfo(query=True, redoName=True):
        with undo_step(label):
            yield
        return
    is_kept = cmds.undoInfo(query=True, state=True)
    cmds.undoInfo(stateWithoutFlush=False)
    try:
        yield
    except RuntimeError as failure:
        raise HostError(f"{label}: Maya reports: {failure}") from None
    finally:
        cmds.undoInfo(stateWithoutFlush=is_kept)


@contextmanager
def undo_step(label: str) -> Iterator[None]:
    """Groups all changes inside into one undo step, and undoes them after an error."""
    # without a window, Maya starts without undo, and programs turn it off for a time
    is_kept = cmds.undoInfo(query=True, state=True)
    if not is_kept:
        cmds.undoInfo(stateWithoutFlush=True)
    # a step is known by its name, and the previous step may have the same name
    name = f"{label} " if cmds.undoInfo(query=True, undoName=True) == label else label
    cmds.undoInfo(openChunk=True, chunkName=name)
    failed = True
    try:
        yield
        failed = False
    except RuntimeError as failure:
        raise HostError(f"{label}: Maya reports: {failure}") from None
    finally:
        cmds.undoInfo(closeChunk=True)
        # without a change there is no step, and undo would revert an action of the artist
        if failed and cmds.undoInfo(query=True, undoName=True) == name:
            cmds.undo()
        if not is_kept:
            cmds.undoInfo(stateWithoutFlush=False)
