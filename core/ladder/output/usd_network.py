"""A MaterialX document as a network of UsdShade, for renderers that read MaterialX on stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.graph.traversal import source_of

if TYPE_CHECKING:
    import MaterialX as mx
    from pxr import Usd, UsdShade

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
