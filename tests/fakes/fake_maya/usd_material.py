"""The prims of a material that maya-usd writes, by Autodesk/maya-usd,
lib/usd/translators/shading/mtlxBaseWriter.cpp."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .node_types import Attribute

if TYPE_CHECKING:
    from .scene import Scene

MTLX = {"float": "float", "float2": "vector2", "color3f": "color3", "color4f": "color4",
         "float3": "vector3"}  # fmt: skip


def usd_type(own: Attribute) -> Any:
    """`Converter::getUsdTypeName`."""
    from pxr import Sdf

    names = Sdf.ValueTypeNames
    if own.kind in ("float3", "double3"):
        return names.Color3f if own.is_color else names.Float3
    if own.kind in ("float2", "double2"):
        return names.Float2
    known = {"bool": names.Bool, "string": names.String, "enum": names.Int, "long": names.Int,
             "short": names.Int, "byte": names.Int}  # fmt: skip
    return None if own.kind in ("message", "compound") else known.get(own.kind, names.Float)


class Material:
    """The prims of one material."""

    def __init__(
        self, scene: Scene, stage: Any, material: Any, folder: Path, known: dict[str, Any]
    ) -> None:
        self.scene, self.stage, self.material, self.folder = scene, stage, material, folder
        self._known = known
        self.writers: dict[str, Any] = {}

    def writer(self, node: str) -> Any:
        """The writer of a node, which writes it at first."""
        kind = self.scene.nodes[node]["type"]
        if kind not in self._known:
            return None
        if node not in self.writers:
            make, *given = self._known[kind]
            self.writers[node] = make(self, node, *given)
        return self.writers[node]

    def graph(self) -> Any:
        """`MtlxUsd_BaseWriter::GetNodeGraph`."""
        from pxr import UsdShade

        path = self.material.GetPath()
        return UsdShade.NodeGraph.Define(self.stage, path.AppendChild(f"MayaNG_{path.name}"))

    def add(self, name: str, identifier: str, in_graph: bool = True) -> Any:
        from pxr import UsdShade

        above = (self.graph() if in_graph else self.material).GetPath()
        plain = name.rpartition("|")[2].replace(":", "_")
        shader = UsdShade.Shader.Define(self.stage, above.AppendChild(plain))
        shader.CreateIdAttr(identifier)
        return shader

    def connect(self, into: Any, out: Any) -> None:
        from pxr import UsdShade

        UsdShade.ConnectableAPI.ConnectToSource(into.GetAttr(), out)

    def extract(self, output: Any, channel: int) -> Any:
        """`ExtractChannel`: a swizzle, as MaterialX 1.38 has it."""
        from pxr import Sdf

        kind = str(output.GetTypeName())
        letters = "xyzw" if kind.startswith("float") else "rgba"
        if kind == "float":
            return output
        letter = letters[channel]
        name = output.GetPrim().GetName()
        made = self.add(f"MayaSwizzle_{name}_{letter}", f"ND_swizzle_{MTLX[kind]}_float")
        made.CreateInput("in", output.GetTypeName()).ConnectToSource(output)
        made.CreateInput("channels", Sdf.ValueTypeNames.String).Set(letter)
        return made.CreateOutput("out", Sdf.ValueTypeNames.Float)

    def convert(self, output: Any, wanted: Any) -> Any:
        """`AddConversion`."""
        from pxr import Sdf

        if not wanted or output.GetTypeName() == wanted:
            return output
        here, there = str(output.GetTypeName()), str(wanted)
        if there == "float":
            return self.extract(output, 0)
        made = self.add(
            f"MayaConvert_{output.GetPrim().GetName()}", f"ND_convert_{MTLX[here]}_{MTLX[there]}"
        )
        made.CreateInput("in", output.GetTypeName()).ConnectToSource(output)
        return made.CreateOutput("out", getattr(Sdf.ValueTypeNames, there[0].upper() + there[1:]))

    def combine(self, port: Any, own: Attribute, node: str, channel: int) -> Any:
        """`AddConstructor`: one component is connected, the others keep their values."""
        from pxr import Sdf

        kind = MTLX[str(port.GetTypeName())]
        name = f"MayaConstructor_{port.GetPrim().GetName()}_{port.GetBaseName()}"
        made = self.add(name, f"ND_combine{len(own.children)}_{kind}")
        known = made.GetInput(f"in{channel + 1}")
        if known:
            known.GetAttr().Clear()
            return known
        port.ConnectToSource(made.CreateOutput("out", port.GetTypeName()))
        values = self.scene.value(f"{node}.{own.long}")
        for place in range(len(own.children)):
            each = made.CreateInput(f"in{place + 1}", Sdf.ValueTypeNames.Float)
            if place != channel:
                each.Set(float(values[place]))
        return made.GetInput(f"in{channel + 1}")
