"""Colour spaces of images that nodes leave to the rules of the colour configuration."""

from __future__ import annotations

import xml.etree.ElementTree as xml

from verdigris.core.material.graph.colour_spaces import name_in_materialx

# Of numbers and vectors, Houdini's renderers read texels as they are.
_COLOURS = ("color3", "color4")
_AUTOMATIC = ("", "auto", "automatic")


def with_file_rules(text: str) -> str:
    """The document, with the colour spaces that Houdini chooses by the names of files: without
    them, MaterialX reads colours as they are. Those that it lacks are in the report of a bake."""
    try:
        # Houdini has it
        import PyOpenColorIO as ocio
    except ImportError:
        return text
    try:
        config = ocio.GetCurrentConfig()
    except ocio.Exception:
        # of a damaged configuration, which Houdini cannot read either
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
    return f'<?xml version="1.0"?>\n{xml.tostring(root, encoding="unicode")}\n'
