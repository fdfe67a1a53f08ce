"""The rungs of a ladder in a Maya scene: a display layer with a copy of the mesh for each.

The layers are named like levels of detail. That of the neural rung holds the mesh itself; the
copies in the others are hidden until their layer is shown. Notes mark what was made, so that it is
found and replaced when another ladder of the material is attached.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import (
    VIEWPORT_SUFFIX,
    HostMaterial,
    LadderLook,
    RungLook,
)
from verdigris.core.settings.rung_names import DETAIL, NEURAL, VERTEX
from verdigris.plugins.maya.scene.assignments import assignment_of
from verdigris.plugins.maya.scene.materials import engines_of
from verdigris.plugins.maya.scene.nodes import (
    LEVEL_OF,
    free_name,
    nodes_with,
    note_text,
    parent_of,
    refuse_locked,
    text_of,
)
from verdigris.plugins.maya.scene.surface_shader import STANDARD_SURFACE, make_shader
from verdigris.plugins.maya.scene.viewport import make_viewport_material, viewport_engine

BELOW = "verdigrisBelowPixels"


def parts_of(material: HostMaterial, meshes: Sequence[str]) -> dict[str, list[str]]:
    """By mesh: the faces that have the material, an empty text for all. Copies are left out."""
    engines = engines_of(material)
    found: dict[str, list[str]] = {}
    for mesh in meshes:
        refuse_locked(mesh)
        if text_of(parent_of(mesh), LEVEL_OF):
            continue
        parts = [each.part for each in assignment_of(mesh, engines)] if engines else []
        if parts:
            found[mesh] = parts
    if not found:
        raise HostError(
            f"{material.name}: no mesh of Maya's has it: assign it to one. A mesh on a USD stage "
            "takes its rungs from the ladder's .usdc file: reference it, and choose the variant"
        )
    return found


def can_show(rung: RungLook) -> bool:
    """Whether Maya has nodes for a rung: it displays no light of vertices, and of surface shaders
    it has Standard Surface in all versions."""
    if rung.shader is not None:
        return rung.shader.category == STANDARD_SURFACE
    return rung.name not in (VERTEX, DETAIL)


def make_levels(
    material: HostMaterial, parts: dict[str, list[str]], ladder: LadderLook
) -> list[str]:
    """Makes a layer for each rung that Maya can show, and returns the names of the layers."""
    _remove(material)
    plain = re.sub(r"\W", "_", material.name.rpartition("|")[2], flags=re.ASCII)
    layers = []
    for number, rung in enumerate(each for each in ladder.rungs if can_show(each)):
        if rung.name == NEURAL:
            members = [parent_of(mesh) for mesh in parts]
        else:
            engine = _engine_of(material, plain, rung)
            members = [_copy(material, mesh, faces, rung, engine) for mesh, faces in parts.items()]
        name = free_name(f"{plain}_LOD{number}_{rung.name}")
        layer = cmds.createDisplayLayer(name=name, empty=True, noRecurse=True)
        note_text(layer, LEVEL_OF, material.key)
        if rung.below_pixels:
            note_text(layer, BELOW, str(rung.below_pixels))
        cmds.editDisplayLayerMembers(layer, *members, noRecurse=True)
        if rung.name != NEURAL:
            cmds.setAttr(f"{layer}.visibility", False)
        layers.append(layer.removeprefix(":"))
    return layers


def _remove(material: HostMaterial) -> None:
    """Deletes what was made for another ladder of this material."""
    made = [node for node in nodes_with(LEVEL_OF) if text_of(node, LEVEL_OF) == material.key]
    if made:
        cmds.delete(*made)


def _copy(material: HostMaterial, mesh: str, faces: list[str], rung: RungLook, engine: str) -> str:
    """A copy of a mesh whose faces of the material show the rung. Returns its transform."""
    name = f"{parent_of(mesh).rpartition('|')[2].rpartition(':')[2]}_{rung.name}"
    copied = cmds.duplicate(parent_of(mesh), name=free_name(name), returnRootsOnly=True)[0]
    # a copy has the children of its source, too
    below = cmds.listRelatives(copied, children=True, type="transform", fullPath=True)
    if below:
        cmds.delete(*below)
    note_text(copied, LEVEL_OF, material.key)
    cmds.sets(*(f"{copied}.{part}" if part else copied for part in faces), edit=True,
              forceElement=engine)  # fmt: skip
    return str(copied)


def _engine_of(material: HostMaterial, plain: str, rung: RungLook) -> str:
    """The shading group of a rung: of lit textures that of the baked look, and else light."""
    if rung.textures:
        make_viewport_material(material, rung.textures)
        return viewport_engine(material)
    name = f"{plain}_{rung.name}"
    if rung.shader is not None:
        return make_shader(rung.shader, name, lambda node: note_text(node, LEVEL_OF, material.key))
    shader = cmds.shadingNode(
        "surfaceShader", asShader=True, skipSelect=True, name=free_name(name, VIEWPORT_SUFFIX)
    )
    file = cmds.shadingNode(
        "file", asTexture=True, skipSelect=True, name=free_name(f"{name}_light")
    )
    engine = cmds.sets(
        renderable=True, noSurfaceShader=True, empty=True,
        name=free_name(f"{name}{VIEWPORT_SUFFIX}SG"),
    )  # fmt: skip
    for node in (shader, file, engine):
        note_text(node, LEVEL_OF, material.key)
    assert rung.light is not None and rung.light.shown is not None
    cmds.setAttr(f"{file}.ignoreColorSpaceFileRules", True)
    cmds.setAttr(f"{file}.fileTextureName", rung.light.shown.as_posix(), type="string")
    cmds.setAttr(f"{file}.colorSpace", "sRGB", type="string")
    cmds.connectAttr(f"{file}.outColor", f"{shader}.outColor")
    if rung.has_alpha:
        cmds.connectAttr(f"{file}.outTransparency", f"{shader}.outTransparency")
    cmds.connectAttr(f"{shader}.outColor", f"{engine}.surfaceShader")
    return str(engine)
