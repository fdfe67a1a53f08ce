"""A fake Houdini that refuses unknown names.

Its classes have the methods and arguments that the adapter may use; tests/plugins/test_audit.py
holds them to the published stubs. Stages are real ones of usd-core.

What it counts and refuses follows the reference of hou: `SopNode.geometry` and `CopNode.geometry`
cook a node that has not cooked, and so does `LopNode.stage` (`ignore_errors` speaks of the state
"after cooking"); `OpNode.needsToCook` does not cook; `hipFile.hasUnsavedChanges` is true after any
change, and `undos.disabler` only keeps changes off the undo stack; a method of a destroyed node
raises `ObjectWasDeleted`. `Scene.fails` lets any call raise anything.
"""

from __future__ import annotations

import copy
import json
import posixpath
import re
import sys
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from fake_houdini_scene import (
    Error,
    Nodes,
    ObjectWasDeleted,
    OperationFailed,
    PermissionError,
    Scene,
    expanded,
)
from fake_houdini_ui import make_ui
from fake_houdini_values import (
    INDIRECT,
    LICENSES,
    SUFFIX_OF_LICENSE,
    Attrib,
    ButtonParmTemplate,
    Enum,
    Geometry,
    Matrix,
    ParmTemplateGroup,
    Point,
    Prim,
    SopVerb,
    StringParmTemplate,
    SubnetIndirectInput,
    ToggleParmTemplate,
    Vertex,
    ViewportVisualizer,
    ViewportVisualizerType,
)
from fake_houdini_values import plate as plate
from fake_maya import StrictModule, forget
from houdini_nodes import PARMS, SECTIONS
from pxr import Usd


