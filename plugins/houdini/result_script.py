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

_SCRIPT = """# Made by Verdigris: notes results on their materials, with the variants "source" and
# "baked" of what they look like. Scenes with it need no Verdigris.
import json

import hou
from pxr import Sdf, UsdShade

RESULTS = {results}
TEXTURES = {textures}
COLOURS, NORMAL, OPACITY = ("base_color", "emission"), "normal", "opacity"
# by kind of texture: the input of a preview surface, and of a Standard Surface
INPUTS = {{
    "base_color": ("diffuseColor", "base_color"), "roughness": ("roughness", "specular_roughness"),
    "metalness": ("metallic", "metalness"), "normal": ("normal", "normal"),
    "emission": ("emissiveColor", "emission_color"), "opacity": ("opacity", "opacity"),
}}
TYPES = Sdf.ValueTypeNames
KINDS = {{**dict.fromkeys(COLOURS, ("rgb", TYPES.Float3, TYPES.Color3f)),
         "normal": ("rgb", TYPES.Float3, TYPES.Normal3f)}}
NUMBER = ("r", TYPES.Float, TYPES.Float)
PREVIEW, MATERIALX, KARMA = "surface", "mtlx:surface", "kma:surface"
LOOK, VERSION = "verdigris_look", "config:mtlx:version"


def asset(path):
    # relative to the scene or the project, which may have moved
    variable, _, rest = path.partition("/")
    if variable in ("\\u0024HIP", "\\u0024JOB"):
        path = hou.text.expandString(variable) + "/" + rest
    return Sdf.AssetPath(path)


def plain(output):
    return output.replace(":", "_")


def shader(stage, path, identifier):
    made = UsdShade.Shader.Define(stage, path)
    made.CreateIdAttr(identifier)
    return made


def preview(stage, top, textures):
    # for renderers without MaterialX, such as viewports
    surface = shader(stage, top, "UsdPreviewSurface")
    reader = shader(stage, top + "_uv", "UsdPrimvarReader_float2")
    reader.CreateInput("varname", TYPES.String).Set("st")
    for kind, file in textures.items():
        texture = shader(stage, top + "_" + kind, "UsdUVTexture")
        texture.CreateInput("file", TYPES.Asset).Set(asset(file))
        texture.CreateInput("sourceColorSpace", TYPES.Token).Set(
            "sRGB" if kind in COLOURS else "raw"
        )
        for wrap in ("wrapS", "wrapT"):
            texture.CreateInput(wrap, TYPES.Token).Set("repeat")
        texture.CreateInput("st", TYPES.Float2).ConnectToSource(
            reader.CreateOutput("result", TYPES.Float2)
        )
        if kind == NORMAL:
            for field, values in (("scale", (2, 2, 2, 1)), ("bias", (-1, -1, -1, 0))):
                texture.CreateInput(field, TYPES.Float4).Set(values)
        name, read, taken = KINDS.get(kind, NUMBER)
        surface.CreateInput(INPUTS[kind][0], taken).ConnectToSource(
            texture.CreateOutput(name, read)
        )
    if OPACITY in textures:
        # without this, holes would reflect like clear glass
        surface.CreateInput("opacityMode", TYPES.Token).Set("presence")
    return surface.CreateOutput("surface", TYPES.Token)


def materialx(stage, top, textures, is_current):
    surface = shader(stage, top, "ND_standard_surface_surfaceshader")
    for name in ("base", "specular", *(["emission"] if "emission" in textures else [])):
        surface.CreateInput(name, TYPES.Float).Set(1.0)
    for kind, file in textures.items():
        word, given = ("float", TYPES.Float)
        if kind in COLOURS:
            word, given = ("color3", TYPES.Color3f)
        elif kind == NORMAL:
            word, given = ("vector3", TYPES.Float3)
        image = shader(stage, top + "_" + kind, "ND_image_" + word)
        port = image.CreateInput("file", TYPES.Asset)
        port.Set(asset(file))
        if kind in COLOURS:
            port.GetAttr().SetColorSpace("srgb_texture")
        fed = image.CreateOutput("out", given)
        if kind in (NORMAL, OPACITY):
            identifier = "ND_normalmap" + ("_float" if is_current else "")
            if kind == OPACITY:
                identifier = "ND_convert_float_color3"
            node = shader(stage, top + "_" + kind + "_read", identifier)
            node.CreateInput("in", given).ConnectToSource(fed)
            given = TYPES.Float3 if kind == NORMAL else TYPES.Color3f
            fed = node.CreateOutput("out", given)
        surface.CreateInput(INPUTS[kind][1], given).ConnectToSource(fed)
    return surface.CreateOutput("out", TYPES.Token)


def sources_of(material):
    # what feeds each output in the source
    found = {{}}
    for name in (PREVIEW, MATERIALX, KARMA):
        output = material.GetOutput(name)
        sources = output.GetAttr().GetConnections() if output else []
        if any(each.GetPrimPath().name == LOOK for each in sources):
            # the stage has looks already
            inside = material.GetPrim().GetChild(LOOK).GetAttribute("inputs:" + plain(name))
            sources = inside.GetConnections() if inside else []
        if sources:
            found[name] = sources
    before = material.ComputeSurfaceSource()[0]
    identifier = str(before.GetShaderId() or "") if before else ""
    if identifier.startswith("ND_") and MATERIALX not in found and PREVIEW in found:
        # viewports cannot show it, renderers with MaterialX can
        found[MATERIALX] = found.pop(PREVIEW)
    return found


def show_textures(stage, path, textures):
    textures = {{kind: file for kind, file in textures.items() if kind in INPUTS}}
    prim = stage.GetPrimAtPath(path)
    material, sources = UsdShade.Material(prim), sources_of(UsdShade.Material(prim))
    graph = UsdShade.NodeGraph.Define(stage, path + "/" + LOOK)
    top = path + "/" + LOOK + "/"
    version = prim.GetAttribute(VERSION)
    written = str((version.Get() if version else "") or "")
    shown = {{PREVIEW: preview(stage, top + "preview", textures)}}
    # without a preview surface of its own, the source has this one, too
    own = {{PREVIEW: shown[PREVIEW]}}
    if MATERIALX in sources or KARMA in sources:
        is_current = not written or tuple(map(int, written.split(".")[:2])) >= (1, 39)
        made = materialx(stage, top + "materialx", textures, is_current)
        shown.update({{name: made for name in (MATERIALX, KARMA) if name in sources}})
    for name in shown:
        if name in sources:
            own[name] = graph.CreateInput(plain(name), TYPES.Token)
            own[name].GetAttr().SetConnections(sources[name])
        output = graph.CreateOutput(plain(name), TYPES.Token)
        material.CreateOutput(name, TYPES.Token).ConnectToSource(output)
    looks = prim.GetVariantSets().AddVariantSet("look")
    # a LOP after this one, or a shot, chooses
    for variant, values in (("baked", shown), ("source", own)):
        looks.AddVariant(variant)
        looks.SetVariantSelection(variant)
        with looks.GetVariantEditContext():
            for name, value in values.items():
                graph.GetOutput(plain(name)).ConnectToSource(value)
            if variant == "baked" and not written and MATERIALX in shown:
                prim.AddAppliedSchema("MaterialXConfigAPI")
                prim.CreateAttribute(VERSION, TYPES.String, False).Set("1.39")


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
