"""Helpers for the nodes of a Houdini scene."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import hou

from verdigris.core.base.errors import HostError

_SPECIAL = re.compile(r"[\\$`]")
# Whether reads may cook, because an artist has asked for them.
_requests = 0


def require_node(path: str) -> Any:
    """The node. Raises an error if it does not exist."""
    node = hou.node(path)
    if node is None:
        raise HostError(f"{path} is not in the scene: refresh the list")
    return node


@contextmanager
def cooking() -> Iterator[None]:
    """Reads inside cook what they need, as in a bake that an artist starts."""
    global _requests
    _requests += 1
    try:
        yield
    finally:
        _requests -= 1


def is_ready(node: hou.OpNode) -> bool:
    """Whether a node may be read now. With a window, lists cook nothing: a simulation may stand
    behind any node."""
    return bool(_requests) or not hou.isUIAvailable() or not node.needsToCook()


def instances(*types: str) -> Iterator[hou.Node]:
    """All nodes of the types with these names, in every context."""
    for category in hou.nodeTypeCategories().values():
        for name in types:
            kind = category.nodeType(name)
            if kind is not None:
                yield from kind.instances()


def text_of(parm: hou.Parm) -> str:
    """The text of a parameter; empty if its expression fails."""
    try:
        return str(parm.evalAsString())
    except hou.Error:
        return ""


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
    parm.set(escaped(text))


def escaped(text: str) -> str:
    """A text that Houdini reads as it is, in a parameter."""
    return _SPECIAL.sub(r"\\\g<0>", text)


@contextmanager
def undo_step(label: str) -> Iterator[None]:
    """Groups all changes inside into one undo step, and undoes them after an error."""
    before = hou.undos.undoLabels()
    try:
        with hou.undos.group(label):
            yield
    except (hou.Error, HostError) as failure:
        labels = hou.undos.undoLabels()
        # without a change there is no step, and the previous step may have the same label
        if hou.undos.areEnabled() and labels != before and labels[:1] == (label,):
            hou.undos.performUndo()
        if isinstance(failure, HostError):
            raise
        raise HostError(f"{label}: Houdini reports: {failure}") from None
