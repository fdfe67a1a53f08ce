"""The scene of the fake Maya: nodes, connections, assignments, the undo stack, files."""

from __future__ import annotations

import copy
import re
import types
from pathlib import Path
from typing import Any
from uuid import uuid4

from .node_types import VECTORS, Attribute, Plug, find_plug, node_types
from .tables import MESH_SETTINGS, PLUGIN_OF, SELECT_TOOL

# What Maya keeps when it opens another scene.
SESSION = (
    *("project", "plugins", "batch", "has_undo", "export", "refuses", "tool", "brush", "jobs"),
    *("deferred", "callbacks", "files", "layouts", "controls", "panels", "dialogs", "answer"),
    *("commands", "missing_types"),
)


class StrictModule(types.ModuleType):
    """A module that refuses unknown names."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"{self.__name__}.{name}: the fake does not know this name")


class Scene:
    """Nodes by name, with attributes, connections and members, and the undo stack."""

    def __init__(self) -> None:
        self.path = ""
        self.project = ""
        self.saved: list[Any] = []
        self.references: dict[str, bool] = {}
        self.batch = False
        self.time = 1.0
        self.up_axis = "y"
        self.selection: list[str] = []
        self.namespace = ""
        self.nodes: dict[str, dict[str, Any]] = {}
        self.uuids: dict[str, str] = {}
        self.connections: dict[str, str] = {}
        self.members: dict[str, list[str]] = {}
        self.undo_stack: list[tuple[str, Any]] = []
        self.redo_stack: list[tuple[str, Any]] = []
        self.has_undo = True
        self.chunk: list[Any] | None = None
        self.plugins = {"mayaUsdPlugin": False, **dict.fromkeys(PLUGIN_OF.values(), False)}
        self.export: Path | None = None
        self.rendering_space = "ACEScg"
        self.input_spaces = ["ACEScg", "Raw", "sRGB"]
        self.has_color_management = True
        self.stages: dict[str, Any] = {}
        self.exports: list[Any] = []
        self.evaluated: list[str] = []
        """The meshes whose geometry was evaluated, once for each time."""
        self.opened: list[str] = []
        """The textures that an export has opened."""
        self.unknown: list[str] = []
        """Attributes of a scene that the table of node types lacks."""
        self.has_old_usd = False
        self.lookdevx_writes: dict[str, str] = {}
        self.tool = SELECT_TOOL
        self.brush: dict[str, Any] = {}
        self.jobs: dict[int, tuple[str, Any]] = {}
        self.deferred: list[Any] = []
        self.callbacks: dict[int, tuple[str, Any]] = {}
        self.files: dict[str, Any] = {}
        self.is_modified = False
        self.refuses: set[str] = set()
        self.layouts: dict[str, list[dict[str, Any]]] = {"shelves": [], "Polygons": []}
        self.shelf = "Polygons"
        self.options: dict[str, Any] = {}
        self.parent = ""
        self.preferences = ""
        self.menus: dict[str, list[dict[str, Any]]] = {"MayaWindow": []}
        self.node_menus: list[Any] = []
        self.controls: dict[str, dict[str, Any]] = {}
        self.panels: Any = None
        self.missing_types: set[str] = set()
        """Types of nodes that this version of Maya does not have yet."""
        self.dialogs: list[str] = []
        self.answer = ""
        self.commands: dict[str, Any] = {}

    def state(self) -> Any:
        """The contents of the scene, without bookkeeping."""
        return copy.deepcopy((self.selection, self.nodes, self.connections, self.members))

    def change(self, name: str) -> None:
        """Called before each change."""
        if name in self.refuses:
            raise RuntimeError(f"{name} failed")
        self.report("change")
        if not self.has_undo:
            return
        self.redo_stack.clear()
        if self.chunk is None:
            self.undo_stack.append((name, self.state()))
        elif not self.chunk:
            self.chunk.append(self.state())

    def undo(self) -> None:
        if not self.undo_stack:
            raise RuntimeError("There are no more commands to undo.")
        self.report("change")
        name, state = self.undo_stack.pop()
        self.redo_stack.append((name, self.state()))
        self.selection, self.nodes, self.connections, self.members = state

    def choose_tool(self, name: str) -> None:
        """Maya reports the change when it is idle."""
        self.tool = name
        for event, action in self.jobs.values():
            if event == "ToolChanged":
                self.deferred.append(action)

    def idle(self) -> None:
        """Runs what waits until Maya is idle."""
        while self.deferred:
            self.deferred.pop(0)()

    def report(self, message: str) -> None:
        for kind, action in list(self.callbacks.values()):
            if kind == message:
                action(None)

    def allows(self, message: str) -> bool:
        """Whether all callbacks of a check return True. One that returns False stops Maya."""
        asked = [action(None) for kind, action in [*self.callbacks.values()] if kind == message]
        assert all(isinstance(each, bool) for each in asked)
        return all(asked)

    def faces_of(self, member: str) -> tuple[str, set[int]]:
        """The mesh of a member of a set, and its faces."""
        name, _, component = member.partition(".")
        mesh = self.find(name)
        if self.nodes[mesh]["type"] == "transform":
            mesh = next(node for node in self.nodes if node.startswith(f"{mesh}|"))
        count = len(self.nodes[mesh]["attributes"]["mesh"]["counts"])
        span = re.fullmatch(r"f\[(\d+)(?::(\d+))?\]", component)
        if not span:
            assert not component
            return mesh, set(range(count))
        return mesh, set(range(int(span[1]), int(span[2] or span[1]) + 1))

    def assign(self, members: tuple[str, ...], engine: str) -> None:
        """A face is in one shading group at most."""
        for member in members:
            mesh, faces = self.faces_of(member)
            for other in [*self.members, engine]:
                there: set[int] = set()
                kept = []
                for each in self.members.get(other, []):
                    name, some = self.faces_of(each)
                    if name == mesh:
                        there |= some
                    else:
                        kept.append(each)
                there = there | faces if other == engine else there - faces
                self.members[other] = kept + self._spans(mesh, there)

    def _spans(self, mesh: str, faces: set[int]) -> list[str]:
        count = len(self.nodes[mesh]["attributes"]["mesh"]["counts"])
        if len(faces) == count:
            return [mesh]
        # Maya names faces by their transform
        spans, transform = [], mesh.rpartition("|")[0]
        for face in sorted(faces):
            if face - 1 not in faces:
                last = next(f for f in range(face, count + 1) if f + 1 not in faces)
                spans.append(f"{transform}.f[{face}:{last}]")
        return spans

    def place(self, name: str) -> str:
        """The name of a new node, in the current namespace unless it has another."""
        # Maya takes these letters, and writes _ for any other
        name = re.sub(r"[^A-Za-z0-9_:|]", "_", name)
        inside = f"{self.namespace}:{name}" if self.namespace else name
        return name[1:] if name.startswith(":") else inside

    def add(self, name: str, kind: str, **attributes: Any) -> str:
        self.uuids[name] = str(uuid4()).upper()
        attributes = {**(MESH_SETTINGS if kind == "mesh" else {}), **attributes}
        self.nodes[name] = {"type": kind, "attributes": attributes, "locked": False}
        return name

    def move(self, path: str, to: str) -> None:
        """Moves a transform with what is below it and its assignments."""

        def moved(name: str) -> str:
            is_below = f"{name.partition('.')[0]}|".startswith(f"{path}|")
            return to + name.removeprefix(path) if is_below else name

        self.nodes = {moved(name): facts for name, facts in self.nodes.items()}
        self.uuids = {moved(name): uuid for name, uuid in self.uuids.items()}
        self.members = {each: list(map(moved, names)) for each, names in self.members.items()}

    def find(self, name: str) -> str:
        """The node of a name, a long name, or a name with a component."""
        plain = name.partition(".")[0].removeprefix(":")
        if plain in self.nodes:
            return plain
        found = [node for node in self.nodes if node.rpartition("|")[2] == plain]
        if len(found) != 1:
            raise RuntimeError(f"No object matches name: {name}")
        return found[0]

    def plug(self, name: str) -> str:
        """An attribute of a node, as Maya writes it."""
        return f"{self.find(name)}.{self.look_up(name).path}"

    def added(self, node: str) -> dict[str, Attribute]:
        """The attributes that addAttr has added to a node."""
        found: dict[str, Attribute] = self.nodes[node].get("added", {})
        return found

    def look_up(self, name: str) -> Plug:
        """The attribute of `node.attribute`."""
        node = self.find(name)
        return find_plug(self.nodes[node]["type"], name.partition(".")[2], self.added(node))

    def require_plug(self, name: str) -> Plug:
        """The attribute of `node.attribute`, which must exist."""
        found = self.look_up(name)
        attributes = self.require(name)["attributes"]
        if found.attribute is None and found.path not in attributes:
            raise ValueError(f"No object matches name: {name}")
        return found

    def value(self, name: str) -> Any:
        """The stored value of a plug, or its default."""
        attributes = self.require(name)["attributes"]
        sets = re.search(r"\.colorSet\[(\d+)\]\.colorSetName$", name)
        if sets and "mesh" in attributes:
            return [*attributes["mesh"]["colours"]][int(sets[1])]
        found = self.require_plug(name)
        own = found.attribute
        if found.path in attributes or own is None:
            return attributes[found.path]
        if own.parent and own.parent.kind in VECTORS:
            whole = attributes.get(found.above, own.parent.default)
            return whole[own.parent.children.index(own)]
        if own.kind in VECTORS:
            # a dynamic compound may have been set by its children
            return tuple(attributes.get(each.long, each.default) for each in own.children)
        return own.default

    def store(self, name: str, value: Any) -> None:
        """Sets a plug. A component changes its vector."""
        attributes, found = self.require(name)["attributes"], self.look_up(name)
        own = found.attribute
        if own is not None and own.parent and own.parent.kind in VECTORS:
            whole = list(attributes.get(found.above, own.parent.default))
            whole[own.parent.children.index(own)] = value
            attributes[found.above] = tuple(whole)
        else:
            attributes[found.path] = value

    def indices(self, name: str) -> list[int]:
        """The elements of an array that are set or connected."""
        path = self.look_up(name).path
        node = self.find(name)
        if path == "colorSet" and "mesh" in self.nodes[node]["attributes"]:
            return [*range(len(self.nodes[node]["attributes"]["mesh"]["colours"]))]
        begins = re.compile(rf"{re.escape(path)}\[(\d+)\]")
        paths = [*self.nodes[node]["attributes"]]
        for ends in self.connections.items():
            paths += [end.partition(".")[2] for end in ends if end.partition(".")[0] == node]
        return sorted({int(found[1]) for each in paths if (found := begins.match(each))})

    @staticmethod
    def file_rule(path: str) -> str:
        """The colour space that the file rules choose."""
        return "ACEScg" if path.endswith(".exr") else "sRGB"

    def kinds(self) -> set[str]:
        """The node types that Maya knows: those of the table, of plug-ins, and of the scene."""
        return {*node_types(), *(facts["type"] for facts in self.nodes.values())}

    def require(self, name: str) -> dict[str, Any]:
        return self.nodes[self.find(name)]

    def read(self, path: Path) -> None:
        """Opens a scene in Maya ASCII."""
        from .ascii import Reader

        kept = {name: getattr(self, name) for name in SESSION}
        self.__init__()  # type: ignore[misc]
        vars(self).update(kept, path=str(path))
        Reader(self).read(path)
