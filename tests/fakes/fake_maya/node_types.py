"""Node types of the fake Maya, from nodes.json, and names of attributes as Maya resolves them.

A plug may name an attribute by its long or short name, with or without its parents:
`colorEntryList[0].color.colorR`, `cel[0].ec.ecr` and `cel[0].ecr` are one. Maya writes it with
those parents only that have an index: `colorEntryList[0].colorR` (Autodesk, Maya API:
MPlug::partialName).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

_TABLE = Path(__file__).with_name("nodes.json")
_PART = re.compile(r"(\w+)(?:\[(-?\d+)(?::(-?\d+))?\])?")
VECTORS = (
    "float2",
    "float3",
    "double2",
    "double3",
    "long2",
    "long3",
    "short2",
    "short3",
    "double4",
)
_LOOSE = {
    # short names of attributes of nodes that the table leaves out
    "docs": "documents",
    "up": "ufePath",
    "oc": "outColor",
    "ss": "surfaceShader",
    "ihi": "isHistoricallyInteresting",
    "ro": "renderableOnlySet",
    "v": "visibility",
    "t": "translate",
    "r": "rotate",
    "s": "scale",
    "io": "intermediateObject",
    "msg": "message",
    "iog": "instObjGroups",
    "og": "objectGroups",
    "gcl": "objectGrpCompList",
    "uvst": "uvSet",
    "uvsn": "uvSetName",
    "uvsp": "uvSetPoints",
    "cuvs": "currentUVSet",
    "fp": "filePath",
    "do": "drawOverride",
    "in": "inMesh",
}


@dataclass(eq=False)
class Attribute:
    """An attribute of a node type, or one that addAttr has added to a node."""

    long: str
    short: str
    kind: str
    default: Any = None
    is_multi: bool = False
    is_output: bool = False
    is_color: bool = False
    names: str = ""
    """The names of an enumeration, as in `attributeQuery -listEnum`."""
    parent: Attribute | None = None
    children: list[Attribute] = field(default_factory=list)

    def ancestors(self) -> list[Attribute]:
        """The attribute with its parents, the outermost first."""
        return [*(self.parent.ancestors() if self.parent else ()), self]

    def all(self) -> Iterator[Attribute]:
        yield self
        for child in self.children:
            yield from child.all()

    def leaves(self) -> list[Attribute]:
        found = [leaf for child in self.children for leaf in child.leaves()]
        return found or [self]


class NodeType:
    """The attributes of a type, by their long and short names."""

    def __init__(
        self, name: str, classification: str, parents: list[str], attributes: list[Attribute]
    ) -> None:
        self.name, self.classification, self.parents = name, classification, parents
        self.attributes = attributes
        self.by_name: dict[str, Attribute] = {}
        for top in attributes:
            for each in top.all():
                self.by_name.setdefault(each.long, each)
        for top in attributes:
            for each in top.all():
                self.by_name.setdefault(each.short, each)


@dataclass(frozen=True)
class Plug:
    """An attribute of a node with its indices."""

    path: str
    """As Maya writes it."""
    attribute: Attribute | None
    """None for one that the table leaves out."""
    index: int | None = None
    """The index of the last part."""
    last: int | None = None
    """The end of a range of indices."""
    above: str = ""
    """The path of the compound that has this attribute."""


@cache
def node_types() -> dict[str, NodeType]:
    """The types of the table."""
    table = json.loads(_TABLE.read_text(encoding="utf-8"))["types"]
    common = [
        ["message", "msg", "message", None, ""],
        ["caching", "cch", "bool", False, ""],
        ["frozen", "fzn", "bool", False, ""],
        ["isHistoricallyInteresting", "ihi", "byte", 2, ""],
        ["nodeState", "nds", "enum", 0, "enum=Normal:HasNoEffect:Blocking"],
    ]
    return {
        name: NodeType(
            name,
            facts["class"],
            facts["parents"],
            [_attribute(each, None) for each in (*facts["attributes"], *common)],
        )
        for name, facts in table.items()
    }


def _attribute(row: list[Any], parent: Attribute | None) -> Attribute:
    long, short, kind, default, flags = row[:5]
    words, _, names = flags.partition("enum=")
    made = Attribute(
        *(long, short, kind, tuple(default) if isinstance(default, list) else default),
        *("multi" in words.split(), "out" in words.split(), "color" in words.split(), names),
        parent,
    )
    for place, child in enumerate(row[5] if len(row) > 5 else ()):
        if kind in VECTORS:
            part = "double" if kind.startswith("double") else kind[:-1]
            child = [*child, part, default[place], "out" if made.is_output else ""]
        made.children.append(_attribute(child, made))
    return made


def find_attribute(kind: str, name: str, added: dict[str, Attribute]) -> Attribute | None:
    """An attribute of a type by one of its names, or one that was added to the node."""
    known = node_types().get(kind)
    if known and name in known.by_name:
        return known.by_name[name]
    return next((each for each in added.values() if name in (each.long, each.short)), None)


def find_plug(kind: str, path: str, added: dict[str, Attribute]) -> Plug:
    """The attribute that a path means, on a node of this type."""
    parts = [found for each in path.split(".") if (found := _PART.fullmatch(each))]
    last = find_attribute(kind, parts[-1][1], added) if parts else None
    if last is None:
        names = (_LOOSE.get(each[1], each[1]) + each[0][len(each[1]) :] for each in parts)
        return Plug(".".join(names) or path, None)
    given = {}
    for part in parts:
        found = find_attribute(kind, part[1], added)
        if found is not None and part[2] is not None:
            given[found] = part[2]
    written = []
    for each in last.ancestors()[:-1]:
        if each.is_multi:
            written.append(f"{each.long}[{given[each]}]" if each in given else each.long)
    above = ".".join(written)
    if last.parent and not last.parent.is_multi:
        above = ".".join((*written, last.parent.long))
    index, end = parts[-1][2], parts[-1][3]
    mark = "" if index is None else f"[{index}:{end}]" if end else f"[{index}]"
    return Plug(
        ".".join((*written, last.long + mark)),
        last,
        None if index is None else int(index),
        None if end is None else int(end),
        above,
    )
