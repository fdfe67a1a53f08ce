"""The scene files of applications with a plug-in, and the interpreters that open them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Application:
    """An application whose scenes its own interpreter bakes."""

    name: str
    interpreter: str
    """Its Python interpreter, which runs the launchers."""
    suffixes: tuple[str, ...]
    """The suffixes of its scene files."""
    plugin: str
    """The folder of its plug-in."""
    module: str
    """A Python module that only its interpreter has."""


APPLICATIONS = (
    Application("Maya", "mayapy", (".ma", ".mb"), "maya", "maya"),
    Application("Houdini", "hython", (".hip", ".hiplc", ".hipnc"), "houdini", "hou"),
)


def find_application(scene: Path) -> Application | None:
    """The application of a scene file, by its suffix."""
    suffix = scene.suffix.lower()
    return next((each for each in APPLICATIONS if suffix in each.suffixes), None)
