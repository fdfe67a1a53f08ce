"""Writes rungs as USD: the mesh with a variant set `rung`, for Houdini, Maya, Blender and others.

Each variant binds a UsdPreviewSurface with the rung's textures. That of the neural rung shows the
glTF textures and names its bundle in `verdigris:bundle`, as the plug-ins do. Those of lit textures
and of stored light have a network of MaterialX, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.hosts.ladder_looks import COLOUR_SHOWN, SHOWN_SCALE
from verdigris.core.ladder.output.light_document import light_document
from verdigris.core.ladder.rung import Rung
from verdigris.core.ladder.textures.texture_files import (
    BASE_COLOUR,
    COAT,
    EMISSIVE,
    NORMAL,
    OPACITY,
    ORM,
    SHOWN,
    Written,
)
from verdigris.core.ladder.unlit.unlit_models import VertexColours
from verdigris.core.ladder.views.scene import Scene
from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.graph.traversal import source_of
from verdigris.core.settings.rung_names import (
    DETAIL,
    NEURAL,
    PBR,
    REFLECTION,
    SURFACE,
    UNLIT,
    VARIANT_SET,
    VERTEX,
)

if TYPE_CHECKING:
    import MaterialX as mx
    from pxr import Usd, UsdShade

ATTRIBUTE, LOD = "verdigris:bundle", "verdigris:below_pixels"
MIRRORED = f"{REFLECTION}_mirrored"
"""The variant of the reflection with its map, for renderers that know the view's direction: not all
have MaterialX's library of it, and one that lacks it would show nothing."""
_FIRST, _LIGHT = "st", "st1"
_COLOUR = "displayColor"
# Of a texture's output: the input of the surface, its type, and the texture's channel.
_LIT = (
    (BASE_COLOUR, "diffuseColor", "Color3f", "rgb", "sRGB"),
    (ORM, "occlusion", "Float", "r", "raw"),
    (ORM, "roughness", "Float", "g", "raw"),
    (ORM, "metallic", "Float", "b", "raw"),
    (NORMAL, "normal", "Normal3f", "rgb", "raw"),
    (EMISSIVE, "emissiveColor", "Color3f", "rgb", "sRGB"),
    (COAT, "clearcoat", "Float", "r", "raw"),
    (COAT, "clearcoatRoughness", "Float", "g", "raw"),
)


def write_usd(
    scene: Scene, rungs: list[tuple[Rung, Written]], folder: Path, name: str,
    lods: list[dict[str, Any]], bundle: str = "", is_two_sided: bool = False,
) -> list[str]:  # fmt: skip
    """Writes `NAME.usdc`. Returns its name, or nothing where USD is not installed."""
    try:
        from pxr import Sdf, Usd, UsdGeom
    except ImportError:
        return []
    path = folder / f"{name}.usdc"
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    root = UsdGeom.Xform.Define(stage, "/ladder").GetPrim()
    stage.SetDefaultPrim(root)
    of_pbr = next((written for rung, written in rungs if rung.name == PBR), Written())
    mesh = _define_mesh(stage, scene, [rung for rung, _ in rungs])
    if is_two_sided:
        mesh.CreateDoubleSidedAttr(True)
    chosen = root.GetVariantSets().AddVariantSet(VARIANT_SET)
    below = {each["rung"]: each["below_pixels"] for each in lods}
    shown_twice = [each for each in rungs if each[0].name == REFLECTION]
    for number, (rung, written) in enumerate((*rungs, *shown_twice)):
        is_mirrored = number >= len(rungs)
        variant = MIRRORED if is_mirrored else rung.name
        chosen.AddVariant(variant)
        chosen.SetVariantSelection(variant)
        with chosen.GetVariantEditContext():
            shown = of_pbr if rung.name in (NEURAL, SURFACE) else written
            material = _define_material(stage, variant, shown.files, shown.numbers)
            lit = of_pbr if rung.name == NEURAL else written
            if lit.shader is not None:
                connect_network(stage, material, lit.shader.write(lit.shader_files))
            elif rung.name in (UNLIT, REFLECTION, DETAIL):
                sets = _FIRST, _LIGHT
                text = light_document(written.files, written.numbers, sets, is_mirrored)
                connect_network(stage, material, text)
            if rung.name == NEURAL and bundle:
                attribute = material.GetPrim().CreateAttribute(
                    ATTRIBUTE, Sdf.ValueTypeNames.Asset, True
                )
                attribute.Set(Sdf.AssetPath(bundle))
            if below.get(rung.name):
                attribute = mesh.GetPrim().CreateAttribute(LOD, Sdf.ValueTypeNames.Int, True)
                attribute.Set(below[rung.name])
            _bind(mesh, material)
    chosen.SetVariantSelection(rungs[0][0].name)
    stage.GetRootLayer().Export(str(path))
    return [path.name]


