"""Stored light as a MaterialX document, for renderers that read MaterialX on USD stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from verdigris.core.hosts.host import MIRROR_RIM

if TYPE_CHECKING:
    import MaterialX as mx

OPACITY = "opacity"
"""The use of an image of opacity on the uv set of the material."""
# Detail d multiplies colours by 4 d^2: half of the range is neutral, and dark steps are fine.
DETAIL_SCALE = 4.0
_LIGHTS = "light", "colour"
_DETAIL, _SHARE, _MIRROR = "detail", "share", "mirror"


def light_document(
    files: Mapping[str, str],
    numbers: Mapping[str, Any],
    uv_sets: tuple[str, str],
    is_mirrored: bool = False,
) -> str:
    """The document of a rung's files and numbers. `uv_sets` are those of detail and of light.
    `is_mirrored` adds mirrored light, for which renderers need the view direction."""
    import MaterialX as mx

    root = mx.createDocument()
    first, unique = (_node(root, "geompropvalue", "vector2", geomprop=name) for name in uv_sets)
    file = next(files[use] for use in _LIGHTS if use in files)
    light = _to_light(root, _vectors(root, file, unique), numbers["curve"])
    inputs: dict[str, Any] = {}
    if is_mirrored:
        mirror = _vectors(root, files[_MIRROR], _mirror_uv(root))
        mirrored = _to_light(root, mirror, numbers["mirror_curve"])
        share = _vectors(root, files[_SHARE], unique)
        light = _calculate(root, "add", light, _calculate(root, "multiply", share, mirrored))
    if _DETAIL in files:
        detail = _node(root, "image", "float", file=files[_DETAIL], texcoord=first)
        squared = _calculate(root, "multiply", detail, detail)
        scale = _calculate(root, "multiply", squared, DETAIL_SCALE)
        light = _calculate(root, "multiply", light, scale)
    if OPACITY in files:
        inputs["opacity"] = _node(root, "image", "float", file=files[OPACITY], texcoord=first)
    elif "alpha_mode" in numbers:
        whole = _node(root, "image", "vector4", file=file, texcoord=unique)
        inputs["opacity"] = _node(root, "extract", "float", **{"in": whole, "index": 3})
    colour = _node(root, "convert", "color3", **{"in": light})
    surface = _node(root, "surface_unlit", "surfaceshader", emission_color=colour, **inputs)
    _node(root, "surfacematerial", "material", surfaceshader=surface)
    return str(mx.writeToXmlString(root))


def _vectors(root: mx.Document, file: str, uv: mx.Node) -> mx.Node:
    """An image that programs do not mistake for colours in sRGB."""
    return _node(root, "image", "vector3", file=file, texcoord=uv)


def _to_light(root: mx.Document, stored: mx.Node, curve: Mapping[str, float]) -> mx.Node:
    """stored / ((c stored + a) stored + b)"""
    slope = _calculate(root, "add", _calculate(root, "multiply", stored, curve["c"]), curve["a"])
    divisor = _calculate(root, "add", _calculate(root, "multiply", stored, slope), curve["b"])
    return _calculate(root, "divide", stored, divisor)


def _mirror_uv(root: mx.Document) -> mx.Node:
    """The place of the mirrored view direction on the octahedral map. Directions are taken in world
    space and then transformed, because MaterialX's hardware shaders ignored another space before
    1.39.2."""
    eye = _node(root, "viewdirection", "vector3", space="world")
    normal = _node(root, "normal", "vector3", space="world")
    across = _calculate(root, "dotproduct", eye, normal, "float")
    twice = _calculate(root, "multiply", normal, _calculate(root, "multiply", across, 2.0))
    mirrored = _calculate(root, "subtract", eye, twice)
    own = _node(root, "transformvector", "vector3", fromspace="world", tospace="object",
                **{"in": mirrored})  # fmt: skip
    far = _node(root, "absval", "vector3", **{"in": own})
    one = _node(root, "constant", "vector3", value=(1.0, 1.0, 1.0))
    scaled = _calculate(root, "divide", own, _calculate(root, "dotproduct", far, one, "float"))
    x, y, z = (_part(root, scaled, axis) for axis in range(3))
    far_x, far_z = (_node(root, "absval", "float", **{"in": each}) for each in (x, z))
    places = []
    for along, other in ((x, far_z), (z, far_x)):
        back = _calculate(root, "subtract", other, 1.0)
        rest = _calculate(root, "multiply", back, -1.0)
        folded = _node(root, "ifgreatereq", "float", value1=along, value2=0.0, in1=rest, in2=back)
        place = _node(root, "ifgreatereq", "float", value1=y, value2=0.0, in1=along, in2=folded)
        halved = _calculate(root, "add", _calculate(root, "multiply", place, 0.5), 0.5)
        places.append(_node(root, "clamp", "float", low=MIRROR_RIM, high=1.0 - MIRROR_RIM,
                            **{"in": halved}))  # fmt: skip
    return _node(root, "combine2", "vector2", in1=places[0], in2=places[1])


def _part(root: mx.Document, vector: mx.Node, axis: int) -> mx.Node:
    return _node(root, "extract", "float", index=axis, **{"in": vector})


def _calculate(
    root: mx.Document, category: str, one: mx.Node, other: mx.Node | float, kind: str = ""
) -> mx.Node:
    return _node(root, category, kind or one.getType(), in1=one, in2=other)


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
        elif isinstance(value, tuple):
            made.setInputValue(name, mx.Vector3(*value), "vector3")
        else:
            made.setInputValue(name, value, "filename" if name == "file" else "string")
    return made
