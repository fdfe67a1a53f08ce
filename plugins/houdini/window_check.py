"""The check of the panel, the brush and undo in the window of this Houdini."""

from __future__ import annotations

from pathlib import Path

import hou

from verdigris.core.base.errors import HostError
from verdigris.plugins.common.panel_loader import find_session
from verdigris.plugins.common.selftest.window_check import Window, WindowCheck
from verdigris.plugins.houdini.actions import bake, panel_tab
from verdigris.plugins.houdini.adapter import HoudiniHost
from verdigris.plugins.houdini.selftest import make_scene


def check_window(report: Path) -> WindowCheck:
    """Begins the check, which goes on between the events of Houdini."""
    session = find_session()
    if session is not None and session.model.link.is_busy:
        raise HostError("a bake is running: finish or cancel it before the check")
    check = WindowCheck(
        Window(
            host=HoudiniHost(),
            make_scene=make_scene,
            clear_scene=lambda: hou.hipFile.clear(suppress_save_prompt=True),
            has_changes=lambda: bool(hou.hipFile.hasUnsavedChanges()),
            ask=_ask,
            tell=lambda text: _ask(text, ("OK",)),
            later=hou.ui.postEventCallback,
            show_panel=bake,
            close_panel=_close_panel,
            is_panel_shown=lambda: panel_tab() is not None,
            is_painting=None,
            undo=hou.undos.performUndo,
        ),
        report,
    )
    check.begin()
    return check


def _close_panel() -> None:
    tab = panel_tab()
    if tab is not None:
        tab.close()


def _ask(text: str, buttons: tuple[str, ...]) -> str:
    last = len(buttons) - 1
    chosen = hou.ui.displayMessage(
        text, buttons=buttons, default_choice=last, close_choice=last, title="Verdigris"
    )
    return buttons[chosen]
