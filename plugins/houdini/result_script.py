"""The script of the LOP that writes results to USD materials."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from verdigris.core.base.errors import HostError
from verdigris.core.base.json_fields import find_json
from verdigris.plugins.houdini.nodes.bake_lop import BUNDLES, TEXTURE_FILES

RESULT_NODE = "verdigris_result"
USD_ATTRIBUTE = "verdigris:bundle"

_SCRIPT = """# Made by Verdigris: notes results on their materials.
import json

import hou
from pxr import Sdf, UsdShade

RESULTS = {results}
TEXTURES = {textures}
INPUTS = {{"base_color": "diffuseColor", "roughness": "roughness",
          "metalness": "metallic", "normal": "normal",
          "emission": "emissiveColor", "opacity": "opacity"}}
COLOURS = ("base_color", "emission")
TYPES = Sdf.ValueTypeNames
KINDS = {{**dict.fromkeys(COLOURS, ("rgb", TYPES.Float3, TYPES.Color3f)),
         "normal": ("rgb", TYPES.Float3, TYPES.Normal3f)}}
NUMBER = ("r", TYPES.Float, TYPES.Float)


def asset(path):
    # relative to the scene or the project, which may have moved
    variable, _, rest = path.partition("/")
    if variable in ("\\u0024HIP", "\\u0024JOB"):
        path = hou.text.expandString(variable) + "/" + rest
    return Sdf.AssetPath(path)


def show_textures(stage, path, textures):
    # for renderers without MaterialX, such as viewports
    material, top = UsdShade.Material(stage.GetPrimAtPath(path)), path + "/verdigris_viewport"
    before, name, _ = material.ComputeSurfaceSource()
    identifier = str(before.GetShaderId() or "") if before else ""
    contexts = {{each.GetFullName() for each in material.GetSurfaceOutputs()}}
    if identifier.startswith("Usd") and contexts == {{"outputs:surface"}}:
        # the material itself is what viewports show
        return
    if identifier.startswith("ND_") and "outputs:mtlx:surface" not in contexts:
        # renderers with MaterialX keep their surface
        material.CreateSurfaceOutput("mtlx").ConnectToSource(before.ConnectableAPI(), name)
    surface = UsdShade.Shader.Define(stage, top)
    surface.CreateIdAttr("UsdPreviewSurface")
    reader = UsdShade.Shader.Define(stage, top + "/uv")
    reader.CreateIdAttr("UsdPrimvarReader_float2")
    reader.CreateInput("varname", TYPES.String).Set("st")
    for kind, file in textures.items():
        if kind not in INPUTS:
            continue
        texture = UsdShade.Shader.Define(stage, top + "/" + kind)
        texture.CreateIdAttr("UsdUVTexture")
        texture.CreateInput("file", TYPES.Asset).Set(asset(file))
        texture.CreateInput("sourceColorSpace", TYPES.Token).Set(
            "sRGB" if kind in COLOURS else "raw"
        )
        for wrap in ("wrapS", "wrapT"):
            texture.CreateInput(wrap, TYPES.Token).Set("repeat")
        texture.CreateInput("st", TYPES.Float2).ConnectToSource(
            reader.CreateOutput("result", TYPES.Float2)
        )
        if kind == "normal":
            for field, values in (("scale", (2, 2, 2, 1)), ("bias", (-1, -1, -1, 0))):
                texture.CreateInput(field, TYPES.Float4).Set(values)
        name, read, taken = KINDS.get(kind, NUMBER)
        surface.CreateInput(INPUTS[kind], taken).ConnectToSource(texture.CreateOutput(name, read))
    if "opacity" in textures:
        # without this, holes would reflect like clear glass
        surface.CreateInput("opacityMode", TYPES.Token).Set("presence")
    material.CreateSurfaceOutput().ConnectToSource(
        surface.CreateOutput("surface", TYPES.Token)
    )


stage = hou.pwd().editableStage()
for path, bundle in RESULTS.items():
    prim = stage.GetPrimAtPath(path)
    if prim:
        attribute = prim.CreateAttribute("{attribute}", TYPES.Asset, True)
        attribute.Set(asset(bundle))
for path, textures in TEXTURES.items():
    if stage.GetPrimAtPath(path):
        show_textures(stage, path, textures)
"""


def result_script(results: Mapping[str, str], textures: Mapping[str, Mapping[str, str]]) -> str:
    """The script for bundles and plain textures, by material path."""
    return _SCRIPT.format(
        results=_literal(results), textures=_literal(textures), attribute=USD_ATTRIBUTE
    )


def asset_script() -> str:
    """The script inside the digital asset, which reads the parameters of the asset."""
    return _SCRIPT.format(
        # raw, because Houdini would expand names of files
        results=f'json.loads(hou.pwd().parm("../{BUNDLES}").rawValue() or "{{}}")',
        textures=f'json.loads(hou.pwd().parm("../{TEXTURE_FILES}").rawValue() or "{{}}")',
        attribute=USD_ATTRIBUTE,
    )


def read_results(data: str | None) -> dict[str, Any]:
    """Reads the results from the user data of a node."""
    found = find_json(data or "{}")
    if not isinstance(found, dict):
        raise HostError("the user data of Verdigris on this node is damaged: delete it")
    return found


def _literal(values: Mapping[str, Any]) -> str:
    """Values as Python, without characters that Houdini expands in parameters."""
    text = json.dumps(values, indent=4, sort_keys=True)
    return text.replace("$", r"\u0024").replace("`", r"\u0060")
