"""The writers of MaterialX of maya-usd, by Autodesk/maya-usd, lib/usd/translators/shading.

mtlxStandardSurfaceWriter.cpp, mtlxOpenPBRSurfaceWriter.cpp, mtlxPreviewSurfaceWriter.cpp,
mtlxSymmetricShaderWriter.cpp, mtlxFileTextureWriter.cpp, mtlxPlace2dTextureWriter.cpp,
mtlxBaseWriter.cpp. A node type without an entry in WRITERS has no writer.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from .node_types import VECTORS, Attribute, find_attribute, node_types
from .usd_material import MTLX, Material, usd_type

_PLACEMENT = (
    *("coverage", "translateFrame", "rotateFrame", "mirrorU", "mirrorV", "stagger"),
    *("wrapU", "wrapV", "repeatUV", "offset", "rotateUV", "noiseUV"),
)
_ALWAYS = ("base", "baseColor", "specular", "specularRoughness")


def _token() -> Any:
    from pxr import Sdf

    return Sdf.ValueTypeNames.Token


class Writer:
    """What the writers share."""

    surface: Any = None

    def __init__(self, material: Material, node: str) -> None:
        self.material, self.node = material, node
        self.kind = material.scene.nodes[node]["type"]

    def attribute(self, name: str, wanted: Any) -> Any:
        """The port for an attribute of Maya."""
        raise NotImplementedError

    def finish(self) -> None:
        """Called when all nodes are written."""

    def find(self, name: str) -> Attribute | None:
        plain = re.sub(r"\[\d+\]", "", name).rpartition(".")[2]
        return find_attribute(self.kind, plain, {})

    def value(self, name: str) -> Any:
        return self.material.scene.value(f"{self.node}.{name}")

    def is_authored(self, own: Attribute) -> bool:
        return own.long in self.material.scene.nodes[self.node]["attributes"]

    def is_fed(self, own: Attribute) -> bool:
        targets = self.material.scene.connections
        return any(f"{self.node}.{each.long}" in targets for each in (own, *own.children))

    def split(self, name: str) -> tuple[Attribute | None, int]:
        """The vector that has this component, and the place in it."""
        own = self.find(name)
        if own is None or own.parent is None or own.parent.kind not in VECTORS:
            return None, 0
        return own.parent, own.parent.children.index(own)


class Surface(Writer):
    """`MtlxUsd_TranslationTableWriter`: attributes are renamed, connections go to the graph."""

    def __init__(self, material: Material, node: str, identifier: str, special: Any) -> None:
        super().__init__(material, node)
        self.shader = material.add(node, identifier, in_graph=False)
        self.surface = self.shader.GetPrim()
        for own in node_types()[self.kind].attributes:
            kind = usd_type(own)
            if own.is_output or kind is None or own.long in ("caching", "frozen", "nodeState"):
                continue
            always = self.kind == "standardSurface" and own.long in _ALWAYS
            if not (always or self.is_authored(own) or self.is_fed(own)):
                continue
            port = self.shader.CreateInput(special(own.long), kind)
            if self.is_fed(own):
                port.ConnectToSource(material.graph().CreateOutput(own.long, kind))
            else:
                port.Set(self.value(own.long))
        self.shader.CreateOutput("out", _token())

    def attribute(self, name: str, wanted: Any) -> Any:
        from pxr import Sdf

        if name == "outColor":
            return self.shader.GetOutput("out")
        graph = self.material.graph()
        if name in ("normalCamera", "coatNormal"):
            made = self.material.add(f"MayaNormalMap_{self.node}_{name}", "ND_normalmap")
            into = made.CreateInput("in", Sdf.ValueTypeNames.Float3)
            out = made.CreateOutput("out", Sdf.ValueTypeNames.Float3)
            graph.GetOutput(name).ConnectToSource(out)
            return into
        found = graph.GetOutput(name)
        if found:
            return found
        whole, channel = self.split(name)
        port = graph.GetOutput(whole.long) if whole else None
        return self.material.combine(port, whole, self.node, channel) if port else None


class Symmetric(Writer):
    """`MtlxUsd_SymmetricShaderWriter`: attributes keep their names."""

    def __init__(self, material: Material, node: str, identifier: str, in_graph: bool) -> None:
        from pxr import Sdf

        super().__init__(material, node)
        self.in_graph = in_graph
        self.shader = material.add(node, identifier, in_graph)
        self.surface = None if in_graph else self.shader.GetPrim()
        own_outputs = []
        for own in node_types()[self.kind].attributes:
            kind = usd_type(own)
            if own.is_output:
                own_outputs.append(own)
            elif kind is not None and not own.is_multi and (
                self.is_authored(own) or self.is_fed(own)
            ):  # fmt: skip
                port = self.shader.CreateInput(own.long, kind)
                if not self.is_fed(own):
                    port.Set(self.value(own.long))
        if not in_graph:
            self.shader.CreateOutput("outColor", Sdf.ValueTypeNames.Token)
            return
        names = [own.long for own in own_outputs]
        for own in own_outputs:
            if own.long == "outAlpha" and "outColor" in names:
                continue
            both = own.long == "outColor" and "outAlpha" in names
            kind = Sdf.ValueTypeNames.Color4f if both else usd_type(own)
            self.shader.CreateOutput(own.long, kind)

    def attribute(self, name: str, wanted: Any) -> Any:
        port = self.shader.GetInput(name)
        if port:
            return self._from_graph(port)
        output = self.shader.GetOutput("outColor" if name == "outAlpha" else name)
        if output and name == "outAlpha" and str(output.GetTypeName()) == "color4f":
            return self.material.extract(output, 3)
        if output:
            return output if self.surface else self.material.convert(output, wanted)
        whole, channel = self.split(name)
        if whole is None:
            return None
        if self.shader.GetOutput(whole.long):
            return self.material.extract(self.shader.GetOutput(whole.long), channel)
        port = self.shader.GetInput(whole.long)
        return port and self.material.combine(self._from_graph(port), whole, self.node, channel)

    def _from_graph(self, port: Any) -> Any:
        """`PreserveNodegraphBoundaries`."""
        if self.in_graph:
            return port
        out = self.material.graph().CreateOutput(port.GetBaseName(), port.GetTypeName())
        port.ConnectToSource(out)
        return out


class File(Writer):
    """`MtlxUsd_FileWriter`: an image, and a node of Maya's for the rest of a file."""

    def __init__(self, material: Material, node: str) -> None:
        from pxr import Sdf

        super().__init__(material, node)
        names = Sdf.ValueTypeNames
        self.channels = self._open_texture()
        ids = {1: ("float", names.Float), 2: ("vector2", names.Float2),
               3: ("color3", names.Color3f), 4: ("color4", names.Color4f)}  # fmt: skip
        word, self.type = ids[self.channels]
        self.image = material.add(node, f"ND_image_{word}")
        self.image.CreateInput("filtertype", names.String).Set("cubic")
        self.after = material.add(f"{node}_MayafileTexture", f"MayaND_fileTexture_{word}")
        colour = self.image.CreateOutput("out", self.type)
        self.after.CreateInput("inColor", self.type).ConnectToSource(colour)
        self.after.CreateInput("uvCoord", names.Float2)
        self.after.CreateOutput("outColor", self.type)
        name = self.value("fileTextureName")
        file = self.image.CreateInput("file", names.Asset)
        tiled = self.value("uvTilingMode") == 3
        path = self._written_path(name)
        file.Set(Sdf.AssetPath(re.sub(r"\b1\d{3}\b(?=\.\w+$)", "<UDIM>", path) if tiled else path))
        for each in ("uaddressmode", "vaddressmode"):
            self.image.CreateInput(each, names.String).Set("periodic")
        space = self.value("colorSpace")
        if space != material.scene.file_rule(name):
            file.GetAttr().SetColorSpace(space)
            self.after.CreateInput("colorSpace", names.String).Set(space)
        self.after.CreateInput("defaultColor", self.type).Set(
            self._sized(self.value("defaultColor"), 1.0)
        )
        for colour_name, alpha in (("colorGain", "alphaGain"), ("colorOffset", "alphaOffset")):
            held = [self.find(colour_name), self.find(alpha)]
            if any(own and self.is_authored(own) for own in held):
                port = self.after.CreateInput(colour_name, self.type)
                port.Set(self._sized(self.value(colour_name), self.value(alpha)))
        for each, kind in (("invert", names.Bool), ("exposure", names.Float)):
            own = self.find(each)
            if own and self.is_authored(own):
                self.after.CreateInput(each, kind).Set(self.value(each))
        uv = self.find("uvCoord")
        if uv and not self.is_fed(uv):
            material_input = material.material.CreateInput(f"{node}:varname", names.String)
            material_input.Set("st")
            reader = material.add("shared_MayaGeomPropValue", "ND_geompropvalue_vector2")
            reader.CreateInput("geomprop", names.String).ConnectToSource(material_input)
            uv_out = reader.CreateOutput("out", names.Float2)
            self.image.CreateInput("texcoord", names.Float2).ConnectToSource(uv_out)

    def _found(self, name: str) -> Path | None:
        """`MRenderUtil::exactFileTextureName` looks in the project."""
        folders = (Path(), Path(self.material.scene.project or "/nowhere"))
        return next((folder / name for folder in folders if (folder / name).is_file()), None)

    def _written_path(self, name: str) -> str:
        """`ResolveUsdTextureFileName`: relative to the USD file within the project, else
        absolute."""
        found = self._found(name)
        path = Path(os.path.normpath(Path.cwd() / (found or name)))
        project = self.material.scene.project
        if project and path.is_relative_to(project):
            return Path(os.path.relpath(path, self.material.folder)).as_posix()
        return path.as_posix()

    def _open_texture(self) -> int:
        """`GetNumberOfChannels` opens the image; without one it counts four."""
        name = self.value("fileTextureName")
        self.material.scene.opened.append(name)
        found = self._found(name)
        data = found.read_bytes()[:26] if found else b""
        # the colour type of a PNG
        return {0: 1, 2: 3, 4: 2, 6: 4}[data[25]] if data[:4] == b"\x89PNG" else 4

    def _sized(self, colour: Any, alpha: float) -> Any:
        values = [float(each) for each in (*colour, alpha)]
        if self.channels == 4:
            return tuple(values)
        return values[0] if self.channels == 1 else tuple(values[: self.channels])

    def attribute(self, name: str, wanted: Any) -> Any:
        from pxr import Sdf

        out = self.after.GetOutput("outColor")
        if name == "outColor":
            return self.material.convert(out, wanted)
        if name == "outAlpha":
            if self.value("alphaIsLuminance") or self.channels == 3:
                return self._luminance(out)
            return self.material.extract(out, min(3, self.channels - 1))
        place = {"outColorR": 0, "outColorG": 1, "outColorB": 2}.get(name)
        if place is not None:
            return self.material.extract(out, place)
        if name == "uvCoord":
            return self.image.CreateInput("texcoord", Sdf.ValueTypeNames.Float2)
        if name in ("defaultColor", "colorGain", "colorOffset"):
            port = self.after.CreateInput(name, self.type)
            port.GetAttr().Clear()
            return port
        return None

    def _luminance(self, out: Any) -> Any:
        if self.channels < 3:
            return out
        kind = MTLX[str(out.GetTypeName())]
        made = self.material.add(f"MayaLuminance_{self.node}", f"ND_luminance_{kind}")
        made.CreateInput("in", out.GetTypeName()).ConnectToSource(out)
        return self.material.extract(made.CreateOutput("out", out.GetTypeName()), 0)

    def finish(self) -> None:
        source = self.image.GetInput("texcoord")
        if source and source.HasConnectedSource():
            into = self.after.GetInput("uvCoord")
            into.ConnectToSource(source.GetConnectedSources()[0][0])