def _bind(mesh: Any, material: UsdShade.Material) -> None:
    from pxr import UsdShade

    UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(material)


def _define_mesh(stage: Usd.Stage, scene: Scene, rungs: list[Rung]) -> Any:
    from pxr import Sdf, UsdGeom, Vt

    surface = scene.surface
    count = len(surface.mesh.position)
    mesh = UsdGeom.Mesh.Define(stage, "/ladder/mesh")
    points, index = np.unique(surface.mesh.position.reshape(-1, 3), axis=0, return_inverse=True)
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(points, np.float32)))
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(count, 3, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(index.reshape(-1).astype(np.int32)))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    primvars, types = UsdGeom.PrimvarsAPI(mesh), Sdf.ValueTypeNames
    corner = UsdGeom.Tokens.faceVarying
    normals = np.ascontiguousarray(surface.mesh.normal.reshape(-1, 3), np.float32)
    primvars.CreatePrimvar("normals", types.Normal3fArray, corner).Set(
        Vt.Vec3fArray.FromNumpy(normals)
    )
    for name, uv_set in ((_FIRST, scene.first_set), (_LIGHT, scene.unique_set or scene.first_set)):
        uv = np.ascontiguousarray(surface.sets[uv_set].reshape(-1, 2), np.float32)
        primvars.CreatePrimvar(name, types.TexCoord2fArray, corner).Set(Vt.Vec2fArray.FromNumpy(uv))
    model = next((each.stored for each in rungs if each.name == VERTEX), None)
    if isinstance(model, VertexColours):
        light = model.curve.to_light(model.colours.values)[surface.vertices[0].reshape(-1)]
        shown = np.ascontiguousarray(np.clip(light, 0, 1), np.float32)
        primvars.CreatePrimvar(_COLOUR, types.Color3fArray, corner).Set(
            Vt.Vec3fArray.FromNumpy(shown)
        )
    mesh.CreateExtentAttr([tuple(map(float, points.min(0))), tuple(map(float, points.max(0)))])
    return mesh


def _define_material(
    stage: Usd.Stage, variant: str, files: dict[str, str], numbers: dict[str, Any]
) -> UsdShade.Material:
    from pxr import Sdf, UsdShade

    path = f"/ladder/materials/{variant}"
    material = UsdShade.Material.Define(stage, path)
    surface = UsdShade.Shader.Define(stage, f"{path}/surface")
    surface.CreateIdAttr("UsdPreviewSurface")
    material.CreateSurfaceOutput().ConnectToSource(surface.ConnectableAPI(), "surface")
    types = Sdf.ValueTypeNames
    for use, port, kind, channel, space in _LIT if BASE_COLOUR in files else ():
        if use in files:
            scale = 2.0 if use == NORMAL else numbers.get("emissive_strength", 1.0)
            texture = _texture(stage, f"{path}/{port}", files[use], space, _FIRST)
            if use in (NORMAL, EMISSIVE):
                texture.CreateInput("scale", types.Float4).Set((scale, scale, scale, 1))
            if use == NORMAL:
                texture.CreateInput("bias", types.Float4).Set((-1, -1, -1, 0))
            source = texture.CreateOutput(channel, getattr(types, kind))
            surface.CreateInput(port, getattr(types, kind)).ConnectToSource(source)
    opacities = (BASE_COLOUR, _FIRST, "a"), (SHOWN, _LIGHT, "a"), (OPACITY, _FIRST, "r")
    chosen = next((each for each in opacities if each[0] in files), None)
    if "alpha_mode" in numbers and chosen is not None:
        use, uv_set, channel = chosen
        space = "raw" if use == OPACITY else "sRGB"
        texture = _texture(stage, f"{path}/opacity", files[use], space, uv_set)
        source = texture.CreateOutput(channel, types.Float)
        surface.CreateInput("opacity", types.Float).ConnectToSource(source)
        surface.CreateInput("opacityThreshold", types.Float).Set(numbers.get("alpha_cutoff", 0.0))
    if BASE_COLOUR in files:
        return material
    # light that is stored: nothing but emission
    for port in ("diffuseColor", "specularColor"):
        surface.CreateInput(port, types.Color3f).Set((0, 0, 0))
    surface.CreateInput("useSpecularWorkflow", types.Int).Set(1)
    if variant == VERTEX:
        reader = UsdShade.Shader.Define(stage, f"{path}/colour")
        reader.CreateIdAttr("UsdPrimvarReader_float3")
        reader.CreateInput("varname", types.String).Set(_COLOUR)
        light = reader.CreateOutput("result", types.Float3)
    elif SHOWN in files or COLOUR_SHOWN in files:
        file = files.get(SHOWN) or files[COLOUR_SHOWN]
        texture = _texture(stage, f"{path}/light", file, "sRGB", _LIGHT)
        if SHOWN_SCALE in numbers:
            scale = numbers[SHOWN_SCALE]
            texture.CreateInput("scale", types.Float4).Set((scale, scale, scale, 1))
        light = texture.CreateOutput("rgb", types.Color3f)
    else:
        return material
    surface.CreateInput("emissiveColor", types.Color3f).ConnectToSource(light)
    return material


