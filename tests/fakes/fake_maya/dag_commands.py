"""The commands of the fake Maya for nodes, assignments and layers."""

from __future__ import annotations

import copy
from typing import Any

from .node_types import node_types
from .scene import Scene
from .tables import PLUGIN_OF, plate


def teach_dag(scene: Scene, teach: Any) -> None:
    """Adds the commands."""

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
    def allNodeTypes() -> list[str]:
        absent = {kind for kind, plugin in PLUGIN_OF.items() if not scene.plugins.get(plugin)}
        return sorted({*node_types()} - scene.missing_types - absent)

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
        assert asShader + asTexture + asUtility == 1 and kind in allNodeTypes()
        assert scene.place(name) not in scene.nodes, "Maya would number it"
        if not skipSelect:
            scene.selection = [scene.place(name)]
        return scene.add(scene.place(name), kind)

    @teach
    def convertSolidTx(
        plug: str,
        surface: str,
        *,
        antiAlias: bool,
        fillTextureSeams: bool,
        resolutionX: int,
        resolutionY: int,
        fileFormat: str,
        fileImageName: str,
    ) -> list[str]:
        """Makes a file node, with the picture of a texture on a surface (Autodesk, Maya Help: MEL
        command convertSolidTx)."""
        scene.change("convertSolidTx")
        assert fileFormat in ("iff", "sgi", "pic", "als", "tif", "gif", "rla", "jpg")
        node = scene.find(plug)
        assert scene.require(surface)["type"] == "mesh"
        made = scene.place(f"{node.rpartition(':')[2]}_file")
        return [scene.add(made, "file", fileTextureName=fileImageName)]

    @teach
    def select(name: str, *, replace: bool) -> None:
        scene.change("select")
        scene.selection = [scene.find(name)]

    @teach
    def polyPlane(*, name: str, subdivisionsX: int, subdivisionsY: int) -> list[str]:
        scene.add(f"|{name}", "transform")
        scene.add(f"|{name}|{name}Shape", "mesh", mesh=plate())
        return [name, "polyPlane1"]
