"""Many nodes in one document, selected by the place of the sample."""

import numpy as np

from verdigris.core.material.evaluator import Frames
from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.teacher.teacher import Teacher

from .surfaces import node, probe

SAMPLES = 200
OFFSET = 4096.0  # what is not finite is given off as 0, so every finite value is lifted above it
# Values between 0.1 and 0.9 that vary over uv, three nodes for each type that an input can have.
TYPES = ("float", "vector2", "vector3", "vector4", "color3", "color4")
RANGES = {
    "float_in0": ("@u", "0.3", "0.5"),
    "float_in1": ("@v", "0.9", "0.7"),
    "float_in2": ("@u", "0.6", "0.55"),
}


def sources():
    text = node("position", "place", "vector3", {})
    text += node("extract", "place_x", "float", {"in": ("vector3", "@place")})
    text += node("floor", "turn", "float", {"in": ("float", "@place_x")})
    for name, (source, low, high) in RANGES.items():
        ports = {"in": source, "outlow": low, "outhigh": high}
        text += node("range", name, "float", {port: ("float", x) for port, x in ports.items()})
    for kind in TYPES[1:]:
        size = int(kind[-1])
        for turn in range(3):
            ports = {f"in{at + 1}": ("float", f"@float_in{(turn + at) % 3}") for at in range(size)}
            text += node(f"combine{size}", f"{kind}_in{turn}", kind, ports)
    return text


VALUES = (*TYPES, "integer", "boolean", "matrix33", "matrix44")
GROUPS = (
    "texture2d",
    "texture3d",
    "procedural",
    "procedural2d",
    "procedural3d",
    "geometric",
    "application",
    "math",
    "adjustment",
    "conditional",
    "channel",
    "compositing",
    "colortransform",
    "convolution2d",
    "organization",
    "translation",
    "npr",
    "pbr",
)
# What a place on a surface does not have, or what is no value of a surface.
LEFT_OUT = {"geompropvalue", "geompropvalueuniform", "usdprimvarreader"}


def definitions(types, groups=GROUPS):
    found = [
        definition
        for definition in standard_library().getNodeDefs()
        if definition.getNodeGroup() in groups
        and definition.getNodeString().lower() not in LEFT_OUT
        and any(output.getType() in types for output in definition.getActiveOutputs())
    ]
    return sorted(found, key=lambda definition: definition.getName())


def wired(definition, name, file="grid.png"):
    """A node of this definition whose inputs, as far as they may, vary over uv."""
    inputs, turn = {}, 0
    for port in definition.getActiveInputs():
        kind = port.getType()
        if kind == "filename":
            inputs[port.getName()] = (kind, file)
        elif port.getIsUniform() or port.hasAttribute("enum") or port.hasDefaultGeomPropString():
            continue
        elif kind in TYPES and not _is_beyond_one(port):
            inputs[port.getName()] = (kind, f"@{kind}_in{turn % 3}")
            turn += 1
        elif kind in ("BSDF", "EDF", "surfaceshader"):
            inputs[port.getName()] = (kind, f"@some_{kind}")
    outputs = definition.getActiveOutputs()
    kind = "multioutput" if len(outputs) > 1 else outputs[0].getType()
    text = node(definition.getNodeString(), name, kind, inputs)
    return text.replace(">", f' nodedef="{definition.getName()}">', 1)


def _is_beyond_one(port):
    """Whether a default says that values between 0 and 1 are not what a port is made for."""
    return port.getType() == "float" and float(port.getValueString() or 0) > 1


def shown(source, output, kind, name):
    """Nodes that turn a value of any type into a color3."""
    port = f'nodename="{source}"' + (f' output="{output}"' if output else "")
    if kind in ("matrix33", "matrix44"):
        prefix = one_input("determinant", f"{name}_d", "float", kind, port)
        port, kind = f'nodename="{name}_d"', "float"
    else:
        prefix = ""
    if kind == "color3":
        return prefix + one_input("dot", name, "color3", kind, port)
    if kind in ("integer", "boolean"):
        prefix += one_input("convert", f"{name}_f", "float", kind, port)
        port, kind = f'nodename="{name}_f"', "float"
    return prefix + one_input("convert", name, "color3", kind, port)


def one_input(category, name, kind, input_kind, port):
    inside = f'<input name="in" type="{input_kind}" {port}/>'
    return f'<{category} name="{name}" type="{kind}">{inside}</{category}>'


def turns(count, batch):
    """Samples whose place says which node is looked at: its number is the cell of x."""
    random = np.random.default_rng(batch)
    which = np.repeat(np.arange(count), SAMPLES)
    position = random.uniform(0.1, 0.9, (len(which), 3))
    position[:, 0] += which
    axes = (np.tile(axis, (len(which), 1)) for axis in np.eye(3))
    uv = random.random((len(which), 2)).astype(np.float32)
    return which, uv, Frames(position, *axes)


def glow_by_turn(shown_parts, batch, offset=OFFSET, **options):
    """What each of the nodes `shown_0`, `shown_1`, ... gives, (count, SAMPLES, 3)."""
    count = len(shown_parts)
    body = "".join(shown_parts) + node("constant", "pick_0", "color3", {})
    for at in range(count):
        inputs = {
            "value1": ("float", "@turn"),
            "value2": ("float", str(at)),
            "in1": ("color3", f"@shown_{at}"),
            "in2": ("color3", f"@pick_{at}"),
        }
        body += node("ifequal", f"pick_{at + 1}", "color3", inputs)
    lifted = {"in1": ("color3", f"@pick_{count}"), "in2": ("float", str(offset))}
    body += node("add", "lifted", "color3", lifted)
    teacher = Teacher(probe(sources() + body, "lifted", **options))
    which, uv, frames = turns(count, batch)
    wo = np.tile(np.float32([0, 0, 1]), (len(which), 1))
    result = teacher.unlit(uv, wo, frames)[:, :3].astype(np.float64).reshape(count, SAMPLES, 3)
    return uv.reshape(count, SAMPLES, 2).astype(np.float64), result - offset
