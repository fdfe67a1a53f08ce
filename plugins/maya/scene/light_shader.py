"""A surfaceShader of Maya with stored light: textures of a file, or colours of vertices."""

from __future__ import annotations

import numpy as np
from maya import cmds
from maya.api import OpenMaya as om

from verdigris.core.geometry.mesh import FROM_Z_UP
from verdigris.core.hosts.host import StoredLight
from verdigris.plugins.maya.scene.colours import RAW, SRGB, in_rendering_space
from verdigris.plugins.maya.scene.meshes import open_mesh
from verdigris.plugins.maya.scene.shader_nodes import Note, add_node, add_shader, add_texture

COLOURS = "verdigrisLight"
"""The colour set of the rung of vertex colours."""
# Of the vertices of a mesh that a ladder does not have, those that are compared at once.
_CHUNK = 256


def make_light_shader(
    light: StoredLight, has_alpha: bool, name: str, note: Note
) -> tuple[str, dict[str, str]]:
    """Makes the shader, its textures and its shading group. `note` marks each node. Returns the
    group, and the uv set of each texture."""
    shader, engine = add_shader("surfaceShader", name, note)
    assert light.shown is not None
    colour = add_texture(light.shown, SRGB, f"{name}_light", note)
    sets = {colour: light.uv_set}
    shown, holes = f"{colour}.outColor", f"{colour}.outTransparency"
    if "detail" in light.files:
        gain = light.shown_scale * light.detail_scale
        cmds.setAttr(f"{colour}.colorGain", gain, gain, gain, type="double3")
        detail = add_texture(light.files["detail"], RAW, f"{name}_detail", note)
        sets[detail] = light.uv_set_of_detail
        grey = f"{detail}.outColor"
        shown = _product(shown, _product(grey, grey, f"{name}_square", note), name, note)
    if "opacity" in light.files:
        opacity = add_texture(light.files["opacity"], RAW, f"{name}_opacity", note)
        sets[opacity] = light.uv_set_of_detail
        reverse = add_node("reverse", f"{name}_holes", note)
        cmds.connectAttr(f"{opacity}.outColor", f"{reverse}.input")
        holes = f"{reverse}.output"
    cmds.connectAttr(shown, f"{shader}.outColor")
    if has_alpha:
        cmds.connectAttr(holes, f"{shader}.outTransparency")
    return engine, sets


def make_vertex_shader(name: str, note: Note) -> str:
    """Makes a shader that displays colours of vertices. Returns its shading group."""
    return add_shader("lambert", name, note)[1]


def link_uv_sets(mesh: str, sets: dict[str, str], first: str, note: Note) -> None:
    """Lets the textures read a uv set each of a mesh. Importers name sets anew: without one of the
    name it is the mesh's first for the ladder's first, and else its last."""
    names = cmds.polyUVSet(mesh, query=True, allUVSets=True) or []
    places = cmds.polyUVSet(mesh, query=True, allUVSetsIndices=True) or []
    for texture, wanted in sets.items():
        if not names or (wanted not in names and wanted == first):
            continue
        at = names.index(wanted) if wanted in names else -1
        # the first is read without a link
        if places[at] == places[0]:
            continue
        cmds.uvLink(make=True, uvSet=f"{mesh}.uvSet[{places[at]}].uvSetName", texture=texture)
        placed = cmds.listConnections(f"{texture}.uvCoord", source=True, destination=False)
        for chooser in (
            cmds.listConnections(f"{placed[0]}.uvCoord", source=True, destination=False) or []
        ):
            note(chooser)


def show_vertices(name: str, position: np.ndarray, colour: np.ndarray) -> None:
    """Gives a copy of a mesh the light of the nearest vertices, and displays it without lights.
    Colours are set without an undo of their own: that of the copy removes them, and a redo of it
    brings them back."""
    mesh, _ = open_mesh(name)
    points = np.array(mesh.getPoints(om.MSpace.kWorld), np.float32)[:, :3]
    if om.MGlobal.isZAxisUp():
        points = points @ FROM_Z_UP[:3, :3].astype(np.float32)
    light = in_rendering_space(colour[nearest(points, position), :3].astype(float))
    mesh.setCurrentColorSetName(mesh.createColorSet(COLOURS, False))
    colours = om.MColorArray([om.MColor((*each, 1.0)) for each in light])
    mesh.setVertexColors(colours, om.MIntArray(range(len(light))))
    # without a channel of the material, there is no lighting
    cmds.polyOptions(name, colorShadedDisplay=True, colorMaterialChannel="none")


def nearest(wanted: np.ndarray, known: np.ndarray) -> np.ndarray:
    """For each point (N, 3), the nearest known one: by cells where they agree, as those of one mesh
    do, and else by all distances."""
    step = max(float(np.ptp(known, axis=0).max()), 1e-6) * 1e-5
    cells = np.rint(np.concatenate([known, wanted]) / step).astype(np.int64)
    label = np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1)
    there = np.full(label.max() + 1, -1)
    there[label[: len(known)]] = np.arange(len(known))
    found = there[label[len(known) :]]
    missing = np.flatnonzero(found < 0)
    for part in np.split(missing, range(_CHUNK, len(missing), _CHUNK)):
        far = ((wanted[part, None] - known[None]) ** 2).sum(-1)
        found[part] = far.argmin(1)
    return found


def _product(one: str, other: str, name: str, note: Note) -> str:
    """A plug that holds the product of two, which is what the node does by default."""
    made = add_node("multiplyDivide", f"{name}_product", note)
    cmds.connectAttr(one, f"{made}.input1")
    cmds.connectAttr(other, f"{made}.input2")
    return f"{made}.output"
