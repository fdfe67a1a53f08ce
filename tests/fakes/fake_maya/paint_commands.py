"""The commands of the fake Maya for colour sets, uv sets and the brush."""

from __future__ import annotations

import re
from typing import Any

from .scene import Scene
from .tables import PAINT_TOOL


def teach_paint(scene: Scene, teach: Any) -> None:
    """Adds the commands."""

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
