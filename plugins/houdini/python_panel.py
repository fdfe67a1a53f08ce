"""The panel in a Python Panel of Houdini."""

from __future__ import annotations

from typing import Any

from verdigris.plugins.common.panel_loader import make_panel
from verdigris.plugins.houdini.adapter import HoudiniHost


def create_interface() -> Any:
    """The widget that Houdini puts into its pane tab."""
    return make_panel(HoudiniHost())