class Place2d(Writer):
    """`MtlxUsd_Place2dTextureWriter`: a reader of uvs where nothing was changed."""

    def __init__(self, material: Material, node: str) -> None:
        from pxr import Sdf

        super().__init__(material, node)
        names = Sdf.ValueTypeNames
        fed = sorted(
            target.partition(".")[0]
            for target, source in material.scene.connections.items()
            if source == f"{node}.outUV"
        )
        held = [own for each in _PLACEMENT if (own := self.find(each)) and self.is_authored(own)]
        self.is_plain = not held
        if self.is_plain:
            reader = self.shader = material.add(node, "ND_geompropvalue_vector2")
        else:
            self.shader = material.add(node, "MayaND_place2dTexture_vector2")
            reader = material.add(f"{node}_MayaGeomPropValue", "ND_geompropvalue_vector2")
        uv = reader.CreateOutput("out", names.Float2)
        if fed:
            name = f"{min(fed, key=lambda each: (len(each), each))}:varname"
            on_material = material.material.CreateInput(name, names.String)
            on_material.Set("st")
            on_graph = material.graph().CreateInput(name, names.String)
            on_graph.ConnectToSource(on_material)
            reader.CreateInput("geomprop", names.String).ConnectToSource(on_graph)
        if not self.is_plain:
            self.shader.CreateInput("uvCoord", names.Float2).ConnectToSource(uv)
            self.shader.CreateOutput("outUV", names.Float2)
            for own in held:
                value = self.value(own.long)
                self.shader.CreateInput(own.long, usd_type(own)).Set(value)

    def attribute(self, name: str, wanted: Any) -> Any:
        if name == "outUV":
            return self.shader.GetOutput("out" if self.is_plain else "outUV")
        return None


