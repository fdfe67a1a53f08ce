"""The images of a document: their colour spaces, and images that only Houdini has."""

from __future__ import annotations

import xml.etree.ElementTree as xml

from verdigris.core.material.graph.colour_spaces import name_in_materialx
from verdigris.core.material.usd.usd_values import NODE_SCHEME

# Houdini's renderers read texels of other types, numbers and vectors, as they are.
_COLOURS = ("color3", "color4")
_AUTOMATIC = ("", "auto", "automatic")


def with_file_rules(text: str) -> str:
    """The document with the colour spaces that Houdini chooses by the names of files; without a
    space, MaterialX reads colours as they are. The report of a bake names spaces that MaterialX
    lacks."""
    try:
        # Houdini ships it
        import PyOpenColorIO as ocio
    except ImportError:
        return text
    try:
        config = ocio.GetCurrentConfig()
    except ocio.Exception:
        # the configuration is damaged, and Houdini cannot read it either
        return text
    root = xml.fromstring(text)
    changed = False
    for node in root.iter():
        ports = node.findall("input[@type='filename']") if node.get("type") in _COLOURS else ()
        for port in ports:
            if port.get("colorspace", "").lower() not in _AUTOMATIC or not port.get("value"):
                continue
            rule, _ = config.getColorSpaceFromFilepath(port.get("value"))
            # rules may name a role or an alias
            space = config.getColorSpace(rule)
            port.set("colorspace", name_in_materialx(space.getName() if space else rule))
            changed = True
    if not changed:
        return text
    return _written(root)


def without_nodes(text: str) -> tuple[str, list[str]]:
    """The document without images that COPs compute, and a line for each with the way to a file."""
    if NODE_SCHEME not in text:
        return text, []
    root, notes = xml.fromstring(text), []
    for node in root.iter():
        for port in node.findall("input[@type='filename']"):
            cop = port.get("value", "")
            if cop.startswith(NODE_SCHEME):
                port.set("value", "")
                notes.append(
                    f"the image {node.get('name')} is computed by {cop.removeprefix(NODE_SCHEME)} "
                    "and not in a file, so its plain colour was used: append a ROP Image to this "
                    "COP, press Render to Disk, and choose the written file in the image node"
                )
    return (_written(root), notes) if notes else (text, [])


def _written(root: xml.Element) -> str:
    return f'<?xml version="1.0"?>\n{xml.tostring(root, encoding="unicode")}\n'
