"""Stored light as a document of MaterialX, for renderers that read MaterialX on stages.

What the eye mirrors is left out: MaterialX has the view's direction only among its nodes for drawn
looks, which renderers need not know, and many take it in the space of the world alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from verdigris.core.ladder.textures.texture_files import OPACITY
from verdigris.core.ladder.unlit.unlit_models import DETAIL_SCALE

if TYPE_CHECKING:
    import MaterialX as mx

_LIGHTS = "light", "colour"
_DETAIL = "detail"


def light_document(
    files: Mapping[str, str], numbers: Mapping[str, Any], uv_sets: tuple[str, str]
) -> str:
    """The document of a rung's files and numbers. `uv_sets` are those of detail and of light."""
    import MaterialX as mx

    root = mx.createDocument()
    first, unique = (_node(root, "geompropvalue", "vector2", geomprop=name) for name in uv_sets)
    file = next(files[use] for use in _LIGHTS if use in files)
    # vectors: programs take colours of eight bits for sRGB
    stored = _node(root, "image", "vector3", file=file, texcoord=unique)
    a, b, c = (numbers["curve"][name] for name in "abc")
    slope = _node(root, "add", "vector3", in1=_node(root, "multiply", "vector3", in1=stored, in2=c),
                  in2=a)  # fmt: skip
    divisor = _node(root, "multiply", "vector3", in1=stored, in2=slope)
    divisor = _node(root, "add", "vector3", in1=divisor, in2=b)
    light = _node(root, "divide", "vector3", in1=stored, in2=divisor)
    inputs: dict[str, Any] = {}
    if _DETAIL in files:
        detail = _node(root, "image", "float", file=files[_DETAIL], texcoord=first)
        squared = _node(root, "multiply", "float", in1=detail, in2=detail)
        scale = _node(root, "multiply", "float", in1=squared, in2=DETAIL_SCALE)
        light = _node(root, "multiply", "vector3", in1=light, in2=scale)
    if OPACITY in files:
        inputs["opacity"] = _node(root, "image", "float", file=files[OPACITY], texcoord=first)
    elif "alpha_mode" in numbers:
        whole = _node(root, "image", "vector4", file=file, texcoord=unique)
        inputs["opacity"] = _node(root, "extract", "float", **{"in": whole, "index": 3})
    colour = _node(root, "convert", "color3", **{"in": light})
    surface = _node(root, "surface_unlit", "surfaceshader", emission_color=colour, **inputs)
    _node(root, "surfacematerial", "material", surfaceshader=surface)
    return str(mx.writeToXmlString(root))


def _node(root: mx.Document, category: str, kind: str, **inputs: Any) -> mx.Node:
    """A node with these inputs: nodes, file names, texts or numbers."""
    import MaterialX as mx

    made = root.addNode(category, root.createValidChildName(category), kind)
    for name, value in inputs.items():
        if isinstance(value, mx.Node):
            made.addInput(name, value.getType()).setNodeName(value.getName())
        elif isinstance(value, int):
            made.setInputValue(name, value, "integer")
        elif isinstance(value, float):
            made.setInputValue(name, value, "float")
        else:
            made.setInputValue(name, value, "filename" if name == "file" else "string")
    return made
