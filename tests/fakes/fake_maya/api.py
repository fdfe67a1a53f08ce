"""Modules beside maya.cmds in the fake Maya: OpenMaya, ufe, maya-usd, and Arnold's command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .scene import Scene, StrictModule


def make_open_maya(scene: Scene) -> StrictModule:
    """maya.api.OpenMaya of a scene."""
    om = StrictModule("maya.api.OpenMaya")

    class MSpace:
        kWorld = 4

    class MGlobal:
        @staticmethod
        def isZAxisUp() -> bool:
            return scene.up_axis == "z"

    class MColor:
        def __init__(self, values: Any) -> None:
            self.values = tuple(float(value) for value in values)

        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> float:
            return self.values[index]

    class MDagPath:
        def __init__(self, name: str) -> None:
            self.name = name

        def instanceNumber(self) -> int:
            return 0

    class MSelectionList:
        def __init__(self) -> None:
            self._names: list[str] = []

        def add(self, name: str) -> MSelectionList:
            self._names.append(scene.find(name))
            return self

        def getDagPath(self, index: int) -> MDagPath:
            return MDagPath(self._names[index])

        def getDependNode(self, index: int) -> MObject:
            return MObject(self._names[index])

    class MObject:
        def __init__(self, name: str = "") -> None:
            self.node = name

    class MFnDependencyNode:
        def __init__(self, node: MObject) -> None:
            self._node = node

        def name(self) -> str:
            return self._node.node

    class MFnMesh:
        def __init__(self, path: MDagPath) -> None:
            node = scene.require(path.name)
            if node["type"] != "mesh":
                raise RuntimeError("(kInvalidParameter): Object is incompatible with this method")
            self._name = path.name
            scene.evaluated.append(path.name)
            self._data = node["attributes"]["mesh"]

        def getVertices(self) -> Any:
            return self._data["counts"], self._data["vertices"]

        def getTriangles(self) -> Any:
            counts, found, first = [], [], 0
            for size in self._data["counts"]:
                face = self._data["vertices"][first : first + size]
                counts.append(size - 2)
                for last in range(2, size):
                    found += [face[0], face[last - 1], face[last]]
                first += size
            return counts, found

        def getPoints(self, space: int) -> Any:
            assert space == MSpace.kWorld
            return [(*point, 1.0) for point in self._data["points"]]

        def getNormals(self, space: int) -> Any:
            assert space == MSpace.kWorld
            return self._data["normals"]

        def getNormalIds(self) -> Any:
            return self._data["counts"], self._data["normal_ids"]

        def currentUVSetName(self) -> str:
            return "map1"

        def getAssignedUVs(self, uv_set: str) -> Any:
            assert uv_set == "map1"
            return self._data["uv_counts"], self._data["uv_ids"]

        def getUVs(self, uv_set: str) -> Any:
            return [uv[0] for uv in self._data["uvs"]], [uv[1] for uv in self._data["uvs"]]

        def getColorSetNames(self) -> list[str]:
            return list(self._data["colours"])

        def createColorSet(self, name: str, clamped: bool) -> str:
            assert not clamped and name not in self._data["colours"]
            self._data["colours"][name] = {}
            return name

        def setCurrentColorSetName(self, name: str) -> None:
            assert name in self._data["colours"]
            self._data["current"] = name

        def setVertexColors(self, colours: list[MColor], vertices: list[int]) -> None:
            assert len(colours) == len(vertices)
            known = dict(zip(vertices, colours, strict=True))
            self._data["colours"][self._data["current"]] = {
                corner: known[vertex].values[:3]
                for corner, vertex in enumerate(self._data["vertices"])
                if vertex in known
            }

        def getFaceVertexColors(self, colour_set: str, default: MColor) -> Any:
            there = self._data["colours"][colour_set]
            return [
                (*there[corner], 1.0) if corner in there else default.values
                for corner in range(len(self._data["vertices"]))
            ]

        def getConnectedShaders(self, instance: int) -> Any:
            assert instance == 0
            engines, faces = [], [-1] * len(self._data["counts"])
            for engine, members in scene.members.items():
                for member in members:
                    name, some = scene.faces_of(member)
                    if name != self._name:
                        continue
                    engines.append(engine)
                    for face in some:
                        faces[face] = len(engines) - 1
            return [MObject(engine) for engine in engines], faces

    class MMessage:
        @staticmethod
        def removeCallback(number: int) -> None:
            del scene.callbacks[number]

    class MSceneMessage(MMessage):
        kBeforeSave, kAfterSave = "kBeforeSave", "kAfterSave"
        kBeforeExport, kAfterExport = "kBeforeExport", "kAfterExport"
        kAfterOpen, kAfterNew, kAfterImport = "kAfterOpen", "kAfterNew", "kAfterImport"
        kMayaExiting = "kMayaExiting"
        # MSceneMessage, Maya's API reference: "Called prior to File > New operation, allows user to
        # cancel action". Autodesk/maya-usd, MayaEventManager.cpp adds both as check callbacks
        kBeforeNewCheck, kBeforeOpenCheck = "kBeforeNewCheck", "kBeforeOpenCheck"

        @staticmethod
        def addCallback(kind: str, action: Any) -> int:
            assert not kind.endswith("Check")
            return MSceneMessage._add(kind, action)

        @staticmethod
        def addCheckCallback(kind: str, action: Any) -> int:
            assert kind.endswith("Check")
            return MSceneMessage._add(kind, action)

        @staticmethod
        def _add(kind: str, action: Any) -> int:
            number = max(scene.callbacks, default=0) + 1
            scene.callbacks[number] = (kind, action)
            return number

    # Each change of the scene reaches each of these, of whatever kind it is.
    class MDGMessage(MMessage):
        @staticmethod
        def addConnectionCallback(action: Any) -> int:
            return MSceneMessage.addCallback("change", action)

        @staticmethod
        def addNodeAddedCallback(action: Any, kind: str) -> int:
            return MSceneMessage.addCallback("change", action)

        @staticmethod
        def addNodeRemovedCallback(action: Any, kind: str) -> int:
            return MSceneMessage.addCallback("change", action)

    class MNodeMessage(MMessage):
        @staticmethod
        def addNameChangedCallback(node: MObject, action: Any) -> int:
            return MSceneMessage.addCallback("change", action)

        @staticmethod
        def addAttributeChangedCallback(node: MObject, action: Any) -> int:
            scene.find(node.node)
            return MSceneMessage.addCallback("change", action)

    om.MMessage, om.MSceneMessage = MMessage, MSceneMessage  # type: ignore[attr-defined]
    om.MDGMessage, om.MNodeMessage = MDGMessage, MNodeMessage  # type: ignore[attr-defined]

    class MPxCommand:
        pass

    class MFnPlugin:
        def __init__(self, plugin: Any, vendor: str = "", version: str = "") -> None:
            self.vendor, self.version = vendor, version

        def registerCommand(self, name: str, make: Any) -> None:
            scene.commands[name] = make

        def deregisterCommand(self, name: str) -> None:
            scene.commands.pop(name)

    om.MPxCommand, om.MFnPlugin = MPxCommand, MFnPlugin  # type: ignore[attr-defined]
    om.MColorArray, om.MIntArray = list, list  # type: ignore[attr-defined]
    kinds = (MSpace, MGlobal, MColor, MDagPath, MSelectionList, MFnDependencyNode, MFnMesh, MObject)
    for known in kinds:
        setattr(om, known.__name__, known)
    return om


def make_ufe(scene: Scene) -> StrictModule:
    """ufe, with the operations that LookdevX adds to its documents."""
    ufe = StrictModule("ufe")

    class PathString:
        @staticmethod
        def path(text: str) -> str:
            return text

    class Hierarchy:
        @staticmethod
        def createItem(path: str) -> str | None:
            return path if path.rpartition("%")[2] in scene.lookdevx_writes else None

    class ContextOps:
        def __init__(self, item: str) -> None:
            self._item = item

        @staticmethod
        def contextOps(item: str) -> ContextOps:
            return ContextOps(item)

        def doOp(self, operation: list[str]) -> None:
            assert operation[0] == "MxExportDocument"
            text = scene.lookdevx_writes[self._item.rpartition("%")[2]]
            if text:
                Path(operation[1]).write_text(text)

    for known in (PathString, Hierarchy, ContextOps):
        setattr(ufe, known.__name__, known)
    return ufe


def make_maya_usd(scene: Scene) -> tuple[StrictModule, StrictModule]:
    """mayaUsd and mayaUsd.lib, with the stages of the scene."""
    package, lib = StrictModule("mayaUsd"), StrictModule("mayaUsd.lib")

    def GetPrim(shape: str) -> Any:
        from pxr import Usd

        facts = scene.require(shape)
        assert facts["type"] == "mayaUsdProxyShape"
        stage, file = scene.stages.get(shape), facts["attributes"].get("filePath")
        if stage is None and file and (Path(scene.path).parent / file).is_file():
            stage = scene.stages[shape] = Usd.Stage.Open(str(Path(scene.path).parent / file))
        return stage.GetPseudoRoot() if stage else Usd.Prim()

    lib.GetPrim = GetPrim  # type: ignore[attr-defined]
    package.lib = lib  # type: ignore[attr-defined]
    return package, lib
