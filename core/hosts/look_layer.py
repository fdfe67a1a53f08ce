"""A layer of USD with the baked looks of a stage's materials.

It is for the sublayers of a stage, above the layers that it overrides. Each material gets the
variant set `look` with the variants `source` and `baked`. A variant is weaker than what the stage
itself says about a material, so the layer connects the material's outputs to a node graph that only
the layer has, and the variants choose what the graph returns. Prims inside of instances cannot be
overridden; there the instances inherit a class with the same overrides.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import HostError, reason
from verdigris.core.base.files import replace_file
from verdigris.core.hosts.host import (
    BASE_COLOR,
    EMISSION,
    METALNESS,
    NORMAL_MAP,
    OPACITY,
    ROUGHNESS,
    ShaderLook,
    ShaderTexture,
)
from verdigris.core.hosts.ladder_looks import read_look
from verdigris.core.material.usd.network import version_numbers
from verdigris.core.material.usd.read_network import VERSION_ATTRIBUTE
from verdigris.core.material.usd.signatures import CURRENT_VERSION, find_signature
from verdigris.core.material.usd.usd_values import type_in_usd
from verdigris.core.material.usd.usdshade import require_material

if TYPE_CHECKING:
    from pxr import Sdf, Usd

LOOK_SET, SOURCE, BAKED = "look", "source", "baked"
LAYER_SUFFIX = ".looks.usda"
BUNDLE_ATTRIBUTE = "verdigris:bundle"
_GRAPH = "verdigris_look"
_VERSION_SCHEMA = "MaterialXConfigAPI"
_CLASSES = "/_verdigris_looks"
_UV_SET = "st"
_REPORT = "ladder.json"
# Outputs of a material: for preview surfaces, and for MaterialX with Karma's own.
_PREVIEW_OUTPUT = "surface"
_MATERIALX_OUTPUTS = ("mtlx:surface", "kma:surface")
# By kind of texture: the input of UsdPreviewSurface, its type, that of the texture and its output.
_PREVIEW_INPUTS = {
    BASE_COLOR: ("diffuseColor", "Color3f", "Float3", "rgb"),
    ROUGHNESS: ("roughness", "Float", "Float", "r"),
    METALNESS: ("metallic", "Float", "Float", "r"),
    NORMAL_MAP: ("normal", "Normal3f", "Float3", "rgb"),
    EMISSION: ("emissiveColor", "Color3f", "Float3", "rgb"),
    OPACITY: ("opacity", "Float", "Float", "r"),
}
_COLOURS = (BASE_COLOR, EMISSION)
# By kind of texture, the input of a Standard Surface.
_SHADER_INPUTS = {
    BASE_COLOR: "base_color",
    ROUGHNESS: "specular_roughness",
    METALNESS: "metalness",
    NORMAL_MAP: "normal",
    EMISSION: "emission_color",
    OPACITY: "opacity",
}


@dataclass(frozen=True)
class StageLook:
    """What a stage shows of a bake."""

    bundle: Path
    textures: Mapping[str, Path] = field(default_factory=dict)
    """Flattened textures by kind."""
    shader: ShaderLook | None = None
    """A fitted surface shader for renderers of MaterialX; without it they get the textures."""


def look_of(bundle: Path) -> StageLook:
    """What lies beside a bundle: flattened textures, and the fitted shader of the ladder that wrote
    the bundle."""
    named = {kind: bundle.with_name(f"{bundle.stem}_{kind}.png") for kind in _PREVIEW_INPUTS}
    textures = {kind: path for kind, path in named.items() if path.is_file()}
    report = bundle.parent / _REPORT
    with suppress(HostError):
        ladder = read_look(report) if report.is_file() else None
        if ladder is not None and ladder.result is not None and ladder.result.bundle == bundle:
            fitted = (each.shader for each in ladder.rungs if each.shader is not None)
            return StageLook(bundle, textures or ladder.result.textures, next(fitted, None))
    return StageLook(bundle, textures)


def write_looks(stage: Usd.Stage, looks: Mapping[str, StageLook], file: Path) -> tuple[str, ...]:
    """Writes the layer for the materials at these paths of a stage. All files are named relative to
    the layer. Returns notes on materials that it cannot override."""
    from pxr import Usd, UsdGeom

    made = Usd.Stage.CreateInMemory()
    layer = made.GetRootLayer()
    layer.documentation = (
        "Baked looks by Verdigris: put this layer first in the sublayers of the stage, and choose "
        f"the variant {LOOK_SET!r} of a material."
    )
    UsdGeom.SetStageUpAxis(made, UsdGeom.GetStageUpAxis(stage))
    UsdGeom.SetStageMetersPerUnit(made, UsdGeom.GetStageMetersPerUnit(stage))
    notes = []
    for path, look in sorted(looks.items()):
        material = require_material(stage, path)
        place = _place(stage, made, material.GetPrim())
        if place is None:
            notes.append(
                f"{path} is inside of an instance within another instance, which a layer cannot "
                "override: open the stage that the inner instance references, and bake there"
            )
            continue
        _Look(made, material, place, look, file.parent).write()
    try:
        replace_file(file, layer.ExportToString().encode())
    except OSError as failure:
        raise HostError(
            f"{file}: cannot be written ({reason(failure)}): free space, or change its permissions"
        ) from None
    return tuple(notes)


def write_stage_with_looks(stage: Path, looks: Path, file: Path) -> None:
    """Writes a stage that shows another with a layer of looks."""
    from pxr import Sdf

    source, layer = Sdf.Layer.FindOrOpen(str(stage)), Sdf.Layer.CreateAnonymous(".usda")
    # this data of a root layer is not composed
    for key in ("defaultPrim", "upAxis", "metersPerUnit", "timeCodesPerSecond"):
        if source.pseudoRoot.HasInfo(key):
            layer.pseudoRoot.SetInfo(key, source.pseudoRoot.GetInfo(key))
    for key in ("startTimeCode", "endTimeCode"):
        if source.pseudoRoot.HasInfo(key):
            layer.pseudoRoot.SetInfo(key, source.pseudoRoot.GetInfo(key))
    layer.subLayerPaths[:] = [relative_path(each, file.parent) for each in (looks, stage)]
    replace_file(file, layer.ExportToString().encode())


def relative_path(path: Path, folder: Path) -> str:
    """The path as a layer in this folder names it; whole if it is on another drive."""
    try:
        found = os.path.relpath(path.resolve(), folder.resolve())
    except ValueError:
        return path.resolve().as_posix()
    text = Path(found).as_posix()
    return text if text.startswith("../") else f"./{text}"


def _place(stage: Usd.Stage, made: Usd.Stage, prim: Usd.Prim) -> tuple[str, str] | None:
    """The prefix of a material's path, and what replaces it in the layer: nothing, or for a
    material in an instance the class that all its instances inherit."""
    if not prim.IsInstanceProxy():
        return "", ""
    root = prim
    while root.IsInstanceProxy():
        root = root.GetParent()
        if root.IsInstanceProxy() and root.IsInstance():
            return None
    name = f"{_CLASSES}/{str(root.GetPath()).strip('/').replace('/', '_')}"
    if not made.GetPrimAtPath(name):
        made.CreateClassPrim(_CLASSES)
        made.CreateClassPrim(name)
        for each in root.GetPrototype().GetInstances():
            if not each.IsInPrototype():
                made.OverridePrim(each.GetPath()).GetInherits().AddInherit(name)
    return str(root.GetPath()), name


class _Look:
    """The override of one material. `place` is described at `_place`."""

    def __init__(
        self, made: Usd.Stage, material: Any, place: tuple[str, str], look: StageLook, folder: Path
    ) -> None:
        self.made, self.source, self.look, self.folder = made, material, look, folder
        self.place = place
        self.path = self._moved(material.GetPath())
        attribute = material.GetPrim().GetAttribute(VERSION_ATTRIBUTE)
        written = str((attribute.Get() if attribute else "") or "")
        # without a version of the source, the baked look has one of its own
        self.has_version = bool(written)
        self.version = written or ".".join(map(str, CURRENT_VERSION))

    def _moved(self, path: Any) -> str:
        before, after = self.place
        return after + str(path).removeprefix(before) if before else str(path)

    def write(self) -> None:
        from pxr import Sdf

        prim = self.made.OverridePrim(self.path)
        looks = prim.GetVariantSets().AddVariantSet(LOOK_SET)
        looks.AddVariant(SOURCE)
        looks.AddVariant(BAKED)
        outputs = self._outputs() if self.look.textures or self.look.shader else {}
        for output, sources in outputs.items():
            self._connect_to_graph(prim, output, sources)
        self._only_override()
        looks.SetVariantSelection(SOURCE)
        with looks.GetVariantEditContext():
            for output, sources in outputs.items():
                if sources:
                    self._return(output, f"{self.path}/{_GRAPH}.inputs:{_plain(output)}")
        looks.SetVariantSelection(BAKED)
        with looks.GetVariantEditContext():
            bundle = prim.CreateAttribute(BUNDLE_ATTRIBUTE, Sdf.ValueTypeNames.Asset, True)
            bundle.Set(Sdf.AssetPath(relative_path(self.look.bundle, self.folder)))
            shaders = self._define_shaders() if outputs else {}
            if shaders and not self.has_version:
                prim.AddAppliedSchema(_VERSION_SCHEMA)
                version = prim.CreateAttribute(VERSION_ATTRIBUTE, Sdf.ValueTypeNames.String, False)
                version.Set(self.version)
            for output in outputs:
                is_preview = output == _PREVIEW_OUTPUT or "mtlx" not in shaders
                self._return(output, shaders["preview" if is_preview else "mtlx"])

    def _outputs(self) -> dict[str, list[str]]:
        """The outputs that the layer overrides, each with what feeds it in the source."""
        found = {}
        for name in (_PREVIEW_OUTPUT, *_MATERIALX_OUTPUTS):
            output = self.source.GetOutput(name)
            sources = output.GetAttr().GetConnections() if output else []
            graph = next((each for each in sources if each.GetPrimPath().name == _GRAPH), None)
            if graph is not None:
                # the stage has such a layer already
                inside = self.source.GetPrim().GetChild(_GRAPH)
                before = inside.GetAttribute(f"inputs:{_plain(name)}")
                sources = before.GetConnections() if before else []
            if sources or name == _PREVIEW_OUTPUT:
                found[name] = [self._moved(each) for each in sources]
        return found

    def _only_override(self) -> None:
        """The graph is new, and the prims around it are not."""
        from pxr import Sdf

        spec = self.made.GetRootLayer().GetPrimAtPath(self.path)
        while spec:
            if spec.specifier == Sdf.SpecifierDef:
                spec.specifier = Sdf.SpecifierOver
            spec = spec.nameParent

    def _connect_to_graph(self, prim: Usd.Prim, output: str, sources: list[str]) -> None:
        from pxr import Sdf, UsdShade

        graph = UsdShade.NodeGraph.Define(self.made, f"{self.path}/{_GRAPH}")
        if sources:
            port = graph.CreateInput(_plain(output), Sdf.ValueTypeNames.Token)
            port.GetAttr().SetConnections([Sdf.Path(each) for each in sources])
        graph.CreateOutput(_plain(output), Sdf.ValueTypeNames.Token)
        own = prim.CreateAttribute(f"outputs:{output}", Sdf.ValueTypeNames.Token, False)
        own.SetConnections([Sdf.Path(f"{self.path}/{_GRAPH}.outputs:{_plain(output)}")])

    def _return(self, output: str, source: str) -> None:
        """Lets the graph return a source, in the variant that is edited."""
        from pxr import Sdf

        graph = self.made.OverridePrim(f"{self.path}/{_GRAPH}")
        port = graph.CreateAttribute(f"outputs:{_plain(output)}", Sdf.ValueTypeNames.Token, False)
        port.SetConnections([Sdf.Path(source)])

    def _define_shaders(self) -> dict[str, str]:
        """The outputs of the preview surface and of the shader of MaterialX."""
        shader = self.look.shader or _shader_of_textures(self.look.textures)
        found = {}
        if self.look.textures:
            found["preview"] = self._define_preview()
        found["mtlx"] = self._define_shader(shader)
        return {"preview": found["mtlx"], **found}

    def _uv_set(self) -> str:
        return (self.look.shader.uv_set if self.look.shader else "") or _UV_SET

    def _shader(self, name: str, definition: str) -> Any:
        from pxr import UsdShade

        shader = UsdShade.Shader.Define(self.made, f"{self.path}/{_GRAPH}/{name}")
        shader.CreateIdAttr(definition)
        return shader

    def _define_preview(self) -> str:
        from pxr import Sdf

        types = Sdf.ValueTypeNames
        surface = self._shader("preview", "UsdPreviewSurface")
        reader = self._shader("preview_uv", "UsdPrimvarReader_float2")
        reader.CreateInput("varname", types.String).Set(self._uv_set())
        place = reader.CreateOutput("result", types.Float2)
        for kind, file in self.look.textures.items():
            if kind not in _PREVIEW_INPUTS:
                continue
            port, own, given, channel = _PREVIEW_INPUTS[kind]
            texture = self._shader(f"preview_{kind}", "UsdUVTexture")
            texture.CreateInput("file", types.Asset).Set(self._asset(file))
            space = "sRGB" if kind in _COLOURS else "raw"
            texture.CreateInput("sourceColorSpace", types.Token).Set(space)
            for wrap in ("wrapS", "wrapT"):
                texture.CreateInput(wrap, types.Token).Set("repeat")
            texture.CreateInput("st", types.Float2).ConnectToSource(place)
            if kind == NORMAL_MAP:
                texture.CreateInput("scale", types.Float4).Set((2, 2, 2, 1))
                texture.CreateInput("bias", types.Float4).Set((-1, -1, -1, 0))
            output = texture.CreateOutput(channel, getattr(types, given))
            surface.CreateInput(port, getattr(types, own)).ConnectToSource(output)
        if OPACITY in self.look.textures:
            # without this, holes would reflect like clear glass
            surface.CreateInput("opacityMode", types.Token).Set("presence")
        return str(surface.CreateOutput("surface", types.Token).GetAttr().GetPath())

    def _define_shader(self, look: ShaderLook) -> str:
        from pxr import Sdf

        definition = f"ND_{look.category}_surfaceshader"
        known = find_signature(definition, version_numbers(self.version))
        inputs = known.inputs if known is not None else {}
        surface = self._shader("materialx", definition)
        for name, value in look.values.items():
            if name in inputs:
                kind = Sdf.ValueTypeNames.Find(type_in_usd(inputs[name]))
                surface.CreateInput(name, kind).Set(value)
        for name, texture in look.textures.items():
            if name in inputs:
                self._define_texture(surface, name, inputs[name], texture)
        return str(surface.CreateOutput("out", Sdf.ValueTypeNames.Token).GetAttr().GetPath())

    def _define_texture(self, surface: Any, name: str, kind: str, texture: ShaderTexture) -> None:
        """A texture for an input, with its range, or as directions of a normal map."""
        from pxr import Sdf

        usd_type = Sdf.ValueTypeNames.Find(type_in_usd(kind))
        is_grey = name == OPACITY and kind == "color3"
        read = "float" if is_grey else kind
        image = self._shader(f"materialx_{name}", f"ND_image_{read}")
        file = image.CreateInput("file", Sdf.ValueTypeNames.Asset)
        file.Set(self._asset(texture.file))
        if texture.is_colour:
            file.GetAttr().SetColorSpace("srgb_texture")
        if self._uv_set() != _UV_SET:
            place = self._shader("materialx_uv", "ND_geompropvalue_vector2")
            place.CreateInput("geomprop", Sdf.ValueTypeNames.String).Set(self._uv_set())
            uv = place.CreateOutput("out", Sdf.ValueTypeNames.Float2)
            image.CreateInput("texcoord", Sdf.ValueTypeNames.Float2).ConnectToSource(uv)
        fed = image.CreateOutput("out", Sdf.ValueTypeNames.Find(type_in_usd(read)))
        if is_grey:
            node = self._shader(f"materialx_{name}_grey", "ND_convert_float_color3")
            node.CreateInput("in", Sdf.ValueTypeNames.Float).ConnectToSource(fed)
            fed = node.CreateOutput("out", usd_type)
        elif texture.is_direction:
            is_current = version_numbers(self.version) >= CURRENT_VERSION
            definition = "ND_normalmap_float" if is_current else "ND_normalmap"
            fed = self._after(fed, f"materialx_{name}_map", definition, usd_type, {})
        elif (texture.low, texture.high) != (0.0, 1.0):
            ends = {"outlow": texture.low, "outhigh": texture.high}
            fed = self._after(fed, f"materialx_{name}_range", f"ND_remap_{kind}", usd_type, ends)
        surface.CreateInput(name, usd_type).ConnectToSource(fed)

    def _after(
        self, fed: Any, name: str, definition: str, usd_type: Any, numbers: Mapping[str, float]
    ) -> Any:
        """A node that reads an output; its other inputs have the same number in all channels."""
        node = self._shader(name, definition)
        node.CreateInput("in", usd_type).ConnectToSource(fed)
        for port, number in numbers.items():
            size = len(usd_type.defaultValue) if hasattr(usd_type.defaultValue, "__len__") else 1
            value = (number,) * size if size > 1 else number
            node.CreateInput(port, usd_type).Set(value)
        return node.CreateOutput("out", usd_type)

    def _asset(self, file: Path) -> Sdf.AssetPath:
        from pxr import Sdf

        return Sdf.AssetPath(relative_path(file, self.folder))


def _shader_of_textures(textures: Mapping[str, Path]) -> ShaderLook:
    """A Standard Surface with flattened textures."""
    found = {
        _SHADER_INPUTS[kind]: ShaderTexture(file, kind in _COLOURS, kind == NORMAL_MAP)
        for kind, file in textures.items()
        if kind in _SHADER_INPUTS
    }
    values = {"base": 1.0, "specular": 1.0, **({"emission": 1.0} if EMISSION in textures else {})}
    return ShaderLook("standard_surface", values, found)


def _plain(output: str) -> str:
    return output.replace(":", "_")
