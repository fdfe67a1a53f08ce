"""The rungs of a ladder in a Maya scene: a display layer with a copy of the mesh for each.

The layers are named like levels of detail. The layer of the material itself contains the mesh; the
copies in the other layers are hidden until their layer is shown. Attributes mark what was made, so
that another ladder of the material replaces it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.base.json_fields import find_json
from verdigris.core.hosts.host import HostMaterial, LadderLook, RungLook
from verdigris.core.hosts.ladder_looks import read_vertices
from verdigris.plugins.maya.scene.assignments import assignment_of
from verdigris.plugins.maya.scene.materials import engines_of
from verdigris.plugins.maya.scene.nodes import (
    LEVEL_OF,
    free_name,
    identity_of,
    nodes_with,
    note_text,
    parent_of,
    refuse_locked,
    text_of,
)
from verdigris.plugins.maya.scene.rung_shaders import (
    Note,
    has_surface_shader,
    link_uv_sets,
    make_light_shader,
    make_surface_shader,
    make_vertex_shader,
    show_vertices,
)

BELOW = "verdigrisBelowPixels"
FORMER_LAYERS = "verdigrisFormerLayers"
"""The layers that the meshes were in before, by UUID: an attribute of the layer with the meshes
themselves."""
_DEFAULT_LAYER = "defaultLayer"


def parts_of(material: HostMaterial, meshes: Sequence[str]) -> dict[str, list[str]]:
    """The faces that have the material, by mesh; an empty text for all faces. Copies are left
    out."""
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
    """Whether this Maya has nodes for a rung."""
    if rung.light is not None:
        # older ladders lack a texture with the colours of the detail
        return rung.light.shown is not None
    return rung.shader is None or has_surface_shader(rung.shader.category)


def make_levels(
    material: HostMaterial, parts: dict[str, list[str]], ladder: LadderLook
) -> list[str]:
    """Makes a layer for each rung that Maya can show, and returns the names of the layers."""
    rungs = [each for each in ladder.rungs if can_show(each)]
    vertices = {each.name: read_vertices(each.vertices) for each in rungs if each.vertices}
    _remove(material)
    plain = re.sub(r"\W", "_", material.name.rpartition("|")[2], flags=re.ASCII)
    note = _marking(material)
    layers = []
    for number, rung in enumerate(rungs):
        if rung.is_material:
            members = [parent_of(mesh) for mesh in parts]
        else:
            engine, sets = _engine_of(material, plain, rung)
            members = [_copy(material, mesh, faces, rung, engine) for mesh, faces in parts.items()]
            for shape in (each for member in members for each in _shapes(member)):
                link_uv_sets(shape, sets, _first_set(rung), note)
                if rung.name in vertices:
                    show_vertices(shape, *vertices[rung.name])
        name = free_name(f"{plain}_LOD{number}_{rung.name}")
        layer = cmds.createDisplayLayer(name=name, empty=True, noRecurse=True)
        note_text(layer, LEVEL_OF, material.key)
        if rung.below_pixels:
            note_text(layer, BELOW, str(rung.below_pixels))
        if rung.is_material:
            former = [(identity_of(each), _layer_of(each)) for each in members]
            record = [(mesh, identity_of(shown_in)) for mesh, shown_in in former if shown_in]
            note_text(layer, FORMER_LAYERS, json.dumps(record))
        cmds.editDisplayLayerMembers(layer, *members, noRecurse=True)
        if not rung.is_material:
            cmds.setAttr(f"{layer}.visibility", False)
        layers.append(layer.removeprefix(":"))
    return layers


def _former_layers(node: str) -> list[tuple[str, str]]:
    """Ids of the meshes in a level, and of the layers that they were in."""
    found = find_json(text_of(node, FORMER_LAYERS) or "[]")
    pairs = found if isinstance(found, list) else []
    return [
        (str(each[0]), str(each[1])) for each in pairs if isinstance(each, list) and len(each) == 2
    ]


def _remove(material: HostMaterial) -> None:
    """Deletes what was made for another ladder of this material. Meshes return to their layers,
    unless the artist has moved them. What the artist has put under a copy goes to the copy's
    parent."""
    made = [node for node in nodes_with(LEVEL_OF) if text_of(node, LEVEL_OF) == material.key]
    for node in made:
        for mesh_id, layer_id in _former_layers(node):
            layer = next(iter(cmds.ls(layer_id)), "")
            for mesh in cmds.ls(mesh_id, long=True) if layer and layer not in made else ():
                shown_in = _layer_of(mesh)
                if shown_in and text_of(shown_in, LEVEL_OF):
                    cmds.editDisplayLayerMembers(layer, mesh, noRecurse=True)
        if node.startswith("|"):
            _keep_children(node)
    if made:
        cmds.delete(*made)


def _layer_of(transform: str) -> str:
    """The display layer of a node; empty for the default layer."""
    found = cmds.listConnections(f"{transform}.drawOverride", type="displayLayer") or []
    return next((str(each) for each in found if each != _DEFAULT_LAYER), "")


def _keep_children(copied: str) -> None:
    """Moves what the artist has put under a copy to its parent."""
    below = cmds.listRelatives(copied, children=True, type="transform", fullPath=True) or []
    # constraints belong to the copy itself, and other copies are deleted, too
    kept = [
        each
        for each in below
        if not cmds.nodeType(each).endswith("Constraint") and not text_of(each, LEVEL_OF)
    ]
    above = copied.rpartition("|")[0]
    if kept and above:
        cmds.parent(*kept, above)
    elif kept:
        cmds.parent(*kept, world=True)


def _copy(material: HostMaterial, mesh: str, faces: list[str], rung: RungLook, engine: str) -> str:
    """A copy of a mesh whose faces of the material show the rung. Returns its transform."""
    name = f"{parent_of(mesh).rpartition('|')[2].rpartition(':')[2]}_{rung.name}"
    copied = cmds.duplicate(parent_of(mesh), name=free_name(name), returnRootsOnly=True)[0]
    # a copy also has the children of its source
    below = cmds.listRelatives(copied, children=True, type="transform", fullPath=True)
    if below:
        cmds.delete(*below)
    note_text(copied, LEVEL_OF, material.key)
    cmds.sets(*(f"{copied}.{part}" if part else copied for part in faces), edit=True,
              forceElement=engine)  # fmt: skip
    return str(copied)


def _shapes(transform: str) -> list[str]:
    """The meshes of a copy that are displayed."""
    found = cmds.listRelatives(transform, children=True, type="mesh", fullPath=True) or []
    return list(cmds.ls(*found, noIntermediate=True, long=True)) if found else []


def _marking(material: HostMaterial) -> Note:
    return lambda node: note_text(node, LEVEL_OF, material.key)


def _first_set(rung: RungLook) -> str:
    """The first uv set of the ladder's mesh."""
    if rung.shader is not None:
        return rung.shader.uv_set
    return rung.light.uv_set_of_detail if rung.light is not None else ""


def _engine_of(material: HostMaterial, plain: str, rung: RungLook) -> tuple[str, dict[str, str]]:
    """The shading group of a rung, and the uv set of each texture."""
    name, note = f"{plain}_{rung.name}", _marking(material)
    if rung.shader is not None:
        return make_surface_shader(rung.shader, name, note)
    if rung.light is not None:
        return make_light_shader(rung.light, rung.has_alpha, name, note)
    return make_vertex_shader(name, note), {}
