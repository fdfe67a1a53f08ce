"""The scene of the fake Houdini: nodes, cooks, changes, and how parameters are read."""

from __future__ import annotations

import copy
import re
from collections import Counter
from typing import Any

from houdini_nodes import PARMS


class Nodes(dict):
    """Nodes by path, which knows the children of each."""

    _tree: dict[str, list[str]] | None = None

    def __setitem__(self, path: str, facts: Any) -> None:
        self._tree = None
        super().__setitem__(path, facts)

    def __delitem__(self, path: str) -> None:
        self._tree = None
        super().__delitem__(path)

    def pop(self, path: str) -> Any:
        self._tree = None
        return super().pop(path)

    def children(self, path: str) -> list[str]:
        if self._tree is None:
            self._tree = {}
            for each in self:
                self._tree.setdefault(each.rpartition("/")[0], []).append(each)
        return self._tree.get(path, [])


class Scene:
    """Nodes by path, and the undo stack."""

    def __init__(self) -> None:
        self.path = ""
        self.window = True
        self.count = 0
        # digital assets in files, and those of this session, by the name of their type
        self.definitions: dict[str, dict[str, Any]] = {}
        self.loaded_files: list[str] = []
        self.home = ""
        self.loop: list[Any] = []
        self.posted: list[Any] = []
        self.nodes: Nodes = Nodes()
        # nodes that must cook before they are read, and how often each node has cooked
        self.stale: set[str] = set()
        self.cooks: Counter[str] = Counter()
        self.unsaved = False
        self.license = "Commercial"
        self.update_mode = "AutoUpdate"
        # errors that calls raise, by names such as "Parm.set" or "Node.stage"
        self.fails: dict[str, Exception] = {}
        self.loaded = 0
        self.file_callbacks: list[Any] = []
        self.selection: list[str] = []
        self.undo_stack: list[tuple[str, Any]] = []
        self.in_group = False
        self.undos = True
        self.stages: dict[str, str] = {}
        self.refuses: set[str] = set()
        self.viewer_pwd = "/obj"
        self.current = ""
        # what the viewer does: "view", or the node whose state was entered
        self.viewer_states: list[str] = []
        self.saved: list[Any] = []
        self.dialogs: list[str] = []
        self.panels: list[Any] = []
        self.tabs: list[Any] = []
        self.interfaces = {"verdigris": "Verdigris"}
        self.geometries: dict[str, dict[str, Any]] = {}
        self.add_managers()

    def cook(self, path: str) -> None:
        """Cooks a node, after everything that it reads."""
        if path not in self.stale:
            return
        self.stale.discard(path)
        self.cooks[path] += 1
        facts = self.nodes[path]
        for each in (facts["input"], *facts["refs"]):
            if each in self.nodes:
                self.cook(each)

    def touch(self, path: str) -> None:
        """A node has changed: it must cook, and so must all nodes that read it."""
        if path in self.stale or self.kind_of(path) not in ("sop", "lop"):
            return
        self.stale.add(path)
        for each, facts in self.nodes.items():
            if facts["input"] == path or path in facts["refs"]:
                self.touch(each)

    def redraw(self) -> None:
        """The viewers cook what they display, once control returns to Houdini."""
        for path, facts in self.nodes.items():
            if facts["display"]:
                self.cook(path)
        self.cooks.clear()

    def add_managers(self) -> None:
        for name in ("stage", "mat", "obj"):
            self.add(f"/{name}", name)

    def add(self, path: str, kind: str, **facts: Any) -> str:
        asset = self.definitions.get(kind)
        self.count += 1
        self.nodes[path] = {
            "type": kind,
            "parms": dict(asset["parms"]) if asset else dict.fromkeys(PARMS[kind], ""),
            "data": {},
            "input": "",
            "refs": [],
            "comment": "",
            "hidden": False,
            "display": False,
            "material": False,
            "locked": False,
            "visualizers": [],
            "number": self.count,
            **facts,
        }
        if asset:
            for name, inner in copy.deepcopy(asset["contents"]).items():
                if inner["input"].startswith("/"):
                    inner["input"] = path + inner["input"]
                self.count += 1
                self.nodes[path + name] = {**inner, "locked": True, "number": self.count}
        elif kind == "subnet" and self.kind_of(path) == "lop":
            self.add(f"{path}/output0", "output")
        elif kind == "topnet":
            self.add(f"{path}/localscheduler", "localscheduler")
        return path

    def add_builder(self, path: str, context: str, surface: str) -> str:
        """A material builder: a subnet with the material flag, and several outputs."""
        self.add(path, "subnet", material=True)
        self.nodes[path]["parms"] = dict.fromkeys(PARMS["builder"], "")
        self.nodes[path]["parms"]["shader_rendercontextname"] = context
        self.add(f"{path}/surface", surface)
        for output in ("surface_output", "displacement_output"):
            self.add(f"{path}/{output}", "subnetconnector", input=f"{path}/surface")
        return path

    def kind_of(self, path: str) -> str:
        """The context of a node: obj, sop, lop, vop, top or manager."""
        parent = path.rpartition("/")[0]
        if not parent:
            return "manager"
        above, around = self.nodes[parent]["type"], self.kind_of(parent)
        if above in ("mat", "shop", "matnet", "materiallibrary", "editmaterial"):
            return "vop"
        if above in ("stage", "lopnet", "obj", "topnet"):
            return {"obj": "obj", "topnet": "top"}.get(above, "lop")
        if above in ("copnet", "cop2net"):
            return above.removesuffix("net")
        return "sop" if around == "obj" and above == "geo" else around

    def state(self) -> Any:
        return Nodes({path: copy.deepcopy(facts) for path, facts in self.nodes.items()})

    def change(self, name: str) -> None:
        if name in self.refuses:
            raise OperationFailed(f"{name} failed")
        self.unsaved = True
        if self.in_group or not self.undos:
            return
        self.undo_stack.append((name, self.state()))

    def undo(self) -> None:
        self.nodes = self.undo_stack.pop()[1]


class Error(Exception):
    pass


class OperationFailed(Error):
    pass


class PermissionError(Error):
    pass


class ObjectWasDeleted(Error):
    pass


def expanded(text: str, hip: str) -> str:
    """A text parameter as Houdini reads it.

    "Text inside double quotes has variables expanded", "a backslash escapes the next character",
    "text inside backticks is evaluated as an expression", and "string parameters are treated like
    an argument" (sidefx.com/docs/houdini9.5/expressions/_quoting). "If the variable is unknown, it
    will not do any expansion" (hou.hscriptExpression). Expressions are not run here, but reported.
    """
    known = {"HIP": hip, "HOME": "/home/artist", "JOB": "/job", "F": "1"}

    def read(found: re.Match[str]) -> str:
        escaped, name = found["escaped"], found["name"] or found["braced"]
        if found[0] == "`":
            raise AssertionError(f"Houdini would run an expression in {text!r}")
        return escaped if escaped is not None else known.get(name, found[0])

    signs = r"\\(?P<escaped>.)|\$(?P<name>\w+)|\$\{(?P<braced>\w+)\}|`"
    return re.sub(signs, read, text, flags=re.DOTALL)
