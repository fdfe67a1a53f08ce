"""The panel in a workspace control of Maya, which restores it with the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maya import OpenMayaUI, cmds

from verdigris.plugins.common.panel_loader import make_panel
from verdigris.plugins.maya.adapter import MayaHost

if TYPE_CHECKING:
    from verdigris.core.hosts.host import HostMaterial

CONTROL = "verdigrisPanel"
# Maya stores this line in the workspace and runs it when it restores the control.
RESTORE = "from verdigris.plugins.maya import docked_panel; docked_panel.fill()"
_WIDTH = 420


# The last panel, and the material that the next one shows first.
_open: dict[str, Any] = {}


def show(material: HostMaterial | None = None) -> None:
    """Opens the panel or brings it to the front, and chooses a material."""
    if cmds.workspaceControl(CONTROL, exists=True):
        cmds.workspaceControl(CONTROL, edit=True, restore=True)
        if material is not None and "panel" in _open:
            _choose(_open["panel"], material)
        return
    if material is not None:
        _open["material"] = material
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
    _open["panel"] = panel
    if "material" in _open:
        _choose(panel, _open.pop("material"))
    return panel


def _choose(panel: Any, material: HostMaterial) -> None:
    if panel.model.state.current != material:
        panel.model.refresh_materials()
        panel.model.choose(material)


def close() -> None:
    """Closes the panel if it is open."""
    if cmds.workspaceControl(CONTROL, exists=True):
        cmds.deleteUI(CONTROL)
    _open.clear()
