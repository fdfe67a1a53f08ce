"""Starts and ends a Maya without a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verdigris.core.hosts.host import Host

_started: list[str] = []


def start() -> Host:
    """Starts Maya."""
    import maya.standalone

    maya.standalone.initialize(name="python")
    _started.append("maya")
    from verdigris.plugins.maya.adapter import MayaHost

    return MayaHost()


def end() -> None:
    """Ends a Maya that was started."""
    if _started:
        import maya.standalone

        _started.clear()
        maya.standalone.uninitialize()
