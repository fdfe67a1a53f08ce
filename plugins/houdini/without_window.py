"""Starts and ends Houdini's part of a hython."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verdigris.core.hosts.host import Host


def start() -> Host:
    """The host. Houdini is loaded already, as this runs in hython."""
    from verdigris.plugins.houdini.adapter import HoudiniHost

    return HoudiniHost()


def end() -> None:
    """Gives the license back, as hython would do when it ends by itself."""
    if "hou" in sys.modules:
        import hou

        hou.releaseLicense()