def _texture(stage: Usd.Stage, path: str, file: str, space: str, uv_set: str) -> UsdShade.Shader:
    from pxr import Sdf, UsdShade

    types = Sdf.ValueTypeNames
    reader = UsdShade.Shader.Define(stage, f"{path}_uv")
    reader.CreateIdAttr("UsdPrimvarReader_float2")
    reader.CreateInput("varname", types.String).Set(uv_set)
    texture = UsdShade.Shader.Define(stage, f"{path}_texture")
    texture.CreateIdAttr("UsdUVTexture")
    texture.CreateInput("file", types.Asset).Set(Sdf.AssetPath(f"./{file}"))
    texture.CreateInput("sourceColorSpace", types.Token).Set(space)
    for wrap in ("wrapS", "wrapT"):
        texture.CreateInput(wrap, types.Token).Set("repeat")
    texture.CreateInput("st", types.Float2).ConnectToSource(
        reader.CreateOutput("result", types.Float2)
    )
    return texture


CONTEXT = "mtlx"
_TYPES = {
    "float": "Float", "integer": "Int", "boolean": "Bool", "string": "String",
    "filename": "Asset", "color3": "Color3f", "color4": "Color4f", "vector2": "Float2",
    "vector3": "Float3", "vector4": "Float4", "surfaceshader": "Token",
}  # fmt: skip


def connect_network(stage: Usd.Stage, material: UsdShade.Material, text: str) -> None:
    """Defines the shaders of the only material of a document below a material, as its surface for
    MaterialX. File names are beside the stage."""
    import MaterialX as mx
    from pxr import Sdf

    root = mx.createDocument()
    mx.readFromXmlString(root, text)
    root.setDataLibrary(standard_library())
    [node] = root.getMaterialNodes()
    surface = _define(stage, str(material.GetPath()), source_of(node.getInput("surfaceshader")))
    output = material.CreateSurfaceOutput(CONTEXT)
    output.ConnectToSource(surface.CreateOutput("out", Sdf.ValueTypeNames.Token))


def _define(stage: Usd.Stage, parent: str, node: mx.Node) -> UsdShade.Shader:
    """The shader of a node, with all that feeds it."""
    from pxr import Sdf, UsdShade

    path = f"{parent}/{CONTEXT}_{node.getName()}"
    found = UsdShade.Shader.Get(stage, path)
    if found:
        return found
    shader = UsdShade.Shader.Define(stage, path)
    shader.CreateIdAttr(node.getNodeDef().getName())
    for port in node.getInputs():
        kind = getattr(Sdf.ValueTypeNames, _TYPES[port.getType()])
        made = shader.CreateInput(port.getName(), kind)
        source = source_of(port)
        if source is not None:
            fed = _define(stage, parent, source)
            made.ConnectToSource(
                fed.CreateOutput("out", getattr(Sdf.ValueTypeNames, _TYPES[source.getType()]))
            )
        else:
            made.Set(_value(port))
        if port.getColorSpace():
            made.GetAttr().SetColorSpace(port.getColorSpace())
    return shader


def _value(port: mx.Input) -> Any:
    from pxr import Gf, Sdf

    if port.getType() == "filename":
        return Sdf.AssetPath(f"./{port.getValueString()}")
    value = port.getValue()
    if hasattr(value, "asTuple"):
        numbers = value.asTuple()
        return getattr(Gf, f"Vec{len(numbers)}f")(*numbers)
    return value
