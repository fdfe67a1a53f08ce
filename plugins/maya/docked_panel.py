"""The panel in a workspace control of Maya, which restores it with the workspace.

The control is a view. Maya destroys it when it is closed or the workspace changes, without an event
for the widgets in it; the session of the panel goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maya import OpenMayaUI, cmds

from verdigris.plugins.common.panel_loader import end_session, find_session, make_panel
from verdigris.plugins.maya.adapter import MayaHost
from verdigris.plugins.maya.session_events import SCENE_EVENTS

if TYPE_CHECKING:
    from verdigris.core.hosts.host import HostMaterial

CONTROL = "verdigrisPanel"
# Maya stores these lines in the workspace, and runs them when it restores or closes the control.
RESTORE = "from verdigris.plugins.maya import docked_panel; docked_panel.fill()"
CLOSED = "from verdigris.plugins.maya import docked_panel; docked_panel.note_closed()"
_WIDTH = 420


# The last panel, and the material that the next one shows first.
_open: dict[str, Any] = {}


def show(material: HostMaterial | None = None) -> None:
    """Opens the panel or brings it to the front, and chooses a material."""
    if cmds.workspaceControl(CONTROL, exists=True):
        cmds.workspaceControl(CONTROL, edit=True, restore=True)
        session = find_session()
        if material is not None and session is not None:
            _choose(session.model, material)
        return
    if material is not None:
        _open["material"] = material
    cmds.workspaceControl(
        CONTROL,
        label="Verdigris",
        uiScript=RESTORE,
        closeCommand=CLOSED,
        dockToMainWindow=("right", True),
        initialWidth=_WIDTH,
        minimumWidth=_WIDTH,
        retain=False,
    )


def fill() -> Any:
    """Puts the panel into the workspace control."""
    from PySide6.QtWidgets import QWidget
    from shiboken6 import wrapInstance

    control = wrapInstance(int(OpenMayaUI.MQtUtil.findControl(CONTROL)), QWidget)
    panel = make_panel(MayaHost(), control)
    SCENE_EVENTS.guard()
    control.layout().addWidget(panel)
    _open["panel"] = panel
    if "material" in _open:
        _choose(panel.model, _open.pop("material"))
    return panel


def note_closed() -> None:
    """The control is closed. A bake goes on, and the panel shows it when it is opened again."""
    from shiboken6 import isValid

    panel, session = _open.pop("panel", None), find_session()
    if panel is not None and isValid(panel):
        panel.store()
    if session is not None and session.model.link.is_busy:
        text = f"Verdigris goes on baking {session.model.state.current.name}. Open the panel again."
        cmds.inViewMessage(assistMessage=text, position="topCenter", fade=True)


def close() -> None:
    """Closes the panel if it is open, and ends the session."""
    SCENE_EVENTS.unguard()
    if cmds.workspaceControl(CONTROL, exists=True):
        cmds.deleteUI(CONTROL)
    _open.clear()
    end_session()


def _choose(model: Any, material: HostMaterial) -> None:
    if model.state.current != material:
        model.refresh_materials()
        model.choose(material)
