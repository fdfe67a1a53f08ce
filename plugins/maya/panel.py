"""The panel in Maya's own windows: docked, and there again when the workspace is restored."""

from __future__ import annotations

from typing import Any

from maya import OpenMayaUI, cmds

from verdigris.plugins.common.panel import make_panel
from verdigris.plugins.maya.adapter import MayaHost

CONTROL = "verdigrisPanel"
# Maya keeps this line in the workspace and runs it when it restores the control.
RESTORE = "from verdigris.plugins.maya import panel; panel.fill()"
_WIDTH = 420


def show() -> None:
    """Opens the panel, or brings it to the front."""
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
    """Puts the panel into the control that Maya has made."""
    from PySide6.QtWidgets import QWidget
    from shiboken6 import wrapInstance

    control = wrapInstance(int(OpenMayaUI.MQtUtil.findControl(CONTROL)), QWidget)
    panel = make_panel(MayaHost(), control)
    control.layout().addWidget(panel)
    return panel


def close() -> None:
    """Takes the panel away, if it is there."""
    if cmds.workspaceControl(CONTROL, exists=True):
        cmds.deleteUI(CONTROL)
