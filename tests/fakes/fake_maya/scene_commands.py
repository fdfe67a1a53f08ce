"""The commands of the fake Maya for files, names and the session."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

from .scene import Scene
from .tables import LOOSE_TYPES


def teach_scene(scene: Scene, teach: Any) -> None:
    """Adds the commands."""

    @teach
    def about(
        *,
        version: bool = False,
        batch: bool = False,
        product: bool = False,
        cutIdentifier: bool = False,
    ) -> Any:
        assert version + batch + product + cutIdentifier == 1
        if product:
            return "Maya 2026"
        if cutIdentifier:
            return "202502272012-000000"
        return "2026" if version else scene.batch

    @teach
    def help(name: str) -> str:
        """The flags of maya-usd's export that its commands/Readme.md lists in each version."""
        assert name == "mayaUSDExport" and scene.plugins["mayaUsdPlugin"]
        flags = ["convertMaterialsTo", *([] if scene.has_old_usd else ["exportAssignedMaterials"])]
        lines = [f"   -{each[:3]} -{each}" for each in flags]
        return "\n".join([f"Synopsis: {name} [flags] [String...]", "Flags:", *lines])

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
        if query and modified:
            return scene.is_modified
        if modified is not None:
            assert not query
            scene.is_modified = modified
            return None
        if query and reference:
            return list(scene.references)
        if newFile and force:
            if not scene.allows("kBeforeNewCheck"):
                return ""
            scene.path = ""
            for part in (scene.nodes, scene.uuids, scene.connections, scene.members):
                part.clear()
            scene.report("kAfterNew")
            return ""
        assert open and force
        if not scene.allows("kBeforeOpenCheck"):
            return ""
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
            return sorted({*LOOSE_TYPES, *scene.kinds()})
        if type and type not in {*LOOSE_TYPES, *scene.kinds()}:
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
    def lockNode(node: str, *, query: bool, lock: bool) -> list[bool]:
        return [bool(scene.require(node)["locked"])]

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
        redoName: bool = False,
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
        elif query and redoName:
            return scene.redo_stack[-1][0] if scene.redo_stack else ""
        elif query and undoName:
            return scene.undo_stack[-1][0] if scene.undo_stack else ""
        return None

    @teach
    def undo() -> None:
        scene.undo()

    @teach
    def currentTime(*, query: bool) -> float:
        return scene.time

    @teach
    def pluginInfo(name: str, *, query: bool, loaded: bool = False, version: bool = False) -> Any:
        assert query and loaded + version == 1
        if version:
            if name not in scene.plugins:
                raise RuntimeError(f"Plug-in, {name!r}, is not registered.")
            return "0.31.0"
        return scene.plugins.get(name, False)

    @teach
    def loadPlugin(name: str, *, quiet: bool) -> None:
        if name not in scene.plugins:
            raise RuntimeError(f"Plug-in, {name!r}, was not found on MAYA_PLUG_IN_PATH.")
        scene.plugins[name] = True

    @teach
    def colorManagementPrefs(
        *,
        query: bool,
        cmEnabled: bool = False,
        renderingSpaceName: bool = False,
        inputSpaceNames: bool = False,
        configFilePath: bool = False,
    ) -> Any:
        assert query and cmEnabled + renderingSpaceName + inputSpaceNames + configFilePath == 1
        if configFilePath:
            return "<MAYA_RESOURCES>/OCIO-configs/Maya2022-default/config.ocio"
        if inputSpaceNames:
            return list(scene.input_spaces)
        return scene.has_color_management if cmEnabled else scene.rendering_space

    @teach
    def colorManagementFileRules(*, evaluate: str) -> str:
        return scene.file_rule(evaluate)
