"""Painting of weights with Maya's brush for vertex colours.

Maya clamps painted colours at 1: a colour is the weight divided by the largest weight. An attribute
of the mesh lists the colour sets with this scale. Others are read as they are.

Renderers' shaders do not display colour sets in the viewport. While the artist paints, the mesh has
a plain shader. The scene stores what was assigned before, and it is assigned again when the artist
leaves the brush, and before the scene is saved or exported.
"""

from __future__ import annotations

import json

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import BRUSH_WEIGHT, LARGEST_WEIGHT, NORMAL_WEIGHT
from verdigris.plugins.maya.scene.assignments import assign, assignment_of, put_back
from verdigris.plugins.maya.scene.nodes import (
    PAINTED,
    free_name,
    identity_of,
    nodes_with,
    note_text,
    refuse_locked,
    surface_of,
    text_of,
    undo_step,
)

SCALED_SETS = "verdigrisWeightSets"

_NAME = "verdigrisWeights"
_DISPLAY, _CHANNEL = "displayColors", "displayColorChannel"
_LIT = "Ambient+Diffuse"


def scale_of(mesh: str, weight_set: str) -> float:
    """The weight of the colour 1."""
    return LARGEST_WEIGHT if weight_set in _scaled_sets(mesh) else 1.0


def show_weights(mesh: str, weight_set: str, exists: bool) -> None:
    """Gives a mesh a colour set of normal weights if it has none, and displays it."""
    refuse_locked(mesh)
    if exists and weight_set not in _scaled_sets(mesh):
        raise HostError(
            f"{mesh}: the colour set {weight_set!r} holds weights of 0 to 1, which the brush does "
            "not know: rename it in the Colour Set Editor and start the brush again, or paint in "
            "the panel"
        )
    with undo_step("Verdigris weights"):
        _put_back()
        if not exists:
            cmds.polyColorSet(
                mesh, create=True, colorSet=weight_set, clamped=False, representation="RGB"
            )
        cmds.polyColorSet(mesh, currentColorSet=True, colorSet=weight_set)
        settings = {name: cmds.getAttr(f"{mesh}.{name}") for name in (_DISPLAY, _CHANNEL)}
        if not exists:
            normal = (NORMAL_WEIGHT / LARGEST_WEIGHT,) * 3
            cmds.polyColorPerVertex(mesh, colorRGB=normal, colorDisplayOption=True)
            note_text(mesh, SCALED_SETS, json.dumps([*_scaled_sets(mesh), weight_set]))
        cmds.setAttr(f"{mesh}.{_DISPLAY}", True)
        cmds.setAttr(f"{mesh}.{_CHANNEL}", _LIT, type="string")
        _assign_plain(mesh, settings)
        cmds.select(mesh, replace=True)


def hide_weights() -> bool:
    """Assigns the former materials again, as one undo step. Returns whether any was displayed."""
    if not nodes_with(PAINTED):
        return False
    with undo_step("Verdigris painting ends"):
        _put_back()
    return True


def painted_mesh() -> str:
    """The mesh that displays its weights. Empty if there is none."""
    for engine in nodes_with(PAINTED):
        found = cmds.ls(_settings(engine).get("mesh", ""), long=True) or []
        if found:
            return str(found[0])
    return ""


def arm_brush(context: str, weight: float = BRUSH_WEIGHT) -> None:
    """Gives the brush a weight. The brush remembers its last colour and operation otherwise."""
    if not 0 <= weight <= LARGEST_WEIGHT:
        raise HostError(f"the weight {weight:g} is outside of 0 to {LARGEST_WEIGHT:g}")
    cmds.artAttrPaintVertexCtx(
        context,
        edit=True,
        colorRGBValue=(weight / LARGEST_WEIGHT,) * 3,
        paintRGBA=False,
        selectedattroper="absolute",
        opacity=1.0,
    )


def _assign_plain(mesh: str, settings: dict[str, object]) -> None:
    shader = cmds.shadingNode("lambert", asShader=True, skipSelect=True, name=free_name(_NAME))
    engine = cmds.sets(
        renderable=True, noSurfaceShader=True, empty=True, name=free_name(f"{_NAME}SG")
    )
    cmds.connectAttr(f"{shader}.outColor", f"{engine}.surfaceShader")
    note_text(engine, PAINTED, json.dumps({**settings, "mesh": identity_of(mesh)}))
    assign(engine, assignment_of(mesh))


def _put_back() -> None:
    """Assigns the former materials and deletes the plain shaders."""
    for engine in nodes_with(PAINTED):
        settings = _settings(engine)
        put_back(engine, whole_meshes=True)
        for mesh in cmds.ls(settings.get("mesh", ""), long=True) or []:
            if _CHANNEL in settings:
                cmds.setAttr(f"{mesh}.{_DISPLAY}", bool(settings[_DISPLAY]))
                cmds.setAttr(f"{mesh}.{_CHANNEL}", str(settings[_CHANNEL]), type="string")
        shader = surface_of(engine)
        cmds.delete(*[node for node in (engine, shader) if node])


def _settings(engine: str) -> dict[str, object]:
    try:
        found = json.loads(text_of(engine, PAINTED) or "{}")
    except ValueError:
        found = {}
    return found if isinstance(found, dict) else {}


def _scaled_sets(mesh: str) -> list[str]:
    try:
        found = json.loads(text_of(mesh, SCALED_SETS) or "[]")
    except ValueError:
        raise HostError(f"{mesh}: the attribute {SCALED_SETS!r} is damaged: delete it") from None
    return [str(name) for name in found]