def make_hou(scene: Scene) -> StrictModule:
    """The module hou of a scene."""
    hou = StrictModule("hou")

    class Parm:
        def __init__(self, path: str, name: str) -> None:
            self._path, self._name = path, name

        def set(self, value: Any) -> None:
            scene.change("set")
            scene.nodes[self._path]["parms"][self._name] = value
            scene.touch(self._path)

        def rawValue(self) -> str:
            return str(scene.nodes[self._path]["parms"][self._name])

        def evalAsString(self) -> str:
            return expanded(self.rawValue(), str(Path(scene.path or "/home").parent))

        def isAtDefault(self) -> bool:
            return scene.nodes[self._path]["parms"][self._name] == ""

        def name(self) -> str:
            return self._name

        def pressButton(self) -> None:
            if scene.nodes[self._path]["type"] == "rop_image":
                # an artist's COP may fail without an exception
                cop = wrap(scene.nodes[self._path]["parms"]["coppath"])
                assert wrap(self._path).parm("colorconversion").rawValue() == "raw"
                if not cop._facts.get("fails"):
                    file = Path(wrap(self._path).parm("copoutput").evalAsString())
                    file.write_text(cop.path())
                return
            definition = scene.definitions[scene.nodes[self._path]["type"]]
            module: dict[str, Any] = {}
            exec(definition["sections"]["PythonModule"], module)
            phm = SimpleNamespace(phm=lambda: SimpleNamespace(**module))
            names = {"hou": phm, "kwargs": {"node": wrap(self._path)}}
            try:
                exec(definition["callbacks"][self._name], names)
            except Exception as failure:
                raise OperationFailed(str(failure)) from failure

        def path(self) -> str:
            return f"{self._path}/{self._name}"

        def evalAsInt(self) -> int:
            return int(scene.nodes[self._path]["parms"][self._name] or 0)

    class Type:
        def __init__(self, name: str, context: str) -> None:
            self._name, self._context = name, context

        def name(self) -> str:
            return self._name

        def category(self) -> Any:
            return SimpleNamespace(name=lambda: self._context.title())

        def definition(self) -> Any:
            return HDADefinition(self._name) if self._name in scene.definitions else None

    class HDADefinition:
        def __init__(self, name: str) -> None:
            self._facts = scene.definitions[name]

        def version(self) -> str:
            return str(self._facts["version"])

        def libraryFilePath(self) -> str:
            return str(self._facts["file"])

        def addSection(self, name: str, contents: str = "") -> None:
            assert name in SECTIONS
            self._facts["sections"][name] = contents

        def setExtraFileOption(self, name: str, value: Any) -> None:
            self._facts["options"][name] = value

        def setIcon(self, icon: str) -> None:
            self._facts["icon"] = icon

        def setParmTemplateGroup(self, group: Any) -> None:
            found = [each.facts for each in group.templates]
            self._facts["templates"] = found
            self._facts["parms"] = {each["name"]: each["default"] for each in found}
            self._facts["callbacks"] = {
                each["name"]: each["callback"] for each in found if each["callback"]
            }

        def save(self, file_name: str, create_backup: bool = True) -> None:
            assert not create_backup
            saved_as(file_name).write_text(json.dumps(self._facts))

    def saved_as(file_name: str) -> Path:
        """The file that Houdini writes. Its suffix ends with that of the license."""
        if file_name.endswith(".hda"):
            file_name += SUFFIX_OF_LICENSE.get(scene.license, "nc")
        return Path(file_name)

    class Hda(StrictModule):
        def installFile(self, file_path: str, change_oplibraries_file: bool = True) -> None:
            assert not change_oplibraries_file
            try:
                facts = json.loads(Path(file_path).read_text())
            except (OSError, ValueError) as failure:
                raise OperationFailed(f"{file_path} is no library") from failure
            if scene.license == "Commercial" and not file_path.endswith(".hda"):
                raise OperationFailed(f"{file_path} was made with another license")
            scene.definitions[facts["type"]] = facts
            facts["file"] = file_path
            scene.loaded_files.append(file_path)

        def uninstallFile(self, file_path: str, change_oplibraries_file: bool = True) -> None:
            assert not change_oplibraries_file
            scene.loaded_files.remove(file_path)
            name = json.loads(Path(file_path).read_text())["type"]
            del scene.definitions[name]

        def loadedFiles(self) -> tuple[str, ...]:
            return tuple(scene.loaded_files)

    class Connection:
        def __init__(self, target: str) -> None:
            self._target = target

        def outputNode(self) -> Any:
            return wrap(self._target)

        def inputIndex(self) -> int:
            return 0

    class Node:
        def __init__(self, path: str) -> None:
            self._path = path
            self._number = scene.nodes[path]["number"]

        @property
        def _facts(self) -> dict[str, Any]:
            found = scene.nodes.get(self._path)
            if found is None or found["number"] != self._number:
                raise ObjectWasDeleted(f"{self._path} was deleted")
            return found

        def path(self) -> str:
            assert self._facts
            return self._path

        def name(self) -> str:
            return self.path().rpartition("/")[2]

        def comment(self) -> str:
            return str(self._facts["comment"])

        def setComment(self, comment: str) -> None:
            scene.change("setComment")
            self._facts["comment"] = comment

        def hide(self, on: bool) -> None:
            scene.change("hide")
            self._facts["hidden"] = on

        def isHidden(self) -> bool:
            return bool(self._facts["hidden"])

        def sessionId(self) -> int:
            return 1000 * scene.loaded + int(self._facts["number"])

        def type(self) -> Type:
            return Type(self._facts["type"], scene.kind_of(self._path))

        def parent(self) -> Any:
            return wrap(self._path.rpartition("/")[0])

        def node(self, path: str) -> Any:
            return wrap(posixpath.normpath(posixpath.join(self._path, path)))

        def inputAncestors(self, include_ref_inputs: bool = True) -> tuple[Any, ...]:
            found: dict[str, None] = {}
            open_paths = [self._path]
            while open_paths:
                facts = scene.nodes[open_paths.pop()]
                read = (facts["input"], *(facts["refs"] if include_ref_inputs else ()))
                for path in read:
                    if path in scene.nodes and path not in found:
                        found[path] = None
                        open_paths.append(path)
            return tuple(map(wrap, found))

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Node) and other._path == self._path

        def __hash__(self) -> int:
            return hash(self._path)

        def children(self) -> tuple[Any, ...]:
            assert self._facts
            return tuple(map(wrap, scene.nodes.children(self._path)))

        def isGenericFlagSet(self, flag: str) -> bool:
            return bool(self._facts.get(flag.lower()))

        def setGenericFlag(self, flag: str, value: bool) -> None:
            self._facts[flag.lower()] = value

        def createNode(self, kind: str, name: str) -> Any:
            scene.change("createNode")
            if kind not in PARMS and kind not in scene.definitions:
                raise OperationFailed(f"Invalid node type name: {kind}")
            if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
                raise OperationFailed(f"Invalid node name: {name}")
            path, number = f"{self._path}/{name}", 1
            while path in scene.nodes:
                path, number = f"{self._path}/{name}{number}", number + 1
            made = wrap(scene.add(path, kind))
            scene.touch(path)
            return made

        def destroy(self) -> None:
            scene.change("destroy")
            for path in [each for each in scene.nodes if f"{each}/".startswith(f"{self._path}/")]:
                del scene.nodes[path]

        def setInput(self, index: int, node: Any) -> None:
            scene.change("setInput")
            assert index == 0
            self._facts["input"] = node.path()
            scene.touch(self._path)

        def setNamedInput(self, input_name: str, item: Any, output_name: str) -> None:
            scene.change("setNamedInput")
            assert output_name == "out"
            self._facts.setdefault("named", {})[input_name] = item.path()

        def inputs(self) -> tuple[Any, ...]:
            return tuple(wrap(path) for path in (self._facts["input"],) if path)

        def indirectInputs(self) -> tuple[Any, ...]:
            assert self._facts["type"] == "subnet"
            return (SubnetIndirectInput(),)

        def layoutChildren(self) -> None:
            scene.change("layoutChildren")

        def userData(self, name: str) -> str | None:
            return self._facts["data"].get(name)

        def setUserData(self, name: str, value: str) -> None:
            scene.change("setUserData")
            self._facts["data"][name] = value

        def moveToGoodPosition(self) -> None:
            scene.change("moveToGoodPosition")

        def setCurrent(self, on: bool, clear_all_selected: bool = False) -> None:
            assert on and clear_all_selected
            scene.change("setCurrent")
            scene.current = self._path

    class OpNode(Node):
        def needsToCook(self) -> bool:
            assert self._facts
            return self._path in scene.stale

        def cookCount(self) -> int:
            assert self._facts
            return scene.cooks[self._path]

        def createDigitalAsset(
            self,
            name: str = "",
            hda_file_name: str = "",
            description: str = "",
            min_num_inputs: int = 0,
            max_num_inputs: int = 0,
            version: str = "",
            ignore_external_references: bool = False,
            create_backup: bool = True,
        ) -> Any:
            assert self._facts["type"] == "subnet"
            if "createDigitalAsset" in scene.refuses:
                raise OperationFailed("the disk is full")
            inner = {
                path.removeprefix(self._path): copy.deepcopy(facts)
                for path, facts in scene.nodes.items()
                if path.startswith(f"{self._path}/")
            }
            for facts in inner.values():
                facts["input"] = facts["input"].removeprefix(self._path)
            scene.definitions[name] = {
                "type": name,
                "label": description,
                "context": scene.kind_of(self._path),
                "inputs": (min_num_inputs, max_num_inputs),
                "version": version,
                "sections": {},
                "options": {},
                "parms": {},
                "contents": inner,
            }
            file = saved_as(hda_file_name)
            scene.definitions[name]["file"] = file.as_posix()
            file.write_text(json.dumps(scene.definitions[name]))
            scene.loaded_files.append(file.as_posix())
            self._facts["type"] = name
            return wrap(self._path)

        def outputConnections(self) -> tuple[Connection, ...]:
            return tuple(
                Connection(path)
                for path, facts in scene.nodes.items()
                if facts["input"] == self._path
            )

        def parms(self) -> tuple[Parm, ...]:
            return tuple(Parm(self._path, name) for name in self._facts["parms"])

        def isInsideLockedHDA(self) -> bool:
            return bool(self._facts["locked"])

        def parm(self, parm_path: str) -> Parm | None:
            path = posixpath.normpath(posixpath.join(self._path, parm_path))
            owner, _, name = path.rpartition("/")
            return Parm(owner, name) if name in scene.nodes[owner]["parms"] else None

    class LopNetwork(OpNode):
        def displayNode(self) -> Any:
            found = [each for each in self.children() if scene.nodes[each.path()]["display"]]
            return found[0] if found else None

    class LopNode(OpNode):
        def setDisplayFlag(self, on: bool) -> None:
            scene.change("setDisplayFlag")
            for path, facts in scene.nodes.items():
                if path.rpartition("/")[0] == self._path.rpartition("/")[0]:
                    facts["display"] = False
            self._facts["display"] = on

        def stage(self) -> Any:
            assert self._facts
            if scene.update_mode == "Manual" and self._path in scene.stale:
                # staff of SideFX in its forum: in Manual mode, the stage is not composed again
                return Usd.Stage.CreateInMemory()
            scene.cook(self._path)
            chosen = self._facts["parms"].get("matnode1")
            if self._facts["type"] == "materiallibrary" and chosen and chosen != "*":
                parms = self._facts["parms"]
                text = scene.stages[parms["matnode1"]]
                assert (parms["materials"], parms["matpathprefix"]) == (1, "/materials/")
            elif self._facts["type"] == "pythonscript":
                return self._cooked()
            elif self._facts["type"] in scene.definitions:
                return wrap(f"{self._path}/output0").inputs()[0].stage()
            elif self._path not in scene.stages and self._facts["input"]:
                return wrap(self._facts["input"]).stage()
            else:
                text = scene.stages[self._path]
            if text == "broken":
                raise OperationFailed("Error: cook failed")
            return opened(text)

        def isDisplayFlagSet(self) -> bool:
            return bool(self._facts["display"])

        def _cooked(self) -> Any:
            source = self._facts["input"]
            if source == INDIRECT:
                source = scene.nodes[self._path.rpartition("/")[0]]["input"]
            stage = wrap(source).stage()
            self._editing = stage
            hou.pwd = lambda: self
            exec(self._facts["parms"]["python"], {})
            return stage

        def editableStage(self) -> Any:
            return self._editing

    class ObjNode(OpNode):
        def displayNode(self) -> Any:
            found = [each for each in self.children() if scene.nodes[each.path()]["display"]]
            return found[0] if found else None

        def isObjectDisplayed(self) -> bool:
            return bool(self._facts.get("shown", True))

        def worldTransform(self) -> Any:
            return Matrix(self._facts.get("transform"))

    class SopNode(OpNode):
        def setDisplayFlag(self, on: bool) -> None:
            scene.change("setDisplayFlag")
            for path, facts in scene.nodes.items():
                if path.rpartition("/")[0] == self._path.rpartition("/")[0]:
                    facts["display"] = False
            self._facts["display"] = on

        def setRenderFlag(self, on: bool) -> None:
            scene.change("setRenderFlag")

        def isDisplayFlagSet(self) -> bool:
            return bool(self._facts["display"])

        def geometry(self) -> Any:
            assert self._facts
            scene.cook(self._path)
            node = self
            ones = {}
            while node._facts["input"]:
                if node._facts["type"] == "attribcreate":
                    ones[node._facts["parms"]["name1"]] = node._facts["parms"]["value1v1"]
                node = wrap(node._facts["input"])
            data = scene.geometries[node.path()]
            for name, value in ones.items():
                data["points"].setdefault(name, np.full((len(data["points"]["P"]), 1), value))
            return Geometry(data)

    class VopNode(OpNode):
        def usdShaderParms(self) -> tuple[str, ...]:
            """Shader parameters that are active and not at their defaults."""
            return tuple(name for name, value in self._facts["parms"].items() if value != "")

        def usdPreviewShaderParms(self) -> tuple[str, ...]:
            return tuple(self._facts.get("preview", ()))

    class CopNode(OpNode):
        pass

    class Cop2Node(OpNode):
        def saveImage(self, file_name: str) -> None:
            Path(file_name).write_text(self.path())

    class TopNode(OpNode):
        def setDisplayFlag(self, on: bool) -> None:
            scene.change("setDisplayFlag")
            self._facts["display"] = on

    class ViewportVisualizers(StrictModule):
        def type(self, name: str) -> Any:
            return ViewportVisualizerType(name) if name == "vis_color" else None

        def visualizers(self, category: str = "Common", node: Any = None) -> tuple[Any, ...]:
            assert category == "Node"
            return tuple(ViewportVisualizer(each) for each in node._facts["visualizers"])

        def createVisualizer(self, kind: Any, category: str = "Common", node: Any = None) -> Any:
            assert (kind.name(), category) == ("vis_color", "Node")
            scene.change("createVisualizer")
            node._facts["visualizers"].append({"name": "visualizer", "active": False})
            return ViewportVisualizer(node._facts["visualizers"][-1])

    def opened(path: str) -> Any:
        stage = Usd.Stage.Open(path)
        # a stage of its own each time, as a cook gives
        copied = Usd.Stage.CreateInMemory()
        copied.GetRootLayer().subLayerPaths.append(stage.GetRootLayer().identifier)
        return copied

    def wrap(path: str) -> Any:
        if path not in scene.nodes:
            return None
        if path == "/stage":
            return LopNetwork(path)
        kinds = {"obj": ObjNode, "sop": SopNode, "lop": LopNode, "vop": VopNode, "top": TopNode}
        kinds |= {"cop": CopNode, "cop2": Cop2Node}
        # a network inside of another context is a plain operator
        is_network = scene.nodes[path]["type"] in ("matnet", "lopnet", "copnet", "cop2net")
        return OpNode(path) if is_network else kinds.get(scene.kind_of(path), OpNode)(path)

    class OpNodeType:
        def __init__(self, category: str, name: str) -> None:
            self._category, self._name = category, name

        def name(self) -> str:
            return self._name

        def definition(self) -> Any:
            return HDADefinition(self._name) if self._name in scene.definitions else None

        def instances(self) -> tuple[Any, ...]:
            return tuple(
                wrap(path)
                for path, facts in scene.nodes.items()
                if facts["type"] == self._name and scene.kind_of(path) == self._category
            )

    class OpNodeTypeCategory:
        def __init__(self, category: str) -> None:
            self._category = category

        def nodeType(self, name: str) -> Any:
            known = {
                "matnet": ("obj", "sop", "lop", "vop", "top"),
                "lopnet": ("obj", "sop", "lop", "top"),
                "geo": ("obj",),
                "material": ("sop",),
                "materiallibrary": ("lop",),
                "editmaterial": ("lop",),
                **{each: (facts["context"],) for each, facts in scene.definitions.items()},
            }
            return (
                OpNodeType(self._category, name) if self._category in known.get(name, ()) else None
            )

        def nodeVerb(self, name: str) -> Any:
            # SideFX, "Programmatic geometry with verbs": not every node has one
            return SopVerb() if (self._category, name) == ("sop", "attribpromote") else None

    class Text(StrictModule):
        def expandString(self, str: str) -> str:
            return expanded(str, Path(scene.path or "/home").parent.as_posix())

    class HipFile(StrictModule):
        def hasUnsavedChanges(self) -> bool:
            return scene.unsaved

        def isNewFile(self) -> bool:
            return not scene.path

        def path(self) -> str:
            return scene.path

        def load(
            self, file_name: str, suppress_save_prompt: bool, ignore_load_warnings: bool
        ) -> None:
            text = Path(file_name).read_text()
            if text == "broken":
                raise OperationFailed("not a hip file")
            if text.startswith("{"):
                scene.nodes = Nodes(json.loads(text))
            scene.path, scene.unsaved = file_name, False
            scene.loaded += 1
            self._report("Load")

        # the documentation of hou.hipFile and hou.hipFileEventType: callbacks get the event, and
        # cannot stop it
        def addEventCallback(self, callback: Any) -> None:
            scene.file_callbacks.append(callback)

        def removeEventCallback(self, callback: Any) -> None:
            scene.file_callbacks.remove(callback)

        def eventCallbacks(self) -> tuple[Any, ...]:
            return tuple(scene.file_callbacks)

        def _report(self, what: str) -> None:
            for callback in tuple(scene.file_callbacks):
                callback(getattr(hou.hipFileEventType, f"After{what}"))

        def save(self) -> None:
            if "save" in scene.refuses:
                raise OperationFailed("the disk is full")
            scene.saved.append(scene.state())
            scene.unsaved = False
            if scene.path:
                Path(scene.path).write_text(json.dumps(scene.nodes, default=list))
            self._report("Save")

        def clear(self, suppress_save_prompt: bool) -> None:
            scene.path, scene.unsaved = "", False
            scene.nodes = Nodes()
            scene.add_managers()
            self._report("Clear")

    class Undos(StrictModule):
        @contextmanager
        def group(self, label: str) -> Any:
            before = scene.state()
            scene.in_group = True
            try:
                yield
            finally:
                scene.in_group = False
                if scene.state() != before:
                    scene.undo_stack.append((label, before))

        @contextmanager
        def disabler(self) -> Any:
            scene.undos = False
            try:
                yield
            finally:
                scene.undos = True

        def areEnabled(self) -> bool:
            return scene.undos

        def undoLabels(self) -> tuple[str, ...]:
            return tuple(label for label, _ in reversed(scene.undo_stack))

        def performUndo(self) -> bool:
            scene.undo()
            return True

    def guarded(name: str, method: Any) -> Any:
        @wraps(method)
        def call(*given: Any, **named: Any) -> Any:
            if scene.fails and name in scene.fails:
                raise scene.fails[name]
            return method(*given, **named)

        return call

    def guard(name: str, kind: Any) -> None:
        for method, function in list(vars(kind).items()):
            if callable(function) and not method.startswith("_"):
                setattr(kind, method, guarded(f"{name}.{method}", function))

    def teach(**names: Any) -> None:
        for name, value in names.items():
            if isinstance(value, type) and value.__qualname__.startswith("make_"):
                guard(name, value)
            elif type(value).__qualname__.startswith("make_"):
                guard(name, type(value))
            setattr(hou, name, value)

    teach(
        **make_ui(scene, wrap),
        Node=Node,
        OpNode=OpNode,
        LopNetwork=LopNetwork,
        LopNode=LopNode,
        ObjNode=ObjNode,
        SopNode=SopNode,
        VopNode=VopNode,
        OpNodeType=OpNodeType,
        TopNode=TopNode,
        CopNode=CopNode,
        Cop2Node=Cop2Node,
        OpNodeTypeCategory=OpNodeTypeCategory,
        nodeTypeCategories=lambda: {
            name: OpNodeTypeCategory(name.lower())
            for name in ("Obj", "Sop", "Lop", "Vop", "Top", "Manager")
        },
        objNodeTypeCategory=lambda: OpNodeTypeCategory("obj"),
        sopNodeTypeCategory=lambda: OpNodeTypeCategory("sop"),
        SopVerb=SopVerb,
        lopNodeTypeCategory=lambda: OpNodeTypeCategory("lop"),
        Geometry=Geometry,
        Attrib=Attrib,
        Prim=Prim,
        Vertex=Vertex,
        Point=Point,
        Parm=Parm,
        OperationFailed=OperationFailed,
        PermissionError=PermissionError,
        ObjectWasDeleted=ObjectWasDeleted,
        Error=Error,
        text=Text("hou.text"),
        licenseCategory=lambda: scene.license,
        updateModeSetting=lambda: scene.update_mode,
        updateMode=Enum("AutoUpdate", "Manual"),
        licenseCategoryType=Enum(*LICENSES),
        hipFile=HipFile("hou.hipFile"),
        hipFileEventType=Enum("AfterClear", "AfterLoad", "AfterSave"),
        undos=Undos("hou.undos"),
        ViewportVisualizer=ViewportVisualizer,
        ViewportVisualizerType=ViewportVisualizerType,
        viewportVisualizers=ViewportVisualizers("hou.viewportVisualizers"),
        viewportVisualizerCategory=Enum("Node"),
        nodeFlag=Enum("Material", "DisplayComment"),
        attribData=Enum("Float", "String"),
        attribType=Enum("Point", "Prim"),
        primType=Enum("Polygon"),
        paneTabType=Enum("SceneViewer", "PythonPanel"),
        node=wrap,
        nodeBySessionId=lambda session_id: next(
            (wrap(path) for path in scene.nodes if wrap(path).sessionId() == session_id), None
        ),
        homeHoudiniDirectory=lambda: scene.home,
        hda=Hda("hou.hda"),
        HDADefinition=HDADefinition,
        ParmTemplateGroup=ParmTemplateGroup,
        StringParmTemplate=StringParmTemplate,
        ToggleParmTemplate=ToggleParmTemplate,
        ButtonParmTemplate=ButtonParmTemplate,
        SubnetIndirectInput=SubnetIndirectInput,
        scriptLanguage=Enum("Python"),
        stringParmType=Enum("FileReference"),
        fileType=Enum("Directory"),
        selectedNodes=lambda: tuple(wrap(path) for path in scene.selection),
        applicationVersionString=lambda: "21.0.512",
        isUIAvailable=lambda: scene.window,
    )
    return hou


def install(monkeypatch: Any, scene: Scene) -> StrictModule:
    """Installs this as the module hou."""
    hou = make_hou(scene)
    monkeypatch.setitem(sys.modules, "hou", hou)
    forget(monkeypatch, "verdigris.plugins.houdini")
    return hou
