"""Small documents as text, and directions to look at them from."""

import numpy as np
import OpenImageIO as oiio

from verdigris.core.material.load.mtlx_document import parse_document

# What several documents read: u, v and a colour, each varying over the surface.
UV = """
<texcoord name="uv" type="vector2"/>
<extract name="u" type="float"><input name="in" type="vector2" nodename="uv"/></extract>
<extract name="v" type="float"><input name="in" type="vector2" nodename="uv"/>
  <input name="index" type="integer" value="1"/></extract>
<combine3 name="uv_colour" type="color3"><input name="in1" type="float" nodename="u"/>
  <input name="in2" type="float" nodename="v"/>
  <input name="in3" type="float" value="0.25"/></combine3>
<combine2 name="uu" type="vector2"><input name="in1" type="float" nodename="u"/>
  <input name="in2" type="float" nodename="u"/></combine2>
"""


def document(body, **options):
    return parse_document(f'<materialx version="1.39">{body}</materialx>', **options)


def node(category, name, kind, inputs):
    """A node of this category. An input is (type, value), or (type, "@node") for a connection."""
    lines = [f'<{category} name="{name}" type="{kind}">']
    for port, (port_kind, value) in inputs.items():
        written = f'nodename="{value[1:]}"' if value.startswith("@") else f'value="{value}"'
        lines.append(f'  <input name="{port}" type="{port_kind}" {written}/>')
    return "\n".join([*lines, f"</{category}>"])


def closure(category, inputs, before="", **options):
    """A document whose surface is one BSDF node."""
    return document(
        UV
        + before
        + node(category, "lobe", "BSDF", inputs)
        + node("surface", "surf", "surfaceshader", {"bsdf": ("BSDF", "@lobe")})
        + surface_material("surf"),
        **options,
    )


def shader(category, inputs, before="", **options):
    """A document whose surface is one shading model."""
    return document(
        UV + before + node(category, "surf", "surfaceshader", inputs) + surface_material("surf"),
        **options,
    )


def surface_material(surface, name="material"):
    return node(
        "surfacematerial", name, "material", {"surfaceshader": ("surfaceshader", f"@{surface}")}
    )


def probe(body, colour, **options):
    """A document that gives off the values of a color3 node."""
    return document(
        UV
        + body
        + node("uniform_edf", "glow", "EDF", {"color": ("color3", f"@{colour}")})
        + node("surface", "surf", "surfaceshader", {"edf": ("EDF", "@glow")})
        + surface_material("surf"),
        **options,
    )


def glow(teacher, uv):
    """What a probe gives off straight up, (N, 3)."""
    uv = np.asarray(uv, np.float32)
    up = np.tile(np.float32([0, 0, 1]), (len(uv), 1))
    return teacher.unlit(uv, up)[:, :3].astype(np.float64)


def hemisphere(random, count, least=0.02):
    """Directions uniform over the hemisphere with cosines of at least `least`, in double precision
    but exactly representable in single precision."""
    z = random.uniform(least, 1, count)
    angle = random.uniform(0, 2 * np.pi, count)
    radius = np.sqrt(1 - z * z)
    xyz = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], 1)
    return xyz.astype(np.float32).astype(np.float64)


def normalised(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def respond(teacher, uv, wi, wo, frames=None):
    single = (np.asarray(x, np.float32) for x in (uv, wi, wo))
    return teacher.response(*single, frames).astype(np.float64)


def write_image(path, texels, tile=0, **attributes):
    """Writes an image (rows, columns, channels), its first row at the top, whose file type the
    name gives and whose texels are stored as they are."""
    height, width, channels = texels.shape
    kind = {"float16": "half", "float32": "float"}.get(texels.dtype.name, texels.dtype.name)
    spec = oiio.ImageSpec(width, height, channels, kind)
    if tile:
        spec.tile_width = spec.tile_height = tile
    spec["oiio:UnassociatedAlpha"] = 1
    for name, value in attributes.items():
        spec[name] = value
    out = oiio.ImageOutput.create(str(path))
    assert out is not None, oiio.geterror()
    assert out.open(str(path), spec), out.geterror()
    assert out.write_image(np.ascontiguousarray(texels)), out.geterror()
    out.close()
