"""The panel in a Python Panel of Houdini.

Houdini destroys the widget with its pane tab, and on other changes of the desktop; the session of
the panel goes on. Houdini reports that another scene is loaded (hou.hipFile.addEventCallback), and
cannot be stopped before.
"""

from __future__ import annotations

from typing import Any

import hou

from verdigris.plugins.common.panel_loader import find_session, make_panel
from verdigris.plugins.houdini.adapter import HoudiniHost

_panels: list[Any] = []


def create_interface() -> Any:
    """The widget that Houdini puts into its pane tab."""
    panel = make_panel(HoudiniHost())
    _panels.append(panel)
    if _follow not in hou.hipFile.eventCallbacks():
        hou.hipFile.addEventCallback(_follow)
    return panel


def destroy_interface() -> None:
    """Houdini is about to destroy a panel. A bake goes on."""
    from shiboken6 import isValid

    _panels[:] = [each for each in _panels if isValid(each)]
    for panel in _panels:
        panel.store()
    session = find_session()
    if session is not None and session.model.link.is_busy:
        name = session.model.state.current.name
        hou.ui.setStatusMessage(f"Verdigris goes on baking {name}. Open the panel to see it.")


def _follow(event: Any) -> None:
    """Another scene is open, or this one is saved."""
    session = find_session()
    kinds = hou.hipFileEventType
    if session is not None and event in (kinds.AfterClear, kinds.AfterLoad):
        session.model.follow_scene()
    elif session is not None and event == kinds.AfterSave:
        session.model.documents.compare_saved()
