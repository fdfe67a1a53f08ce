"""Reads Maya ASCII (Autodesk, Maya Help: Maya ASCII file format).

A test loads a scene with `scene.read(path)`, or through the adapter's `open_scene`. Attributes that
nodes.json lacks are kept by the names of the file and listed in `scene.unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .geometry import mesh_of
from .node_types import VECTORS, Attribute, Plug, node_types
from .references import apply_edits
from .tables import LOOSE_TYPES

if TYPE_CHECKING:
    from .scene import Scene

_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s";]+)|(;)', re.S)
_COMMENT = re.compile(r"^\s*//[^\n]*$", re.M)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_IN_TREE = ("transform", "joint", "materialxStack")
# Nodes of every scene (Autodesk, Maya Help: default nodes).
_DEFAULTS = {
    "|persp": "transform",
    "initialShadingGroup": "shadingEngine",
    "initialParticleSE": "shadingEngine",
    "lambert1": "lambert",
    "standardSurface1": "standardSurface",
    "particleCloud1": "particleCloud",
    "time1": "time",
    "defaultColorMgtGlobals": "colorManagementGlobals",
    "defaultResolution": "resolution",
    "hardwareRenderGlobals": "hardwareRenderGlobals",
}
# Flags with an argument, by command.
_TAKES = {
    "setAttr": ("s", "ch", "k", "cb", "l", "ca", "type"),
    "addAttr": (
        *("ln", "sn", "at", "dt", "nn", "p", "dv", "min", "max", "smn", "smx", "en", "nc", "k"),
        *("h", "m", "im", "ci", "uac", "r", "w", "s", "ct", "cc", "is", "hxv", "hnv"),
    ),
    "createNode": ("n", "p"),
    "file": ("rdi", "dr", "ns", "rfn", "typ", "op", "rpr", "shd", "sns", "cns"),
    "lockNode": ("l", "lu", "ic"),
    "rename": (),
    "connectAttr": (),
    "select": (),
}
# Long names of flags, which older scenes have.
_SHORT = {
    "longName": "ln",
    "shortName": "sn",
    "attributeType": "at",
    "dataType": "dt",
    "defaultValue": "dv",
    "enumName": "en",
    "numberOfChildren": "nc",
    "multi": "m",
    "usedAsColor": "uac",
    "cachedInternally": "ci",
    "hidden": "h",
    "keyable": "k",
    "minValue": "min",
    "maxValue": "max",
    "softMinValue": "smn",
    "softMaxValue": "smx",
    "readable": "r",
    "writable": "w",
    "storable": "s",
    "indexMatters": "im",
    "niceName": "nn",
    "category": "ct",
    "parent": "p",
    "name": "n",
    "lock": "l",
    "channelBox": "cb",
    "size": "s",
    "capacityHint": "ch",
    "nextAvailable": "na",
    "namespace": "ns",
    "reference": "r",
    "referenceNode": "rfn",
    "deferReference": "dr",
    "referenceDepthInfo": "rdi",
}
_TRUE, _FALSE = ("yes", "on", "true"), ("no", "off", "false")


def statements(text: str) -> Iterator[list[tuple[str, bool]]]:
    """The statements of a file, each as words with whether they were quoted."""
    words: list[tuple[str, bool]] = []
    for found in _WORD.finditer(_COMMENT.sub("", text)):
        if found[3]:
            if words:
                yield words
            words = []
        elif found[2] is not None:
            words.append((found[2], False))
        else:
            plain = re.sub(r"\\(.)", lambda each: _ESCAPES.get(each[1], each[1]), found[1])
            words.append((plain, True))


def split_flags(words: list[tuple[str, bool]]) -> tuple[dict[str, str], list[tuple[str, bool]]]:
    """The flags of a statement with their arguments, and its other words."""
    takes = _TAKES.get(words[0][0], ())
    flags: dict[str, str] = {}
    rest: list[tuple[str, bool]] = []
    place = 1
    while place < len(words):
        word, quoted = words[place]
        place += 1
        if quoted or not re.match(r"-[A-Za-z]", word) or "type" in flags:
            rest.append((word, quoted))
            continue
        flag = _SHORT.get(word[1:], word[1:])
        if flag in takes and place < len(words):
            flags[flag] = words[place][0]
            place += 1
        else:
            flags[flag] = ""
    return flags, rest


class Reader:
    """Adds the nodes of a file to a scene."""

    def __init__(self, scene: Scene, namespace: str = "") -> None:
        self._scene, self._namespace = scene, namespace
        self._current = ""
        self._raw: dict[str, dict[str, list[str]]] = {}
        self._placeholders: dict[str, str] = {}
        self._missing: dict[str, str] = {}
        self._folder = Path()

    def read(self, path: Path) -> None:
        self._folder = path.parent
        for name, kind in _DEFAULTS.items():
            if name not in self._scene.nodes:
                self._scene.add(name, kind)
        text = path.read_text(encoding="utf-8", errors="replace")
        # the default surface since Maya 2022 (Autodesk, What's New in Maya 2022)
        version = re.match(r"//Maya ASCII (\d+)", text)
        surface = "standardSurface1" if version and int(version[1]) >= 2022 else "lambert1"
        default = "initialShadingGroup.surfaceShader"
        self._scene.connections.setdefault(default, f"{surface}.outColor")
        for words in statements(text):
            act = getattr(self, f"_{words[0][0]}", None)
            if act is not None:
                act(*split_flags(words))
        for name, raw in self._raw.items():
            self._scene.nodes[name]["attributes"]["mesh"] = mesh_of(raw)

    def _name(self, name: str) -> str:
        """A name of the file with the namespace of its reference."""
        if name.startswith(":") or not self._namespace:
            return name.removeprefix(":")
        return "|".join(each and f"{self._namespace}:{each}" for each in name.split("|"))

    def _createNode(self, flags: dict[str, str], rest: list[tuple[str, bool]]) -> None:
        kind = rest[0][0]
        name = flags.get("n") or f"{kind}1"
        parent = flags.get("p", "")
        shared = self._name(name)
        if "s" in flags and "ss" not in flags and any(
            each.rpartition("|")[2] == shared for each in self._scene.nodes
        ):  # fmt: skip
            self._current = self._scene.find(shared)
            return
        full = self._name(name)
        if parent:
            full = f"{self._scene.find(self._name(parent))}|{full}"
        elif kind in _IN_TREE:
            full = f"|{full}"
        missing = self._missing.get(kind, "")
        self._current = self._scene.add(full, "unknown" if missing else kind)
        if missing:
            self._scene.nodes[self._current]["plugin"] = missing
        if kind == "mesh":
            self._raw[full] = {}

    def _rename(self, flags: dict[str, str], rest: list[tuple[str, bool]]) -> None:
        if "uid" in flags and self._current:
            self._scene.uuids[self._current] = rest[-1][0]

    def _select(self, flags: dict[str, str], rest: list[tuple[str, bool]]) -> None:
        name = rest[-1][0].removeprefix(":")
        try:
            self._current = self._scene.find(name)
        except RuntimeError:
            self._current = self._scene.add(name, name.rstrip("0123456789"))

    def _requires(self, flags: dict[str, str], rest: list[tuple[str, bool]]) -> None:
        """A plug-in, with its node types: without it, Maya makes `unknown` nodes of them."""
        plugins = [word for word, _ in rest if word in self._scene.plugins]
        for plugin in plugins:
            self._scene.plugins[plugin] = True
        if not plugins and len(rest) >= 2:
            kinds = [word for word, _ in rest[:-2]]
            known = {*node_types(), *LOOSE_TYPES}
            self._missing |= {kind: rest[-2][0] for kind in kinds if kind not in known}

    def _lockNode(self, flags: dict[str, str], rest: list[tuple[str, bool]]) -> None:
        if self._current and not rest:
            self._scene.nodes[self._current]["locked"] = flags.get("l") in ("1", "on")

    def _addAttr(self, flags: dict[str, str], rest: list[tuple[str, bool]]) -> None:
        added = self._scene.nodes[self._current].setdefault("added", {})
        long = flags["ln"]
        kind = flags.get("at") or flags.get("dt") or "double"
        number = float(flags.get("dv") or 0)
        whole = ("long", "short", "byte", "enum")
        default: Any = {"string": "", "bool": bool(number)}.get(kind, number)
        default = int(number) if kind in whole else default
        made = Attribute(
            long,
            flags.get("sn", long),
            kind,
            (0.0,) * int(kind[-1]) if kind in VECTORS else default,
            "m" in flags,
            is_color="uac" in flags,
            names=flags.get("en", ""),
        )
        above = added.get(flags.get("p", ""))
        if above is not None:
            made.parent = above
            above.children.append(made)
        added[long] = made
        if kind == "string":
            self._scene.nodes[self._current]["attributes"].setdefault(long, "")

    def _setAttr(self, flags: dict[str, str], rest: list[tuple[str, bool]]) -> None:
        path, values = rest[0][0].removeprefix("."), rest[1:]
        node = self._current
        if not values or not node:
            return
        if flags.get("type") == "dataReferenceEdits":
            self._placeholders |= apply_edits(self._scene, self._name, values)
            return
        if self._scene.nodes[node]["type"] == "mesh" and self._keep_geometry(node, path, values):
            return
        plug = self._scene.look_up(f"{node}.{path}")
        kind = flags.get("type", "")
        if plug.attribute is None:
            self._note_unknown(node, path)
            self._scene.nodes[node]["attributes"][plug.path] = _plain(kind, values)
            if kind == "attributeAlias":
                return
        elif kind in ("", *VECTORS):
            self._set_numbers(node, plug, [_number(each) for each, _ in values])
        else:
            self._scene.store(f"{node}.{plug.path}", _plain(kind, values))

    def _set_numbers(self, node: str, plug: Plug, numbers: list[Any]) -> None:
        own = plug.attribute
        assert own is not None
        leaves = own.leaves()
        first = plug.index or 0
        stem = re.sub(r"\[[^\]]*\]$", "", plug.path)
        places = range(first, (plug.last if plug.last is not None else first) + 1)
        for count, place in enumerate(places):
            some = numbers[count * len(leaves) : (count + 1) * len(leaves)]
            path = f"{stem}[{place}]" if plug.index is not None else plug.path
            if own.kind in VECTORS or not own.children:
                value = tuple(some) if own.children else _cast(own, some[0])
                self._scene.store(f"{node}.{path}", value)
                continue
            for leaf, number in zip(leaves, some, strict=True):
                self._scene.store(f"{node}.{path}.{leaf.long}", _cast(leaf, number))

    def _keep_geometry(self, node: str, path: str, values: list[tuple[str, bool]]) -> bool:
        """Keeps what describes the geometry of a mesh, to be read at the end."""
        stem = path.partition("[")[0] if not path.startswith("uvst") else path.rpartition(".")[2]
        stem = stem.partition("[")[0]
        if stem not in ("vt", "ed", "fc", "uvsp") or (stem == "uvsp" and "uvst[0]" not in path):
            return False
        self._raw[node].setdefault(stem, []).extend(word for word, _ in values)
        return True

    def _connectAttr(self, flags: dict[str, str], rest: list[tuple[str, bool]]) -> None:
        scene = self._scene
        source, target = (
            self._placeholders.get(re.sub(r"\.phl\b", ".placeHolderList", name), name)
            for name in (self._name(each) for each, _ in rest[:2])
        )
        try:
            scene.find(source), scene.find(target)
        except RuntimeError:
            scene.unknown.append(f"{source} -> {target}")
            return
        held = scene.look_up(target)
        if held.attribute is not None and held.attribute.long == "dagSetMembers":
            self._add_member(source, scene.find(target))
            return
        if held.attribute is None:
            self._note_unknown(scene.find(target), target.partition(".")[2])
        written = scene.plug(target)
        if "na" in flags:
            written += f"[{max(scene.indices(target), default=-1) + 1}]"
        scene.connections[written] = scene.plug(source)

    def _add_member(self, source: str, engine: str) -> None:
        scene = self._scene
        node = scene.find(source)
        found = re.search(r"\b(?:og|objectGroups)\[(\d+)\]", source)
        faces: list[str] = []
        if found:
            listed = f"instObjGroups[0].objectGroups[{found[1]}].objectGrpCompList"
            faces = list(scene.nodes[node]["attributes"].get(listed, []))[1:]
        above = node.rpartition("|")[0]
        scene.members.setdefault(engine, []).extend([f"{above}.{each}" for each in faces] or [node])

    def _note_unknown(self, node: str, path: str) -> None:
        kind = self._scene.nodes[node]["type"]
        # plug-ins extend any node
        if kind in node_types() and not path.startswith("ai"):
            self._scene.unknown.append(f"{kind}.{path}")

    def _file(self, flags: dict[str, str], rest: list[tuple[str, bool]]) -> None:
        """A reference. Maya writes it twice, the second time with `-r -dr 1` where it is loaded."""
        if "r" not in flags or not rest:
            return
        named = rest[-1][0]
        plain = Path(named.partition("{")[0])
        places = (plain, self._folder / plain, self._folder / plain.name)
        found = next((each for each in places if each.is_file()), None)
        self._scene.references[named] = found is not None
        if found is not None and found.suffix == ".ma":
            given = flags.get("ns", "").strip(":")
            inside = ":".join(each for each in (self._namespace, given) if each)
            Reader(self._scene, inside).read(found)


def _plain(kind: str, values: list[tuple[str, bool]]) -> Any:
    return value_of(kind, [w for w, quoted in values if quoted or w not in ("(", ")", "+")])


def value_of(kind: str, words: list[str]) -> Any:
    """A value of a type, of the words that are written for it."""
    if kind == "string":
        return "".join(words)
    if kind in VECTORS or not kind:
        numbers = [_number(each) for each in words]
        return tuple(numbers) if kind or len(numbers) > 1 else numbers[0]
    return words


def _number(word: str) -> Any:
    if word.lower() in _TRUE:
        return True
    if word.lower() in _FALSE:
        return False
    try:
        return int(word) if re.fullmatch(r"-?\d+", word) else float(word)
    except ValueError:
        return word


def _cast(own: Attribute, value: Any) -> Any:
    if own.kind == "bool":
        return bool(value)
    if own.kind in ("enum", "long", "short", "byte"):
        return int(value)
    return float(value) if own.kind.startswith(("float", "double")) else value
