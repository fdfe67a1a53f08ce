"""The scene of the fake Maya: nodes, connections, assignments, the undo stack, files."""

from __future__ import annotations

import copy
import re
import types
from pathlib import Path
from typing import Any
from uuid import uuid4

from fake_maya_tables import LONG_NAMES, MESH_SETTINGS, SELECT_TOOL, SETTINGS

# What Maya keeps when it opens another scene.
SESSION = (
    *("project", "plugins", "batch", "has_undo", "export", "refuses", "tool", "brush", "jobs"),
    *("deferred", "callbacks", "files", "layouts", "controls", "dialogs", "answer", "commands"),
)
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
_ESCAPES = {"n": "\n", "t": "\t"}


def _unquoted(quoted: str, plain: str) -> str:
    return plain or re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), quoted)


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
        self.up_axis = "y"
        self.selection: list[str] = []
        self.namespace = ""
        self.nodes: dict[str, dict[str, Any]] = {}
        self.uuids: dict[str, str] = {}
        self.connections: dict[str, str] = {}
        self.members: dict[str, list[str]] = {}
        self.undo_stack: list[tuple[str, Any]] = []
        self.has_undo = True
        self.chunk: list[Any] | None = None
        self.plugins = {"mayaUsdPlugin": False}
        self.export: Path | None = None
        self.rendering_space = "ACEScg"
        self.input_spaces = ["ACEScg", "Raw", "sRGB"]
        self.has_color_management = True
        self.stages: dict[str, Any] = {}
        self.exports: list[Any] = []
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
        self.parent = ""
        self.preferences = ""
        self.menus: dict[str, list[dict[str, Any]]] = {"MayaWindow": []}
        self.node_menus: list[Any] = []
        self.controls: dict[str, dict[str, Any]] = {}
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
        if not self.has_undo:
            return
        if self.chunk is None:
            self.undo_stack.append((name, self.state()))
        elif not self.chunk:
            self.chunk.append(self.state())

    def undo(self) -> None:
        if not self.undo_stack:
            raise RuntimeError("There are no more commands to undo.")
        _, state = self.undo_stack.pop()
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
        settings = MESH_SETTINGS if kind == "mesh" else {}
        if kind.startswith("ai") or kind == "place2dTexture":
            settings = SETTINGS.get(kind, {})
        attributes = {**settings, **attributes}
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
        """An attribute of a node, by the name that the scene knows it by."""
        return f"{self.find(name)}.{name.partition('.')[2]}"

    def require(self, name: str) -> dict[str, Any]:
        return self.nodes[self.find(name)]

    def read(self, path: Path) -> None:
        """Opens a scene in Maya ASCII."""
        kept = {name: getattr(self, name) for name in SESSION}
        self.__init__()  # type: ignore[misc]
        vars(self).update(kept, path=str(path))
        current = ""
        for statement in re.split(r";\n", path.read_text()):
            lines = [line for line in statement.splitlines() if line[:2] != "//"]
            words = [_unquoted(*found) for found in _WORD.findall("\n".join(lines))]
            if not words:
                continue
            if words[0] == "createNode":
                name = next(words[i + 1] for i, w in enumerate(words) if w in ("-n", "-name"))
                parent = next(
                    (words[i + 1] for i, w in enumerate(words) if w in ("-p", "-parent")), ""
                )
                if words[1] in ("transform", "mesh", "materialxStack"):
                    name = f"|{parent}|{name}" if parent else f"|{name}"
                current = self.add(name, words[1])
            elif words[0] == "rename":
                self.uuids[current] = words[-1]
            elif words[0] == "setAttr" and "-type" in words:
                attribute = next(w for w in words if w.startswith(".")).lstrip(".")
                self.nodes[current]["attributes"][LONG_NAMES.get(attribute, attribute)] = words[-1]
            elif words[0] == "connectAttr":
                ends = [part.partition(".") for part in words[1:3]]
                source, target = (f"{n}.{LONG_NAMES.get(a, a)}" for n, _, a in ends)
                self.connections[target] = source
