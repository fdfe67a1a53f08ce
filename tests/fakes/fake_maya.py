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
from pathlib import Path
from typing import Any

from fake_maya_api import make_maya_usd, make_open_maya, make_ufe
from fake_maya_scene import Scene, StrictModule
from fake_maya_tables import INPUTS, NODE_TYPES, OUTPUTS, PAINT_TOOL, SETTINGS, plate
from fake_maya_ui import make_mel, teach_ui

__all__ = [
    "Scene",
    "forget",
    "install",
    "make_cmds",
    "make_maya_usd",
    "make_open_maya",
    "make_ufe",
    "plate",
]


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
        if name.endswith(".drawOverride"):
            return [
                each
                for each, facts in scene.nodes.items()
                if facts["type"] == type == "displayLayer"
                and scene.find(name) in facts["attributes"]["members"]
            ] or None
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
            for below in [each for each in scene.nodes if each.startswith(f"{gone}|")]:
                del scene.nodes[below]
            del scene.nodes[gone]
            for engine, members in scene.members.items():
                scene.members[engine] = [
                    each
                    for each in members
                    if not f"{each.partition('.')[0]}|".startswith(f"{gone}|")
                ]
            scene.members.pop(gone, None)
            for target, source in list(scene.connections.items()):
                if gone in (target.partition(".")[0], source.partition(".")[0]):
                    del scene.connections[target]

    @teach
    def duplicate(source: str, *, name: str, returnRootsOnly: bool) -> list[str]:
        """Copies a transform with all that is below it, and its assignments."""
        scene.change("duplicate")
        source = scene.find(source)
        assert scene.nodes[source]["type"] == "transform" and returnRootsOnly
        root = f"{source.rpartition('|')[0]}|{scene.place(name)}"
        assert root not in scene.nodes, "Maya would number it"
        for node in [each for each in scene.nodes if f"{each}|".startswith(f"{source}|")]:
            copied = root + node.removeprefix(source)
            facts = copy.deepcopy(scene.nodes[node])
            scene.add(copied, facts["type"], **facts["attributes"])
        for members in scene.members.values():
            for each in list(members):
                if f"{each.partition('.')[0]}|".startswith(f"{source}|"):
                    members.append(root + each.removeprefix(source))
        return [root.removeprefix("|")]

    @teach
    def listRelatives(name: str, *, children: bool, type: str, fullPath: bool) -> list[str] | None:
        assert children and fullPath
        path = scene.find(name)
        found = [
            node
            for node, facts in scene.nodes.items()
            if node.rpartition("|")[0] == path and facts["type"] == type
        ]
        return found or None

    @teach
    def parent(*names: str, world: bool = False) -> None:
        """Moves transforms below the last name, or to the top."""
        scene.change("parent")
        moved, above = (names, "") if world else (names[:-1], scene.find(names[-1]))
        for name in moved:
            path = scene.find(name)
            to = f"{above}|{path.rpartition('|')[2]}"
            assert scene.nodes[path]["type"] == "transform" and to not in scene.nodes
            scene.move(path, to)

    @teach
    def createDisplayLayer(*, name: str, empty: bool, noRecurse: bool) -> str:
        scene.change("createDisplayLayer")
        assert empty and noRecurse and scene.place(name) not in scene.nodes
        return scene.add(scene.place(name), "displayLayer", visibility=True, members=[])

    @teach
    def editDisplayLayerMembers(layer: str, *nodes: str, noRecurse: bool) -> None:
        scene.change("editDisplayLayerMembers")
        assert noRecurse
        # a node is in one layer
        for facts in scene.nodes.values():
            if facts["type"] == "displayLayer":
                kept = [each for each in facts["attributes"]["members"] if each not in nodes]
                facts["attributes"]["members"] = kept
        scene.require(layer)["attributes"]["members"] += [scene.find(each) for each in nodes]

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
    def polyOptions(mesh: str, *, colorShadedDisplay: bool, colorMaterialChannel: str) -> None:
        scene.change("polyOptions")
        channels = {"none": "None", "ambientDiffuse": "Ambient+Diffuse"}
        attributes = scene.require(mesh)["attributes"]
        attributes["displayColors"] = colorShadedDisplay
        attributes["displayColorChannel"] = channels[colorMaterialChannel]

    @teach
    def polyUVSet(
        mesh: str, *, query: bool, allUVSets: bool = False, allUVSetsIndices: bool = False
    ) -> list[Any]:
        assert query and allUVSets != allUVSetsIndices
        sets = scene.require(mesh)["attributes"]["mesh"]["uv_sets"]
        return list(sets.values() if allUVSetsIndices else sets)

    @teach
    def uvLink(*, make: bool, uvSet: str, texture: str) -> None:
        """Puts a chooser before the placement of a texture, as Maya's UV Linking does."""
        scene.change("uvLink")
        mesh, place = re.fullmatch(r"(.*)\.uvSet\[(\d+)\]\.uvSetName", uvSet).groups()
        assert make and scene.require(texture)["type"] == "file"
        assert int(place) in scene.require(mesh)["attributes"]["mesh"]["uv_sets"].values()
        placement = scene.connections[f"{scene.find(texture)}.uvCoord"].partition(".")[0]
        chooser = scene.connections.get(f"{placement}.uvCoord", "").partition(".")[0]
        if not chooser:
            number = 1
            while f"uvChooser{number}" in scene.nodes:
                number += 1
            chooser = scene.add(f"uvChooser{number}", "uvChooser")
            scene.connections[f"{placement}.uvCoord"] = f"{chooser}.outUv"
        count = sum(target.startswith(f"{chooser}.uvSets") for target in scene.connections)
        scene.connections[f"{chooser}.uvSets[{count}]"] = scene.plug(uvSet)

    @teach
    def PaintVertexColorTool() -> None:
        if "brush" in scene.refuses:
            raise RuntimeError("no tool")
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
        state: bool | None = None,
        stateWithoutFlush: bool | None = None,
    ) -> Any:
        if state is not None:
            assert query, "Maya would flush the steps of the artist"
            return scene.has_undo
        if stateWithoutFlush is not None:
            scene.has_undo = stateWithoutFlush
            return None
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
        *,
        query: bool,
        cmEnabled: bool = False,
        renderingSpaceName: bool = False,
        inputSpaceNames: bool = False,
    ) -> Any:
        assert query and cmEnabled + renderingSpaceName + inputSpaceNames == 1
        if inputSpaceNames:
            return list(scene.input_spaces)
        return scene.has_color_management if cmEnabled else scene.rendering_space

    @teach
    def colorManagementFileRules(*, evaluate: str) -> str:
        return "ACEScg" if evaluate.endswith(".exr") else "sRGB"

    @teach
    def polyPlane(*, name: str, subdivisionsX: int, subdivisionsY: int) -> list[str]:
        scene.add(f"|{name}", "transform")
        scene.add(f"|{name}|{name}Shape", "mesh", mesh=plate())
        return [name, "polyPlane1"]

    teach_ui(scene, teach)
    return cmds


def install(monkeypatch: Any, scene: Scene) -> None:
    """Installs this as the module maya."""
    maya, api = StrictModule("maya"), StrictModule("maya.api")
    cmds, om = make_cmds(scene), make_open_maya(scene)
    maya.cmds, maya.api, api.OpenMaya = cmds, api, om  # type: ignore[attr-defined]
    mel, standalone = make_mel(scene, StrictModule("maya.mel")), StrictModule("maya.standalone")
    # without a window, Maya starts without undo
    standalone.initialize = lambda *, name: vars(scene).update(batch=True, has_undo=False)  # type: ignore[attr-defined]
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
