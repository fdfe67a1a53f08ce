"""The versions of Maya and Houdini that Verdigris supports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HostVersion:
    """One version of an application."""

    host: str
    version: str
    python: str
    """The version of its Python. Those of Maya 2027 and Houdini 22 are assumed from the VFX
    Reference Platform 2026; stage.py accepts another with --python."""

    carries: tuple[str, ...]
    """Packages that the application provides."""

    @property
    def name(self) -> str:
        return f"{self.host}-{self.version}"

    @property
    def next_version(self) -> str:
        """The next major version, for conditions such as `< 22.0`."""
        major = int(self.version.partition(".")[0])
        return f"{major + 1}.0"


_MAYA = ("PySide6", "shiboken6")
_HOUDINI = ("PySide6", "shiboken6", "numpy")
HOSTS = (
    HostVersion("maya", "2025", "3.11", _MAYA),
    HostVersion("maya", "2026", "3.11", _MAYA),
    HostVersion("maya", "2027", "3.13", _MAYA),
    HostVersion("houdini", "21.0", "3.11", _HOUDINI),
    HostVersion("houdini", "22.0", "3.13", _HOUDINI),
)
# Packages that the plug-ins need. Their versions are pinned in pyproject.toml.
NEEDED = ("numpy", "platformdirs")
NEEDED_BY_PANEL = ("pyqtgraph", "colorama")

# The names of platforms in pip.
PLATFORMS = {
    "linux": ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux2014_x86_64"),
    "windows": ("win_amd64",),
    "macos": ("macosx_14_0_arm64", "macosx_11_0_arm64"),
}


def find_host(name: str) -> HostVersion | None:
    """The host with a name such as maya-2026."""
    return next((each for each in HOSTS if each.name == name), None)
