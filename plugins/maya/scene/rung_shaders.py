"""The shaders that show rungs of a ladder: a standardSurface or an openPBRSurface with the textures
and numbers of MaterialX's surface shader, and a surfaceShader with stored light. `note` marks each
node that is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from maya import cmds
from maya.api import OpenMaya as om

from verdigris.core.geometry.mesh import FROM_Z_UP
from verdigris.core.hosts.host import VIEWPORT_SUFFIX, ShaderLook, ShaderTexture, StoredLight
from verdigris.plugins.maya.scene.colours import RAW, SRGB, file_space, in_rendering_space
from verdigris.plugins.maya.scene.documents import texture_name
from verdigris.plugins.maya.scene.meshes import METRES, open_mesh
from verdigris.plugins.maya.scene.nodes import free_name
from verdigris.plugins.maya.scene.viewport import TANGENT_SPACE

Note = Callable[[str], None]
# By the surface shader of MaterialX: Maya's node, and the input of the normal. Older versions lack
# openPBRSurface.
_NODES = {
    "standard_surface": ("standardSurface", "normal"),
    "open_pbr_surface": ("openPBRSurface", "geometry_normal"),
}
_COLOUR = "color"
COLOURS = "verdigrisLight"
"""The colour set of the rung of vertex colours."""
# Vertices of a mesh without a vertex of the ladder at their place, compared at once.
_CHUNK = 256
# The size of a mesh in Maya's unit beside that of a ladder in metres, if the ladder is.
_FROM_METRES = 10


def has_surface_shader(category: str) -> bool:
    """Whether this Maya has a node for a surface shader of MaterialX."""
    return category in _NODES and _NODES[category][0] in cmds.allNodeTypes()


def add_shader(kind: str, name: str, note: Note) -> tuple[str, str]:
    """A shader and its shading group."""
    shader = cmds.shadingNode(
        kind, asShader=True, skipSelect=True, name=free_name(name, VIEWPORT_SUFFIX)
    )
    engine = cmds.sets(
        renderable=True, noSurfaceShader=True, empty=True,
        name=free_name(f"{name}{VIEWPORT_SUFFIX}SG"),
    )  # fmt: skip
    for node in (shader, engine):
        note(node)
    cmds.connectAttr(f"{shader}.outColor", f"{engine}.surfaceShader")
    return str(shader), str(engine)


def add_node(kind: str, name: str, note: Note) -> str:
    made = cmds.shadingNode(kind, asUtility=True, skipSelect=True, name=free_name(name))
    note(made)
    return str(made)


def add_texture(path: Path, space: str, name: str, note: Note) -> str:
    """A file in one of the spaces of colours.py, with its placement, which a uv set can be linked
    to."""
    file = cmds.shadingNode("file", asTexture=True, skipSelect=True, name=free_name(name))
    note(file)
    placement = add_node("place2dTexture", f"{name}_uv", note)
    cmds.connectAttr(f"{placement}.outUV", f"{file}.uvCoord")
    cmds.connectAttr(f"{placement}.outUvFilterSize", f"{file}.uvFilterSize")
    cmds.setAttr(f"{file}.ignoreColorSpaceFileRules", True)
    cmds.setAttr(f"{file}.fileTextureName", texture_name(path), type="string")
    cmds.setAttr(f"{file}.colorSpace", file_space(space), type="string")
    return str(file)


def make_surface_shader(look: ShaderLook, name: str, note: Note) -> tuple[str, dict[str, str]]:
    """Makes the node of a surface shader with its textures, and its shading group. Returns the
    group, and the uv set of each texture. Directions other than the normal are left out."""
    kind, normal = _NODES[look.category]
    shader, engine = add_shader(kind, name, note)
    sets = {}
    for port, value in look.values.items():
        plug = _plug(shader, port)
        if plug and isinstance(value, tuple):
            if _COLOUR in port:
                value = tuple(in_rendering_space(np.array(value)).tolist())
            cmds.setAttr(plug, *value, type="double3")
        elif plug:
            cmds.setAttr(plug, value)
    for port, texture in look.textures.items():
        plug = f"{shader}.normalCamera" if port == normal else _plug(shader, port)
        if not plug or texture.is_direction != (port == normal):
            continue
        file = _file(texture, f"{name}_{port}", note)
        sets[file] = look.uv_set
        if texture.is_direction:
            bump = add_node("bump2d", f"{name}_{port}Map", note)
            cmds.setAttr(f"{bump}.bumpInterp", TANGENT_SPACE)
            cmds.connectAttr(f"{file}.outAlpha", f"{bump}.bumpValue")
            cmds.connectAttr(f"{bump}.outNormal", plug)
            continue
        is_number = not isinstance(cmds.getAttr(plug), list)
        cmds.connectAttr(f"{file}.{'outColorR' if is_number else 'outColor'}", plug)
    return engine, sets


def _plug(shader: str, port: str) -> str:
    """The attribute of an input, `specular_IOR` and `specular_ior` as `specularIOR`. Empty if Maya
    has none."""
    named = re.sub(r"_ior$", "_IOR", port)
    attribute = re.sub(r"_(\w)", lambda found: found[1].upper(), named)
    has_it = cmds.attributeQuery(attribute, node=shader, exists=True)
    return f"{shader}.{attribute}" if has_it else ""


def _file(texture: ShaderTexture, name: str, note: Note) -> str:
    file = add_texture(texture.file, SRGB if texture.is_colour else RAW, name, note)
    if not texture.is_direction and (texture.low, texture.high) != (0.0, 1.0):
        cmds.setAttr(f"{file}.colorGain", *[texture.high - texture.low] * 3, type="double3")
        cmds.setAttr(f"{file}.colorOffset", *[texture.low] * 3, type="double3")
    return file


def make_light_shader(
    light: StoredLight, has_alpha: bool, name: str, note: Note
) -> tuple[str, dict[str, str]]:
    """Makes a surfaceShader with its textures and its shading group. Returns the group, and the uv
    set of each texture."""
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
    """Lets each texture read a uv set of a mesh. Importers rename sets: if the mesh has none of the
    name, the ladder's first set is the mesh's first, and any other one the mesh's last."""
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
    Colours are set without an undo step of their own: undoing the copy removes them, and redoing it
    brings them back."""
    mesh, _ = open_mesh(name)
    points = np.array(mesh.getPoints(om.MSpace.kWorld), np.float32)[:, :3]
    if om.MGlobal.isZAxisUp():
        points = points @ FROM_Z_UP[:3, :3].astype(np.float32)
    # a mesh of the panel is in metres, that of an exported file in Maya's unit
    if np.ptp(points, 0).max() > _FROM_METRES * np.ptp(position, 0).max():
        points = points * METRES
    light = in_rendering_space(colour[nearest(points, position), :3].astype(float))
    mesh.setCurrentColorSetName(mesh.createColorSet(COLOURS, False))
    colours = om.MColorArray([om.MColor((*each, 1.0)) for each in light])
    mesh.setVertexColors(colours, om.MIntArray(range(len(light))))
    # without a channel of the material, there is no lighting
    cmds.polyOptions(name, colorShadedDisplay=True, colorMaterialChannel="none")


def nearest(wanted: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The nearest known point of each point (N, 3): by cells where they agree, as on one mesh, and
    otherwise by all distances."""
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
