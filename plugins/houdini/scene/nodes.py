"""Helpers for the nodes of a Houdini scene."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import hou

from verdigris.core.base.errors import HostError

_SPECIAL = re.compile(r"[\\$`]")


def require_node(path: str) -> Any:
    """The node. Raises an error if it does not exist."""
    node = hou.node(path)
    if node is None:
        raise HostError(f"{path} is not in the scene: refresh the list")
    return node


def refuse_locked(node: hou.Node) -> None:
    """Raises an error if a node is locked. Call it before the first change."""
    if node.isInsideLockedHDA():
        raise HostError(
            f"{node.path()} is inside a locked asset: allow editing of its contents, or use a copy"
        )


def set_text(parm: hou.Parm, text: str) -> None:
    """Sets a text parameter to this text itself.

    Houdini reads a text as an argument of HScript: it expands $VARIABLE and runs what stands in
    backticks. A backslash escapes the next character (SideFX, Quoting and embedding expressions).
    """
    parm.set(_SPECIAL.sub(r"\\\g<0>", text))


@contextmanager
def undo_step(label: str) -> Iterator[None]:
    """Groups all changes inside into one undo step, and undoes them after an error."""
    before = hou.undos.undoLabels()
    try:
        with hou.undos.group(label):
            yield
    except (hou.OperationFailed, hou.PermissionError) as failure:
        labels = hou.undos.undoLabels()
        # without a change there is no step, and the previous step may have the same label
        if hou.undos.areEnabled() and labels != before and labels[:1] == (label,):
            hou.undos.performUndo()
        raise HostError(f"{label}: Houdini reports: {failure}") from None
