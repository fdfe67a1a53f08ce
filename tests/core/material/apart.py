"""Several small documents in one, so that they compile once."""

import xml.etree.ElementTree as ET

import numpy as np

from verdigris.core.material.evaluator import Frames
from verdigris.core.material.teacher.teacher import Teacher

from .surfaces import UV, document, glow, node, probe, respond, surface_material

# Nodes that give the number of the body that a sample looks at: 64 of them along u, or the cell of
# x, which leaves u and v to the bodies.
BY_U = node("multiply", "scaled", "float", {"in1": ("float", "@u"), "in2": ("float", "64")})
BY_U += node("floor", "pick", "float", {"in": ("float", "@scaled")})
BY_X = node("position", "spot", "vector3", {})
BY_X += node("extract", "spot_x", "float", {"in": ("vector3", "@spot")})
BY_X += node("floor", "pick", "float", {"in": ("float", "@spot_x")})


def apart(body, mark):
    """The same nodes, graphs and definitions, with this mark behind the names of each."""
    root = ET.fromstring(f"<all>{body}</all>")
    names = {each.get("name") for each in root}
    own = {each.get("node") for each in root.iter("nodedef")}

    def rename(element, *keys):
        for key in keys:
            if element.get(key) in names | own:
                element.set(key, f"{element.get(key)}{mark}")

    for each in root.iter():
        if each.tag in own:
            each.tag += mark
    for top in root:
        rename(top, "name", "nodename", "nodegraph", "nodedef", "node")
        for port in top.findall("input"):
            rename(port, "nodename", "nodegraph")
            if port.get("nodename") is None and port.get("nodegraph") is None:
                rename(port, "output")
    return "".join(ET.tostring(each, encoding="unicode") for each in root)


def each_of(bodies, pick=BY_U):
    """A document that returns what the node `lobe` of one of these returns."""
    text = _sum_of(bodies, "BSDF", "lobe", pick)
    text += node("surface", "surf", "surfaceshader", {"bsdf": ("BSDF", "@sum")})
    return document(UV + text + surface_material("surf"))


def _sum_of(bodies, kind, name, pick=BY_U):
    """The nodes of all bodies, and `sum`: what the node of this name gives in one of them."""
    text, before = pick, None
    for at, body in enumerate(bodies):
        choice = {"value1": ("float", "@pick"), "value2": ("float", str(at))}
        choice |= {"in1": ("float", "1"), "in2": ("float", "0")}
        text += apart(body, f"_{at}") + node("ifequal", f"only_{at}", "float", choice)
        shown = {"in1": (kind, f"@{name}_{at}"), "in2": ("float", f"@only_{at}")}
        text += node("multiply", f"only_{name}_{at}", kind, shown)
        both = {"in1": (kind, f"@{before}"), "in2": (kind, f"@only_{name}_{at}")}
        text += node("add", f"sum_{at}", kind, both) if before else ""
        before = f"sum_{at}" if before else f"only_{name}_{at}"
    return text.replace(f'"{before}"', '"sum"')


def place(at):
    """Texture coordinates at which a document of several bodies shows this one."""
    return (at + 0.5) / 64, 0.7


def colours(bodies, **options):
    """What the node `colour` of each of these is at its place, (bodies, 3), by one kernel."""
    bodies = list(bodies)
    teacher = Teacher(probe(_sum_of(bodies, "color3", "colour"), "sum", **options))
    return glow(teacher, [place(at) for at in range(len(bodies))])


def responses(bodies, *directions):
    """What each of them returns, (bodies, directions, 3), by one kernel."""
    return look_at_each(len(bodies), Teacher(each_of(bodies)), *directions)


def responses_over_uv(bodies, uv, wi, wo):
    """The same at the same samples for each, (bodies, samples, 3). Bodies may read u and v."""
    return look_over_uv(len(bodies), Teacher(each_of(bodies, BY_X)), uv, wi, wo)


def look_over_uv(count, teacher, uv, wi, wo):
    size = len(uv)
    position = np.full((count * size, 3), 0.5)
    position[:, 0] += np.repeat(np.arange(count), size)
    axes = (np.tile(axis, (count * size, 1)) for axis in np.eye(3))
    samples = (np.tile(each, (count, 1)) for each in (uv, wi, wo))
    found = respond(teacher, *samples, Frames(position, *axes))
    return found.reshape(count, size, 3)


def look_at_each(count, teacher, wi, wo):
    u = np.repeat((np.arange(count) + 0.5) / 64, len(wi))
    uv = np.stack([u, np.full_like(u, 0.5)], 1)
    found = respond(teacher, uv, np.tile(wi, (count, 1)), np.tile(wo, (count, 1)))
    return found.reshape(count, len(wi), 3)
