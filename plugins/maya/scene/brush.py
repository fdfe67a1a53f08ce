"""The brush of Maya, from its start until the artist leaves it.

The scene must never be saved with the shader that displays the weights: callbacks of Maya remove it
before a save or an export, and display the weights again if the brush is still in use.
"""

from __future__ import annotations

from maya import cmds
from maya.api import OpenMaya as om

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import BRUSH_WEIGHT
from verdigris.plugins.maya.scene.painting import (
    arm_brush,
    hide_weights,
    painted_mesh,
    show_weights,
)

_NEUTRAL_TOOL = "selectSuperContext"


class Brush:
    """The brush and the callbacks of this Maya."""

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
        """Adds the callbacks of saves and exports, and of scenes that were left while painting."""
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
            # the artist has changed nothing since
            cmds.file(modified=False)

    def _scene_changed(self, _data: object = None) -> None:
        """A scene from a crash may still display weights."""
        self._to_show = None
        self.stop()


BRUSH = Brush()
