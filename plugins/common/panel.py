"""The one place where plug-ins reach for the panel: batch programs never import it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import HostError

if TYPE_CHECKING:
    from verdigris.core.hosts.host import Host


def make_panel(host: Host, parent: Any = None) -> Any:
    """The panel for a host, as a widget inside another."""
    try:
        from verdigris.ui.panel import open_panel
    except ImportError as failure:
        raise HostError(
            f"the panel cannot be loaded ({failure}): build the plug-in's tree again with "
            "packaging/stage.py, which brings what the panel needs"
        ) from None
    return open_panel(host, parent)
