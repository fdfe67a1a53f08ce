"""What Maya does to the scene while the panel bakes one of its materials: another scene is opened,
or Maya exits.

Maya can be stopped before it opens or makes a scene (MSceneMessage.kBeforeOpenCheck and
kBeforeNewCheck), but not before it exits (kMayaExiting).
"""

from __future__ import annotations

from maya import cmds
from maya.api import OpenMaya as om

from verdigris.plugins.common.panel_loader import end_session, find_session

LEAVE, STAY = "Go on baking", "Stay in this scene"


class SceneEvents:
    """The callbacks of one session."""

    def __init__(self) -> None:
        self._callbacks: list[int] = []

    def guard(self) -> None:
        """Adds the callbacks, once."""
        if self._callbacks:
            return
        message = om.MSceneMessage
        for kind in (message.kBeforeNewCheck, message.kBeforeOpenCheck):
            self._callbacks.append(message.addCheckCallback(kind, self._may_leave))
        for kind in (message.kAfterNew, message.kAfterOpen):
            self._callbacks.append(message.addCallback(kind, self._follow))
        self._callbacks.append(message.addCallback(message.kAfterSave, self._compare))
        self._callbacks.append(message.addCallback(message.kMayaExiting, self._exit))

    def unguard(self) -> None:
        for callback in self._callbacks:
            om.MMessage.removeCallback(callback)
        self._callbacks = []

    def _may_leave(self, _data: object = None) -> bool:
        """Whether Maya may close the scene. During a bake, the artist decides."""
        session = find_session()
        if session is None or not session.model.link.is_busy or cmds.about(batch=True):
            return True
        answer = cmds.confirmDialog(
            title="Verdigris",
            message=session.model.describe_leaving(),
            button=[LEAVE, STAY],
            defaultButton=LEAVE,
            cancelButton=STAY,
            dismissString=STAY,
        )
        return bool(answer == LEAVE)

    def _follow(self, _data: object = None) -> None:
        session = find_session()
        if session is not None:
            # Maya may still be reading references
            cmds.evalDeferred(session.model.follow_scene, lowestPriority=True)

    def _compare(self, _data: object = None) -> None:
        session = find_session()
        if session is not None:
            cmds.evalDeferred(session.model.documents.compare_saved, lowestPriority=True)

    def _exit(self, _data: object = None) -> None:
        end_session()


SCENE_EVENTS = SceneEvents()
