"""Arnold's standard surface: read from its node in Maya, or from Arnold's MaterialX export.

The node and the textures that feed it are read here, which changes nothing in the scene. A network
with other nodes goes through the export of MtoA, which translates the whole network.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.documents import material_names
from verdigris.core.hosts.host import HostDocument
from verdigris.plugins.maya.arnold_document import (
    NORMALS,
    PARAMETERS,
    Document,
    mtlx_name,
    safe_name,
    translate_export,
    vector_text,
)
from verdigris.plugins.maya.scene.colours import rendering_space
from verdigris.plugins.maya.scene.documents import make_document
from verdigris.plugins.maya.scene.textures import TextureReader, UnknownNodeError, feed_of

KIND = "aiStandardSurface"
# MtoA adds this attribute to shading groups, for a shader that it renders instead of the
# viewport's.
_OWN_SURFACE = "aiSurfaceShader"
_EXPORT = "arnoldExportToMaterialX"


def arnold_surface(engine: str, shader: str) -> str:
    """The aiStandardSurface of a shading group: its shader for Arnold, or its surface. Empty if it
    has none."""
    own = ""
    if cmds.attributeQuery(_OWN_SURFACE, node=engine, exists=True):
        own, _ = feed_of(f"{engine}.{_OWN_SURFACE}")
    return next((each for each in (own, shader) if each and cmds.nodeType(each) == KIND), "")


def read_arnold(engine: str, shader: str, name: str, members: tuple[str, ...]) -> HostDocument:
    """The document of an aiStandardSurface. `members` are the meshes of its shading group."""
    try:
        text, notes = _read_node(shader, name)
    except UnknownNodeError as unknown:
        text, notes = _export(name, members, unknown), []
    # Arnold names a material by its shading group
    there = material_names(text, name)
    preferred = next((each for each in map(safe_name, (name, engine)) if each in there), name)
    found = make_document(text, name, preferred)
    return HostDocument(
        found.name, found.text, found.material, found.search, (*notes, *found.notes)
    )


def _read_node(shader: str, name: str) -> tuple[str, list[str]]:
    document = Document(name, rendering_space())
    reader = TextureReader(document)
    inputs = {}
    for parameter, kind in PARAMETERS.items():
        plug = f"{shader}.{parameter}"
        if not cmds.attributeQuery(parameter, node=shader, exists=True):
            continue
        inputs[mtlx_name(parameter)] = (kind, reader.read(plug, kind) or _value(plug, kind))
    for parameter, port in NORMALS.items():
        node = reader.read_normal(f"{shader}.{parameter}")
        if node:
            inputs[port] = ("vector3", node)
    surface = document.add("standard_surface", "surfaceshader", f"{name}_surface", **inputs)
    return document.text(surface), reader.notes


def _value(plug: str, kind: str) -> str:
    value = cmds.getAttr(plug)
    if kind == "boolean":
        return "true" if value else "false"
    return vector_text(value[0] if kind == "color3" else [value])


def _export(name: str, members: tuple[str, ...], unknown: UnknownNodeError) -> str:
    """The network through MtoA, which exports the materials of meshes."""
    if not members or not hasattr(cmds, _EXPORT):
        reason = "load Arnold (mtoa)" if members else "assign the material to a mesh"
        raise HostError(
            f"{unknown}, which only Arnold can export: {reason}, or bake it to a texture"
        ) from None
    with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
        file = Path(folder) / "material.mtlx"
        try:
            cmds.arnoldExportToMaterialX(
                members[0], filename=file.as_posix(), look=safe_name(name), relative=True
            )
        except RuntimeError as failure:
            raise HostError(f"Arnold cannot export {name}: {failure}") from None
        if not file.is_file():
            raise HostError(
                f"Arnold did not export {name}: end the render, as it exports nothing meanwhile"
            )
        return translate_export(file.read_text(encoding="utf-8"), name)
