"""A fake Maya that refuses unknown names and flags.

Each command is a function with the flags that the adapter may use, so a name or flag that is not
here is an error, as it is in Maya. tests/plugins/test_audit.py holds names and flags to the
published stubs. Scenes are read from Maya ASCII as far as the fixtures go.
"""

from __future__ import annotations

import copy
import re
import shutil
import sys
import types
from pathlib import Path
from typing import Any
from uuid import uuid4

from fake_maya_ui import make_mel, teach_ui

LONG_NAMES = {
    "docs": "documents",
    "up": "ufePath",
    "oc": "outColor",
    "ss": "surfaceShader",
    "ihi": "isHistoricallyInteresting",
    "ro": "renderableOnlySet",
    "v": "visibility",
}
NODE_TYPES = (
    *("transform", "mesh", "shadingEngine", "standardSurface", "lambert", "file"),
    *("MaterialXSurfaceShader", "materialxStack", "bump2d", "mayaUsdProxyShape"),
    *("aiStandardSurface", "aiNormalMap", "aiImage", "aiNoise", "place2dTexture"),
)
# Attributes of shading nodes, as Maya's node reference lists them.
SETTINGS: dict[str, dict[str, Any]] = {
    "file": {
        "fileTextureName": "",
        "colorSpace": "sRGB",
        "ignoreColorSpaceFileRules": False,
        "uvTilingMode": 0,
        "computedFileTextureNamePattern": "",
        "alphaIsLuminance": False,
        "exposure": 0.0,
        "alphaGain": 1.0,
        "alphaOffset": 0.0,
        "invert": False,
        "colorGain": (1.0, 1.0, 1.0),
        "colorOffset": (0.0, 0.0, 0.0),
    },
    "place2dTexture": {
        "repeatU": 1.0,
        "repeatV": 1.0,
        "offsetU": 0.0,
        "offsetV": 0.0,
        "rotateUV": 0.0,
        "coverageU": 1.0,
        "coverageV": 1.0,
        "translateFrameU": 0.0,
        "translateFrameV": 0.0,
        "rotateFrame": 0.0,
        "mirrorU": False,
        "mirrorV": False,
        "stagger": False,
        "noiseU": 0.0,
        "noiseV": 0.0,
    },
    "aiNormalMap": {"strength": 1.0, "invertX": False, "invertY": False, "invertZ": False},
    "aiImage": {
        "filename": "",
        "colorSpace": "sRGB",
        "sscale": 1.0,
        "tscale": 1.0,
        "soffset": 0.0,
        "toffset": 0.0,
    },
    "aiStandardSurface": {
        "base": 1.0,
        "baseColor": (0.8, 0.8, 0.8),
        "diffuseRoughness": 0.0,
        "metalness": 0.0,
        "specular": 1.0,
        "specularColor": (1.0, 1.0, 1.0),
        "specularRoughness": 0.2,
        "specularIOR": 1.5,
        "specularAnisotropy": 0.0,
        "specularRotation": 0.0,
        "transmission": 0.0,
        "transmissionColor": (1.0, 1.0, 1.0),
        "transmissionDepth": 0.0,
        "transmissionScatter": (0.0, 0.0, 0.0),
        "transmissionScatterAnisotropy": 0.0,
        "transmissionDispersion": 0.0,
        "transmissionExtraRoughness": 0.0,
        "subsurface": 0.0,
        "subsurfaceColor": (1.0, 1.0, 1.0),
        "subsurfaceRadius": (1.0, 1.0, 1.0),
        "subsurfaceScale": 1.0,
        "subsurfaceAnisotropy": 0.0,
        "sheen": 0.0,
        "sheenColor": (1.0, 1.0, 1.0),
        "sheenRoughness": 0.3,
        "coat": 0.0,
        "coatColor": (1.0, 1.0, 1.0),
        "coatRoughness": 0.1,
        "coatIOR": 1.5,
        "coatAnisotropy": 0.0,
        "coatRotation": 0.0,
        "coatAffectColor": 0.0,
        "coatAffectRoughness": 0.0,
        "thinFilmThickness": 0.0,
        "thinFilmIOR": 1.5,
        "emission": 0.0,
        "emissionColor": (1.0, 1.0, 1.0),
        "opacity": (1.0, 1.0, 1.0),
        "thinWalled": False,
        "normalCamera": (0.0, 0.0, 0.0),
        "coatNormal": (0.0, 0.0, 0.0),
    },
    "bump2d": {"bumpInterp": 0},
    "standardSurface": {"emission": 0.0, "opacity": (1.0, 1.0, 1.0)},
}
MESH_SETTINGS = {"displayColors": False, "displayColorChannel": "Ambient+Diffuse"}
PAINT_TOOL, SELECT_TOOL = "artAttrColorPerVertexContext", "selectSuperContext"
OUTPUTS = {
    "lambert": ("outColor",),
    "standardSurface": ("outColor",),
    "file": ("outColor", "outColorR", "outAlpha"),
    "bump2d": ("outNormal",),
}
INPUTS = {
    "standardSurface": (
        *("baseColor", "specularRoughness", "metalness", "normalCamera"),
        *("emissionColor", "opacity"),
    ),
    "bump2d": ("bumpValue",),
    "shadingEngine": ("surfaceShader",),
}
# What Maya keeps when it opens another scene.
SESSION = (
    *("project", "plugins", "batch", "export", "refuses", "tool", "brush", "jobs", "deferred"),
    *("callbacks", "files", "layouts", "controls", "dialogs", "answer", "commands"),
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
        self.chunk: list[Any] | None = None
        self.plugins = {"mayaUsdPlugin": False}
        self.export: Path | None = None
        self.rendering_space = "ACEScg"
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
        self.shelf_folder = ""
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
        if self.chunk is None:
            self.undo_stack.append((name, self.state()))
        elif not self.chunk:
            self.chunk.append(self.state())

    def undo(self) -> None:
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


def make_cmds(scene: Scene) -> StrictModule:
    """maya.cmds of a scene."""
    cmds = StrictModule("maya.cmds")

    def teach(function: Any) -> Any:
        setattr(cmds, function.__name__, function)
        return function

    @teach
    def about(*, version: bool = False, batch: bool = False) -> Any:
        return "2026" if version else scene.batch

    @teach
    def file(
        *names: str,
        query: bool = False,
        sceneName: bool = False,
        open: bool = False,
        newFile: bool = False,
        force: bool = False,
        reference: bool = False,
        save: bool = False,
        modified: bool | None = None,
    ) -> Any:
        if query and sceneName:
            return scene.path
        if save:
            if "save" in scene.refuses:
                raise RuntimeError("the disk is full")
            scene.report("kBeforeSave")
            scene.saved.append(scene.state())
            scene.files[scene.path] = copy.deepcopy((*scene.state(), scene.uuids))
            scene.is_modified = False
            scene.report("kAfterSave")
            return scene.path
        if modified is not None:
            assert not query
            scene.is_modified = modified
            return None
        if query and reference:
            return list(scene.references)
        if newFile and force:
            scene.path = ""
            for part in (scene.nodes, scene.uuids, scene.connections, scene.members):
                part.clear()
            scene.report("kAfterNew")
            return ""
        assert open and force
        if "open" in scene.refuses:
            raise RuntimeError("Cannot read the file")
        if names[0] in scene.files:
            # a scene that this fake has saved
            state = copy.deepcopy(scene.files[names[0]])
            scene.path = names[0]
            scene.selection, scene.nodes, scene.connections, scene.members, scene.uuids = state
        else:
            scene.read(Path(names[0]))
        scene.report("kAfterOpen")
        if "all of it" in scene.refuses:
            raise RuntimeError("Errors have occurred while reading this scene.\n")
        return names[0]

    @teach
    def referenceQuery(name: str, *, isLoaded: bool) -> bool:
        assert isLoaded
        return scene.references[name]

    @teach
    def workspace(*, query: bool, rootDirectory: bool) -> str:
        return scene.project

    @teach
    def ls(
        *names: Any,
        type: str = "",
        long: bool = False,
        selection: bool = False,
        dagObjects: bool = False,
        objectsOnly: bool = False,
        noIntermediate: bool = False,
        uuid: bool = False,
        nodeTypes: bool = False,
        allPaths: bool = False,
        ufeObjects: bool = False,
    ) -> list[str]:
        if nodeTypes:
            return list(NODE_TYPES)
        if type and type not in NODE_TYPES:
            raise RuntimeError(f"Unknown object type: {type}")
        flat = [n for each in names for n in (each if isinstance(each, list) else [each])]
        by_uuid = {uuid: node for node, uuid in scene.uuids.items() if node in scene.nodes}
        if flat and all(re.fullmatch(r"[0-9A-F-]{36}", str(each)) for each in flat):
            return [by_uuid[each] for each in flat if each in by_uuid]
        if flat and str(flat[0]).startswith(":*."):
            # names of the root that have an attribute
            wanted = flat[0].removeprefix(":*.")
            assert objectsOnly and flat == [f":*.{wanted}"]
            return [
                node
                for node, facts in scene.nodes.items()
                if wanted in facts["attributes"] and ":" not in node
            ]
        found = flat or (scene.selection if selection else list(scene.nodes))
        if dagObjects or type or not ufeObjects:
            # Maya lists items of other runtimes only on request, and they have no Maya type
            found = [name for name in found if "," not in name]
        if uuid:
            return [scene.uuids[scene.find(name)] for name in found]
        if objectsOnly:
            found = [
                scene.faces_of(name)[0] if ".f[" in name else scene.find(name) for name in found
            ]
        if dagObjects:
            found = [
                node
                for name in found
                for node in scene.nodes
                if node == name or node.startswith(f"{name}|")
            ]
        if type:
            found = [name for name in found if scene.require(name)["type"] == type]
        if noIntermediate:
            hidden = "intermediateObject"
            found = [each for each in found if not scene.require(each)["attributes"].get(hidden)]
        return list(dict.fromkeys(found))

    @teach
    def objExists(name: str) -> bool:
        try:
            scene.find(name)
        except RuntimeError:
            return False
        return True

    @teach
    def nodeType(name: str) -> str:
        return str(scene.require(name)["type"])

    @teach
    def attributeQuery(attribute: str, *, node: str, exists: bool) -> bool:
        return attribute in scene.require(node)["attributes"]

    @teach
    def getAttr(plug: str) -> Any:
        node, _, attribute = plug.partition(".")
        attributes = scene.require(node)["attributes"]
        if attribute not in attributes:
            raise ValueError(f"No object matches name: {plug}")
        value = attributes[attribute]
        # Maya returns a colour as a list of one tuple
        return [value] if isinstance(value, tuple) else value

    @teach
    def setAttr(plug: str, *values: Any, type: str = "") -> None:
        scene.change("setAttr")
        node, _, attribute = plug.partition(".")
        found = scene.require(node)
        if attribute not in found["attributes"]:
            raise RuntimeError(f"No object matches name: {plug}")
        if scene.plug(plug) in scene.connections:
            raise RuntimeError(f"setAttr: {plug} is locked or connected and cannot be modified")
        expected = {str: "string", tuple: "double3"}
        value = values if len(values) > 1 else values[0]
        if expected.get(value.__class__, "") != type:
            raise RuntimeError(f"setAttr: {plug} is of another type")
        found["attributes"][attribute] = value
        if attribute == "fileTextureName" and not found["attributes"]["ignoreColorSpaceFileRules"]:
            # Maya's first rule, for every file
            found["attributes"]["colorSpace"] = "sRGB"

    @teach
    def addAttr(node: str, *, longName: str, dataType: str) -> None:
        scene.change("addAttr")
        assert dataType == "string"
        scene.require(node)["attributes"][longName] = ""

    @teach
    def lockNode(node: str, *, query: bool, lock: bool) -> list[bool]:
        return [bool(scene.require(node)["locked"])]

    @teach
    def listConnections(
        name: str,
        *,
        type: str = "",
        source: bool = True,
        destination: bool = True,
        plugs: bool = False,
    ) -> list[str] | None:
        found = []
        if "." in name:
            assert not destination
            if plugs:
                return [scene.connections[name]] if name in scene.connections else None
            if name in scene.connections:
                found = [scene.connections[name].partition(".")[0]]
        else:
            node = scene.find(name)
            found = [
                target.partition(".")[0]
                for target, origin in scene.connections.items()
                if destination and origin.partition(".")[0] == node
            ]
            found += [
                engine
                for engine, members in scene.members.items()
                if any(
                    scene.faces_of(member)[0] == node
                    for member in members
                    if scene.nodes[node]["type"] == "mesh"
                )
            ]
        if type:
            found = [each for each in found if scene.require(each)["type"] == type]
        return found or None

    @teach
    def connectAttr(source: str, target: str) -> None:
        scene.change("connectAttr")
        for plug, ends in ((source, OUTPUTS), (target, INPUTS)):
            kind = scene.require(plug)["type"]
            if kind in ends and plug.rpartition(".")[2] not in ends[kind]:
                raise RuntimeError(f"The attribute '{plug}' cannot be found")
        scene.connections[scene.plug(target)] = scene.plug(source)

    @teach
    def delete(*names: str) -> None:
        scene.change("delete")
        for name in names:
            gone = scene.find(name)
            del scene.nodes[gone]
            scene.members.pop(gone, None)
            for target, source in list(scene.connections.items()):
                if gone in (target.partition(".")[0], source.partition(".")[0]):
                    del scene.connections[target]

    @teach
    def sets(
        *names: str,
        query: bool = False,
        renderable: bool = False,
        noSurfaceShader: bool = False,
        empty: bool = False,
        name: str = "",
        edit: bool = False,
        forceElement: str = "",
        remove: str = "",
    ) -> Any:
        if edit:
            scene.change("sets")
            assert bool(forceElement) != bool(remove)
            if forceElement:
                assert scene.require(forceElement)["type"] == "shadingEngine"
                scene.assign(names, scene.find(forceElement))
            else:
                scene.members[scene.find(remove)] = [
                    each for each in scene.members[scene.find(remove)] if each not in names
                ]
            return None
        if query:
            return list(scene.members.get(scene.find(names[0]), [])) or None
        scene.change("sets")
        return scene.add(scene.place(name), "shadingEngine", surfaceShader=None)

    @teach
    def shadingNode(
        kind: str,
        *,
        asShader: bool = False,
        asTexture: bool = False,
        asUtility: bool = False,
        skipSelect: bool = False,
        name: str = "",
    ) -> str:
        scene.change("shadingNode")
        assert asShader + asTexture + asUtility == 1 and kind in NODE_TYPES
        assert scene.place(name) not in scene.nodes, "Maya would number it"
        if not skipSelect:
            scene.selection = [scene.place(name)]
        return scene.add(scene.place(name), kind, **SETTINGS.get(kind, {}))

    @teach
    def select(name: str, *, replace: bool) -> None:
        scene.change("select")
        scene.selection = [scene.find(name)]

    @teach
    def polyColorSet(
        mesh: str,
        *,
        create: bool = False,
        currentColorSet: bool = False,
        colorSet: str = "",
        clamped: bool = True,
        representation: str = "RGBA",
    ) -> None:
        scene.change("polyColorSet")
        data = scene.require(mesh)["attributes"]["mesh"]
        if create:
            assert colorSet not in data["colours"] and not clamped
            data["colours"][colorSet] = {}
        elif currentColorSet:
            assert colorSet in data["colours"]
            data["current"] = colorSet

    @teach
    def polyColorPerVertex(mesh: str, *, colorRGB: Any, colorDisplayOption: bool) -> None:
        scene.change("polyColorPerVertex")
        attributes = scene.require(mesh)["attributes"]
        data = attributes["mesh"]
        attributes["displayColors"] = colorDisplayOption
        colours = data["colours"][data["current"]]
        colours.update({corner: tuple(colorRGB) for corner in range(len(data["vertices"]))})

    @teach
    def PaintVertexColorTool() -> None:
        scene.choose_tool(PAINT_TOOL)

    @teach
    def currentCtx() -> str:
        return scene.tool

    @teach
    def setToolTo(name: str) -> None:
        scene.choose_tool(name)

    @teach
    def artAttrPaintVertexCtx(
        context: str,
        *,
        edit: bool,
        colorRGBValue: Any,
        paintRGBA: bool,
        selectedattroper: str,
        opacity: float,
    ) -> None:
        assert edit and context == scene.tool == PAINT_TOOL and not paintRGBA
        assert selectedattroper in ("absolute", "additive", "scale", "smooth")
        color = tuple(min(max(float(value), 0.0), 1.0) for value in colorRGBValue)
        scene.brush = {"color": color, "operation": selectedattroper, "opacity": opacity}

    @teach
    def scriptJob(
        *,
        event: Any = None,
        protected: bool = False,
        kill: int = 0,
        force: bool = False,
        exists: int = 0,
    ) -> Any:
        if exists:
            return exists in scene.jobs
        if kill:
            assert force, "a protected job ends by force only"
            del scene.jobs[kill]
            return None
        assert event[0] in ("ToolChanged", "quitApplication") and protected
        number = max(scene.jobs, default=0) + 1
        scene.jobs[number] = (event[0], event[1])
        return number

    @teach
    def evalDeferred(action: Any, *, lowestPriority: bool = False) -> None:
        scene.deferred.append(action)

    @teach
    def warning(text: str) -> None:
        scene.dialogs.append(text)

    @teach
    def undoInfo(
        *,
        openChunk: bool = False,
        closeChunk: bool = False,
        chunkName: str = "",
        query: bool = False,
        undoName: bool = False,
    ) -> Any:
        if openChunk:
            assert scene.chunk is None
            scene.chunk = []
            scene.chunk_name = chunkName  # type: ignore[attr-defined]
        elif closeChunk:
            if scene.chunk:
                scene.undo_stack.append((scene.chunk_name, scene.chunk[0]))  # type: ignore[attr-defined]
            scene.chunk = None
        elif query and undoName:
            return scene.undo_stack[-1][0] if scene.undo_stack else ""
        return None

    @teach
    def undo() -> None:
        scene.undo()

    @teach
    def pluginInfo(name: str, *, query: bool, loaded: bool) -> bool:
        return scene.plugins.get(name, False)

    @teach
    def loadPlugin(name: str, *, quiet: bool) -> None:
        if name not in scene.plugins:
            raise RuntimeError(f"Plug-in, {name!r}, was not found on MAYA_PLUG_IN_PATH.")
        scene.plugins[name] = True

    @teach
    def mayaUSDExport(
        *,
        file: str,
        shadingMode: str,
        convertMaterialsTo: list[str],
        mergeTransformAndShape: bool,
        exportRoots: tuple[str, ...] | list[str] = (),
        exportAssignedMaterials: bool = True,
        excludeExportTypes: tuple[str, ...] | list[str] = (),
    ) -> None:
        assert scene.plugins["mayaUsdPlugin"]
        if scene.has_old_usd and not exportAssignedMaterials:
            raise TypeError("Invalid flag 'exportAssignedMaterials'")
        assert set(excludeExportTypes) <= {"Meshes", "Cameras", "Lights"}
        scene.exports.append((list(exportRoots), exportAssignedMaterials))
        assert shadingMode == "useRegistry" and convertMaterialsTo == ["MaterialX"]
        for root in exportRoots:
            assert scene.require(root)["type"] == "transform"
        if scene.export is None:
            raise RuntimeError("Maya command error")
        shutil.copyfile(scene.export, file)

    @teach
    def colorManagementPrefs(
        *, query: bool, cmEnabled: bool = False, renderingSpaceName: bool = False
    ) -> Any:
        assert query and cmEnabled != renderingSpaceName
        return scene.has_color_management if cmEnabled else scene.rendering_space

    @teach
    def polyPlane(*, name: str, subdivisionsX: int, subdivisionsY: int) -> list[str]:
        scene.add(f"|{name}", "transform")
        scene.add(f"|{name}|{name}Shape", "mesh", mesh=plate())
        return [name, "polyPlane1"]

    teach_ui(scene, teach)
    return cmds


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

    class MObject:
        def __init__(self, name: str) -> None:
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
        kAfterOpen, kAfterNew = "kAfterOpen", "kAfterNew"

        @staticmethod
        def addCallback(kind: str, action: Any) -> int:
            number = max(scene.callbacks, default=0) + 1
            scene.callbacks[number] = (kind, action)
            return number

    om.MMessage, om.MSceneMessage = MMessage, MSceneMessage  # type: ignore[attr-defined]

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


def load_arnold(cmds: StrictModule, text: str) -> list[Any]:
    """Adds the command of Arnold's plug-in, which writes this text. Returns its calls."""
    called: list[Any] = []

    def arnoldExportToMaterialX(mesh: str, *, filename: str, look: str, relative: bool) -> None:
        called.append((mesh, look, relative))
        if text:
            Path(filename).write_text(text)

    cmds.arnoldExportToMaterialX = arnoldExportToMaterialX  # type: ignore[attr-defined]
    return called


def make_maya_usd(scene: Scene) -> tuple[StrictModule, StrictModule]:
    """mayaUsd and mayaUsd.lib, with the stages of the scene."""
    package, lib = StrictModule("mayaUsd"), StrictModule("mayaUsd.lib")

    def GetPrim(shape: str) -> Any:
        from pxr import Usd

        assert scene.require(shape)["type"] == "mayaUsdProxyShape"
        stage = scene.stages.get(shape)
        return stage.GetPseudoRoot() if stage else Usd.Prim()

    lib.GetPrim = GetPrim  # type: ignore[attr-defined]
    package.lib = lib  # type: ignore[attr-defined]
    return package, lib


def install(monkeypatch: Any, scene: Scene) -> None:
    """Installs this as the module maya."""
    maya, api = StrictModule("maya"), StrictModule("maya.api")
    cmds, om = make_cmds(scene), make_open_maya(scene)
    maya.cmds, maya.api, api.OpenMaya = cmds, api, om  # type: ignore[attr-defined]
    mel, standalone = make_mel(scene, StrictModule("maya.mel")), StrictModule("maya.standalone")
    standalone.initialize = lambda *, name: setattr(scene, "batch", True)  # type: ignore[attr-defined]
    standalone.uninitialize = lambda: setattr(scene, "batch", False)  # type: ignore[attr-defined]
    maya.mel, maya.standalone = mel, standalone  # type: ignore[attr-defined]
    ui = StrictModule("maya.OpenMayaUI")
    maya.OpenMayaUI = ui  # type: ignore[attr-defined]
    node_menus = StrictModule("maya.app.general.nodeEditorMenus")
    node_menus.customInclusiveNodeItemMenuCallbacks = scene.node_menus  # type: ignore[attr-defined]
    app, general = StrictModule("maya.app"), StrictModule("maya.app.general")
    maya.app, app.general, general.nodeEditorMenus = app, general, node_menus  # type: ignore[attr-defined]
    maya_usd, lib = make_maya_usd(scene)
    modules = {
        "maya.app": app,
        "maya.app.general": general,
        "maya.app.general.nodeEditorMenus": node_menus,
        "maya": maya,
        "maya.mel": mel,
        "maya.standalone": standalone,
        "maya.OpenMayaUI": ui,
        "maya.cmds": cmds,
        "maya.api": api,
        "maya.api.OpenMaya": om,
        "ufe": make_ufe(scene),
        "mayaUsd": maya_usd,
        "mayaUsd.lib": lib,
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    forget(monkeypatch, "verdigris.plugins.maya")


def forget(monkeypatch: Any, package: str) -> None:
    """Removes the modules of a package, which keep a reference to the first host."""
    for name in [each for each in sys.modules if each.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
        parent, _, child = name.rpartition(".")
        if parent in sys.modules and child in vars(sys.modules[parent]):
            delattr(sys.modules[parent], child)


def plate(colours: dict[str, Any] | None = None) -> dict[str, Any]:
    """A quad and a triangle that share an edge, in the plane of z = 0."""
    return {
        "points": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0)],
        "counts": [4, 3],
        "vertices": [0, 1, 2, 3, 1, 4, 2],
        "normals": [(0, 0, 1)],
        "normal_ids": [0] * 7,
        "uvs": [(0, 0), (0.5, 0), (0.5, 1), (0, 1), (1, 0)],
        "uv_counts": [4, 3],
        "uv_ids": [0, 1, 2, 3, 1, 4, 2],
        "colours": colours or {},
        "current": "",
    }
