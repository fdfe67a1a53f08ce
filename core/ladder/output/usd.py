"""Writes rungs as USD: the mesh with a variant set `rung`, for Houdini, Maya, Blender and others.

Each variant binds a UsdPreviewSurface with the rung's textures. The neural rung shows the glTF
textures and names its bundle in `verdigris:bundle`, as the plug-ins do. Lit textures and stored
light also have a MaterialX network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.hosts.ladder_looks import VARIANT_SET
from verdigris.core.ladder.rungs.rung import Preview, PreviewTexture, Rung, Written
from verdigris.core.ladder.texels.displacement import DISPLACEMENT, Displacement
from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.graph.traversal import source_of

if TYPE_CHECKING:
    import MaterialX as mx
    from pxr import Usd, UsdShade

    from verdigris.core.ladder.views.scene import Scene

_ATTRIBUTE, _LOD = "verdigris:bundle", "verdigris:below_pixels"
_FIRST, _LIGHT = "st", "st1"
_COLOUR = "displayColor"


def write_usd(
    scene: Scene, rungs: list[tuple[Rung, Written]], folder: Path, name: str,
    lods: list[dict[str, Any]], bundles: Mapping[str, str], is_two_sided: bool = False,
) -> list[str]:  # fmt: skip
    """Writes `NAME.usdc`. `bundles` are paths by the names of rungs, empty for rungs without a
    bundle. Returns the name of the file, or nothing if USD is not installed."""
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
    mesh, colours = _define_mesh(stage, scene, [rung for rung, _ in rungs])
    if is_two_sided:
        mesh.CreateDoubleSidedAttr(True)
    chosen = root.GetVariantSets().AddVariantSet(VARIANT_SET)
    below = {each["rung"]: each["below_pixels"] for each in lods}
    for variant in _variants(rungs):
        rung = variant.rung
        chosen.AddVariant(variant.name)
        chosen.SetVariantSelection(variant.name)
        with chosen.GetVariantEditContext():
            material = _define_material(stage, variant, colours.get(rung.name))
            if variant.network is not None:
                connect_network(stage, material, variant.network)
            if bundles[rung.name]:
                attribute = material.GetPrim().CreateAttribute(
                    _ATTRIBUTE, Sdf.ValueTypeNames.Asset, True
                )
                attribute.Set(Sdf.AssetPath(bundles[rung.name]))
            if below.get(rung.name):
                attribute = mesh.GetPrim().CreateAttribute(_LOD, Sdf.ValueTypeNames.Int, True)
                attribute.Set(below[rung.name])
            _bind(mesh, material)
    chosen.SetVariantSelection(rungs[0][0].name)
    stage.GetRootLayer().Export(str(path))
    return [path.name]


@dataclass(frozen=True)
class _Variant:
    """A variant of the USD file."""

    name: str
    rung: Rung
    preview: Preview
    cutoff: float
    network: str | None
    """A MaterialX document."""


def _variants(rungs: list[tuple[Rung, Written]]) -> list[_Variant]:
    """A variant for each rung, and then the additional variants of rungs. A rung that borrows a
    look shows the look of the first rung that lends it."""
    sets = _FIRST, _LIGHT
    lender = next((each for each in rungs if each[0].lends_look), None)
    found: list[_Variant] = []
    more: list[_Variant] = []
    for rung, written in rungs:
        shown, files = lender if lender and rung.borrows_look else (rung, written)
        networks = rung.networks(written, sets)
        if not networks and (text := shown.networks(files, sets).get(shown.name)) is not None:
            networks = {rung.name: text}
        preview, cutoff = shown.preview(files), files.numbers.get("alpha_cutoff", 0.0)
        found.append(_Variant(rung.name, rung, preview, cutoff, networks.pop(rung.name, None)))
        more += [_Variant(each, rung, preview, cutoff, text) for each, text in networks.items()]
    return found + more


def _bind(mesh: Any, material: UsdShade.Material) -> None:
    from pxr import UsdShade

    UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(material)


def _define_mesh(stage: Usd.Stage, scene: Scene, rungs: list[Rung]) -> tuple[Any, dict[str, str]]:
    """Defines the mesh. Also returns the primvars with the light of vertices, by the names of the
    rungs."""
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
    colours: dict[str, str] = {}
    for rung in rungs:
        if (stored := rung.vertex_light()) is not None:
            # viewers show the first one without a material
            colours[rung.name] = f"{_COLOUR}_{rung.name}" if colours else _COLOUR
            light = np.clip(stored.light[surface.vertices[0].reshape(-1)], 0, 1)
            primvars.CreatePrimvar(colours[rung.name], types.Color3fArray, corner).Set(
                Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(light, np.float32))
            )
    mesh.CreateExtentAttr([tuple(map(float, points.min(0))), tuple(map(float, points.max(0)))])
    return mesh, colours


def _define_material(stage: Usd.Stage, variant: _Variant, colours: str | None) -> UsdShade.Material:
    """Defines the material of a variant. `colours` is the primvar with the light of vertices, if
    there is one."""
    from pxr import Sdf, UsdShade

    path, types = f"/ladder/materials/{variant.name}", Sdf.ValueTypeNames
    preview = variant.preview
    material = UsdShade.Material.Define(stage, path)
    surface = UsdShade.Shader.Define(stage, f"{path}/surface")
    surface.CreateIdAttr("UsdPreviewSurface")
    material.CreateSurfaceOutput().ConnectToSource(surface.ConnectableAPI(), "surface")

    def connect(each: PreviewTexture, name: str) -> None:
        kind = getattr(types, each.kind)
        source = _texture(stage, f"{path}/{name}", each).CreateOutput(each.channel, kind)
        surface.CreateInput(each.port, kind).ConnectToSource(source)

    for each in preview.lit:
        connect(each, each.port)
    if preview.opacity is not None:
        connect(preview.opacity, "opacity")
        surface.CreateInput("opacityThreshold", types.Float).Set(variant.cutoff)
    if preview.displacement is not None:
        _displace(stage, material, surface, preview.displacement)
    if preview.lit:
        return material
    # stored light: nothing but emission
    for port in ("diffuseColor", "specularColor"):
        surface.CreateInput(port, types.Color3f).Set((0, 0, 0))
    surface.CreateInput("useSpecularWorkflow", types.Int).Set(1)
    if colours is not None:
        reader = UsdShade.Shader.Define(stage, f"{path}/colour")
        reader.CreateIdAttr("UsdPrimvarReader_float3")
        reader.CreateInput("varname", types.String).Set(colours)
        light = reader.CreateOutput("result", types.Float3)
        surface.CreateInput("emissiveColor", types.Color3f).ConnectToSource(light)
    elif preview.light is not None:
        connect(preview.light, "light")
    return material


def _displace(
    stage: Usd.Stage, material: UsdShade.Material, surface: UsdShade.Shader, given: Displacement
) -> None:
    from pxr import Sdf

    types, path = Sdf.ValueTypeNames, f"{material.GetPath()}/{DISPLACEMENT}"
    image = PreviewTexture(
        DISPLACEMENT, given.file, "r", "Float", is_srgb=False, scale=given.scale,
        bias=-given.scale * given.midlevel,
    )  # fmt: skip
    source = _texture(stage, path, image).CreateOutput(image.channel, types.Float)
    surface.CreateInput(image.port, types.Float).ConnectToSource(source)
    moved = material.CreateDisplacementOutput()
    moved.ConnectToSource(surface.CreateOutput(DISPLACEMENT, types.Token))


def _texture(stage: Usd.Stage, path: str, given: PreviewTexture) -> UsdShade.Shader:
    from pxr import Sdf, UsdShade

    types = Sdf.ValueTypeNames
    reader = UsdShade.Shader.Define(stage, f"{path}_uv")
    reader.CreateIdAttr("UsdPrimvarReader_float2")
    reader.CreateInput("varname", types.String).Set(_LIGHT if given.is_on_light_set else _FIRST)
    texture = UsdShade.Shader.Define(stage, f"{path}_texture")
    texture.CreateIdAttr("UsdUVTexture")
    texture.CreateInput("file", types.Asset).Set(Sdf.AssetPath(f"./{given.file}"))
    texture.CreateInput("sourceColorSpace", types.Token).Set("sRGB" if given.is_srgb else "raw")
    for wrap in ("wrapS", "wrapT"):
        texture.CreateInput(wrap, types.Token).Set("repeat")
    texture.CreateInput("st", types.Float2).ConnectToSource(
        reader.CreateOutput("result", types.Float2)
    )
    scale, bias = (2.0, -1.0) if given.is_normal else (given.scale, given.bias)
    if scale is not None:
        texture.CreateInput("scale", types.Float4).Set((scale, scale, scale, 1))
    if bias:
        texture.CreateInput("bias", types.Float4).Set((bias, bias, bias, 0))
    return texture


_CONTEXT = "mtlx"
_TYPES = {
    "float": "Float", "integer": "Int", "boolean": "Bool", "string": "String",
    "filename": "Asset", "color3": "Color3f", "color4": "Color4f", "vector2": "Float2",
    "vector3": "Float3", "vector4": "Float4", "surfaceshader": "Token",
}  # fmt: skip


def connect_network(stage: Usd.Stage, material: UsdShade.Material, text: str) -> None:
    """Defines the shaders of a document's only material below a material, as its surface for
    MaterialX. Files are beside the stage."""
    import MaterialX as mx
    from pxr import Sdf

    root = mx.createDocument()
    mx.readFromXmlString(root, text)
    root.setDataLibrary(standard_library())
    [node] = root.getMaterialNodes()
    surface = _define(stage, str(material.GetPath()), source_of(node.getInput("surfaceshader")))
    output = material.CreateSurfaceOutput(_CONTEXT)
    output.ConnectToSource(surface.CreateOutput("out", Sdf.ValueTypeNames.Token))
    terminal = node.getInput("displacementshader")
    if terminal is not None:
        moves = _define(stage, str(material.GetPath()), source_of(terminal))
        output = material.CreateDisplacementOutput(_CONTEXT)
        output.ConnectToSource(moves.CreateOutput("out", Sdf.ValueTypeNames.Token))


def _define(stage: Usd.Stage, parent: str, node: mx.Node) -> UsdShade.Shader:
    """Defines the shader of a node and the shaders that feed it."""
    from pxr import Sdf, UsdShade

    path = f"{parent}/{_CONTEXT}_{node.getName()}"
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
