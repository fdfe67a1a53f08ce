"""The panel in a workspace control of Maya, which restores it with the workspace."""

from __future__ import annotations

from typing import Any

from maya import OpenMayaUI, cmds

from verdigris.plugins.common.panel_loader import make_panel
from verdigris.plugins.maya.adapter import MayaHost

CONTROL = "verdigrisPanel"
# Maya stores this line in the workspace and runs it when it restores the control.
RESTORE = "from verdigris.plugins.maya import docked_panel; docked_panel.fill()"
_WIDTH = 420


def show() -> None:
    """Opens the panel or brings it to the front."""
    if cmds.workspaceControl(CONTROL, exists=True):
        cmds.workspaceControl(CONTROL, edit=True, restore=True)
        return
    cmds.workspaceControl(
        CONTROL,
        label="Verdigris",
        uiScript=RESTORE,
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
    control.layout().addWidget(panel)
    return panel


def close() -> None:
    """Closes the panel if it is open."""
    if cmds.workspaceControl(CONTROL, exists=True):
        cmds.deleteUI(CONTROL)