def _standard(name: str) -> str:
    special = {"normalCamera": "normal", "tangentUCamera": "tangent"}
    return special.get(name) or _snake(name, "_IOR")


def _openpbr(name: str) -> str:
    special = {"normalCamera": "geometry_normal", "tangentUCamera": "geometry_tangent"}
    return special.get(name) or _snake(name, "_ior")


def _snake(name: str, ior: str) -> str:
    plain = re.sub("IOR$", ior, name)
    return re.sub(r"(?<=[a-z])([A-Z])(?!OR$)", lambda found: f"_{found[1].lower()}", plain)


WRITERS: dict[str, tuple[Any, ...]] = {
    "standardSurface": (Surface, "ND_standard_surface_surfaceshader", _standard),
    "openPBRSurface": (Surface, "ND_open_pbr_surface_surfaceshader", _openpbr),
    "usdPreviewSurface": (Surface, "ND_UsdPreviewSurface_surfaceshader", str),
    "lambert": (Symmetric, "MayaND_lambert_surfaceshader", False),
    "phong": (Symmetric, "MayaND_phong_surfaceshader", False),
    "blinn": (Symmetric, "MayaND_blinn_surfaceshader", False),
    "floatCorrect": (Symmetric, "LdkND_FloatCorrect_float", True),
    "colorCorrect": (Symmetric, "LdkND_ColorCorrect_color4", True),
    "clamp": (Symmetric, "MayaND_clamp_vector3", True),
    "file": (File,),
    "place2dTexture": (Place2d,),
}
"""The node types with a writer. MaterialXSurfaceShader has one, too, which reads its document."""
