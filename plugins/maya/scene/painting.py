"""Painting of weights with Maya's brush for vertex colours.

Maya clamps painted colours at 1: a colour is the weight divided by the largest weight. An attribute
of the mesh lists the colour sets with this scale. Other sets are read as they are.

Renderers' shaders do not display colour sets in the viewport. While the artist paints, the mesh has
a plain shader. The scene stores what was assigned before, and it is assigned again when the artist
leaves the brush.

The scene must never be saved with the plain shader: callbacks of Maya remove it before a save or an
export, and display the weights again if the brush is still in use.
"""

from __future__ import annotations

import json

from maya import cmds
from maya.api import OpenMaya as om

from verdigris.core.base.errors import HostError
from verdigris.core.base.json_fields import find_json
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
_NEUTRAL_TOOL = "selectSuperContext"


def scale_of(mesh: str, weight_set: str) -> float:
    """The weight of the colour 1."""
    return LARGEST_WEIGHT if weight_set in _scaled_sets(mesh) else 1.0


def show_weights(mesh: str, weight_set: str, exists: bool) -> None:
    """Gives a mesh a colour set with normal weights if it has none, and displays it."""
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
    """Assigns the former materials again, as one undo step. Returns whether any weights were
    displayed."""
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
    """Gives the brush a weight. Otherwise the brush remembers its last colour and operation."""
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
    found = find_json(text_of(engine, PAINTED) or "{}")
    return found if isinstance(found, dict) else {}


def _scaled_sets(mesh: str) -> list[str]:
    found = find_json(text_of(mesh, SCALED_SETS) or "[]")
    if not isinstance(found, list):
        raise HostError(f"{mesh}: the attribute {SCALED_SETS!r} is damaged: delete it")
    return [str(name) for name in found]


class Brush:
    """The brush of this Maya and its callbacks, until the artist leaves it."""

    def __init__(self) -> None:
        self._context = ""
        self._job = 0
        self._callbacks: list[int] = []
        self._to_show: tuple[str, str] | None = None
        self._weight_set = ""

    @property
    def is_active(self) -> bool:
        """Whether the brush is the tool of the artist."""
        return bool(self._context) and cmds.currentCtx() == self._context

    def start(self, mesh: str, weight_set: str, exists: bool) -> None:
        """Displays the weights of a mesh and starts the brush on them."""
        self.guard()
        show_weights(mesh, weight_set, exists)
        self._weight_set = weight_set
        try:
            cmds.PaintVertexColorTool()
            self._context = cmds.currentCtx()
            arm_brush(self._context, BRUSH_WEIGHT)
        except RuntimeError as failure:
            self.stop()
            raise HostError(
                f"{mesh}: Maya cannot start its brush: {failure}: paint in the panel"
            ) from None
        if not self._job:
            self._job = cmds.scriptJob(event=["ToolChanged", self._tool_changed], protected=True)

    def set_weight(self, weight: float) -> bool:
        """Arms the brush with a weight. Returns False if it is not in use."""
        if not self.is_active:
            return False
        arm_brush(self._context, weight)
        return True

    def stop(self) -> bool:
        """Displays the materials again and chooses the selection tool. Returns whether any mesh
        displayed its weights."""
        was_active, self._context = self.is_active, ""
        if was_active:
            cmds.setToolTo(_NEUTRAL_TOOL)
        job, self._job = self._job, 0
        if job and cmds.scriptJob(exists=job):
            # a job cannot end itself
            cmds.evalDeferred(lambda: cmds.scriptJob(kill=job, force=True))
        return hide_weights()

    def guard(self) -> None:
        """Adds the callbacks for saves and exports, and for scenes that are left while painting."""
        if self._callbacks:
            return
        message = om.MSceneMessage
        for kind, action in (
            (message.kBeforeSave, self._before_write),
            (message.kAfterSave, self._after_write),
            (message.kBeforeExport, self._before_write),
            (message.kAfterExport, self._after_write),
            (message.kAfterOpen, self._scene_changed),
            (message.kAfterNew, self._scene_changed),
        ):
            self._callbacks.append(message.addCallback(kind, action))

    def unguard(self) -> None:
        """Ends painting and removes the callbacks."""
        self.stop()
        for callback in self._callbacks:
            om.MMessage.removeCallback(callback)
        self._callbacks = []

    def _tool_changed(self) -> None:
        if self._context and not self.is_active:
            self.stop()

    def _before_write(self, _data: object = None) -> None:
        mesh = painted_mesh() if self.is_active else ""
        self._to_show = (mesh, self._weight_set) if mesh else None
        hide_weights()

    def _after_write(self, _data: object = None) -> None:
        to_show, self._to_show = self._to_show, None
        if to_show and self.is_active:
            show_weights(*to_show, exists=True)
            # the artist has not changed anything since
            cmds.file(modified=False)

    def _scene_changed(self, _data: object = None) -> None:
        """A scene from a crash may still display weights."""
        self._to_show = None
        self.stop()


BRUSH = Brush()
