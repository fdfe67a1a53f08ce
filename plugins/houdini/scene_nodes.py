"""Nodes of Houdini's scene: what every part of the adapter asks of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import hou

from verdigris.core.base.errors import HostError


def children(path: str) -> tuple[hou.Node, ...]:
    """The nodes of a network; none where there is no such network."""
    node = hou.node(path)
    return node.children() if node is not None else ()


def require_node(path: str) -> Any:
    """The node, or an error that says what to do where it is gone."""
    node = hou.node(path)
    if node is None:
        raise HostError(f"{path}: is not in the scene (any more): refresh the list")
    return node


def refuse_locked(node: hou.Node) -> None:
    """Refuses, before anything is changed, to change what is locked."""
    if node.isInsideLockedHDA():
        raise HostError(
            f"{node.path()}: is inside a locked asset: allow editing of its contents, or work on a "
            "copy"
        )


@contextmanager
def one_step(label: str) -> Iterator[None]:
    """What happens inside is undone at once, also where it fails half way."""
    try:
        with hou.undos.group(label):
            yield
    except (hou.OperationFailed, hou.PermissionError) as failure:
        if hou.undos.areEnabled() and hou.undos.undoLabels()[:1] == (label,):
            hou.undos.performUndo()
        raise HostError(f"{label}: Houdini refused: {failure}") from None
