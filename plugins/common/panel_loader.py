"""Imports the panel. Only this module does, because batch bakes run without Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import HostError

if TYPE_CHECKING:
    from verdigris.core.hosts.host import Host


def make_panel(host: Host, parent: Any = None) -> Any:
    """The panel of a host, as a child of another widget."""
    try:
        from verdigris.ui.panel import open_panel
    except ImportError as failure:
        raise HostError(
            f"the panel cannot be loaded ({failure}): stage the plug-in again with "
            "packaging/stage.py, which adds the packages of the panel"
        ) from None
    return open_panel(host, parent)
