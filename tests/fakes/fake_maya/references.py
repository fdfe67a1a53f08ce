"""Edits of references in the fake Maya: what a scene changes in the nodes of another file.

A reference node has them as a list of records, each with a code first (Autodesk, Maya Help:
reference edits; command referenceQuery -editStrings): 2 sets an attribute, 3 ends a connection, 5
names the plug that a placeholder of the reference node stands for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .scene import Scene


def apply_edits(
    scene: Scene, name: Callable[[str], str], words: list[tuple[str, bool]]
) -> dict[str, str]:
    """Applies the edits. Returns the plugs that placeholders stand for."""
    records: list[tuple[str, list[str]]] = []
    for word, is_quoted in words:
        # counts of edits look like codes, and have no words
        if not is_quoted and not (records and records[-1][0] == "5" and not records[-1][1]):
            records.append((word, []))
        elif records:
            records[-1][1].append(word)
    found: dict[str, str] = {}
    for code, given in records:
        if code == "2" and len(given) >= 3:
            _set(scene, name(given[0]), given[1], given[2])
        elif code == "3" and len(given) >= 2:
            scene.connections.pop(_written(scene, name(given[1])), None)
        elif code == "5" and len(given) >= 4:
            found[name(given[3])] = name(given[2])
    return found


def _set(scene: Scene, node: str, attribute: str, text: str) -> None:
    from .ascii import value_of

    try:
        path = scene.find(node)
    except RuntimeError:
        return
    kind = re.search(r'-type "(\w+)"', text)
    words = re.findall(r'"([^"]*)"|(\S+)', re.sub(r'-type "\w+"|-av|-(?:k|l|cb|s) \S+', "", text))
    values = [quoted or plain for quoted, plain in words]
    if values:
        scene.store(f"{path}.{attribute}", value_of(kind[1] if kind else "", values))


def _written(scene: Scene, plug: str) -> str:
    try:
        return scene.plug(plug)
    except RuntimeError:
        return plug
