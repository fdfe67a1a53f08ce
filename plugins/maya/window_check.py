"""The check of the panel, the brush and undo in the window of this Maya."""

from __future__ import annotations

from pathlib import Path

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.plugins.common.panel_loader import find_session
from verdigris.plugins.common.selftest.window_check import Window, WindowCheck
from verdigris.plugins.maya import docked_panel
from verdigris.plugins.maya.adapter import MayaHost
from verdigris.plugins.maya.scene.painting import BRUSH
from verdigris.plugins.maya.selftest import make_scene


def check_window(report: Path) -> WindowCheck:
    """Begins the check, which goes on between the events of Maya."""
    session = find_session()
    if session is not None and session.model.link.is_busy:
        raise HostError("a bake is running: finish or cancel it before the check")
    check = WindowCheck(
        Window(
            host=MayaHost(),
            make_scene=make_scene,
            clear_scene=lambda: cmds.file(newFile=True, force=True),
            has_changes=lambda: bool(cmds.file(query=True, modified=True)),
            ask=_ask,
            tell=lambda text: _ask(text, ("OK",)),
            later=lambda step: cmds.evalDeferred(step, lowestPriority=True),
            show_panel=docked_panel.show,
            close_panel=lambda: cmds.workspaceControl(docked_panel.CONTROL, edit=True, close=True),
            is_panel_shown=lambda: bool(cmds.workspaceControl(docked_panel.CONTROL, exists=True)),
            is_painting=lambda: BRUSH.is_active,
            undo=cmds.undo,
        ),
        report,
    )
    check.begin()
    return check


def _ask(text: str, buttons: tuple[str, ...]) -> str:
    return str(
        cmds.confirmDialog(
            title="Verdigris",
            message=text,
            button=list(buttons),
            defaultButton=buttons[-1],
            cancelButton=buttons[-1],
            dismissString=buttons[-1],
        )
    )
