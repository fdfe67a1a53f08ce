"""The versions of Maya and Houdini that Verdigris supports, and the systems that they run on."""

from __future__ import annotations

import sys
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

    offers: tuple[str, ...]
    """The same as distributions, for a bare Python in its place (check_trees.py)."""

    @property
    def name(self) -> str:
        return f"{self.host}-{self.version}"

    @property
    def next_version(self) -> str:
        """The next major version, for conditions such as `< 22.0`."""
        major = int(self.version.partition(".")[0])
        return f"{major + 1}.0"


@dataclass(frozen=True)
class System:
    """An operating system."""

    wheels: tuple[str, ...]
    """The names of its platforms in pip."""

    maya: str
    """Its name in a PLATFORM condition of a Maya module."""

    houdini: str
    """Its name in a houdini_os condition of a Houdini package."""

    blender: str
    """Its name among the platforms of a Blender extension."""

    machine: str
    """The processors of the applications."""

    newer: tuple[str, ...]
    """Platforms that the worker needs in addition, because its packages have no older wheels."""


_MAYA = ("PySide6", "shiboken6")
_HOUDINI = ("PySide6", "shiboken6", "numpy")
# A panel draws with PySide6. In Maya, pxr comes with maya-usd.
_QT_2024, _QT_2026 = "PySide6-Essentials==6.5.3", "PySide6-Essentials==6.8.3"
# The USD of Houdini 22 is assumed: the oldest that is published for Python 3.13.
_USD_2024, _USD_2026 = "usd-core==24.8", "usd-core==25.8"
_NUMPY_2024, _NUMPY_2026 = "numpy==1.26.4", "numpy==2.4.6"
HOSTS = (
    HostVersion("maya", "2025", "3.11", _MAYA, (_QT_2024, _USD_2024)),
    HostVersion("maya", "2026", "3.11", _MAYA, (_QT_2024, _USD_2024)),
    HostVersion("maya", "2027", "3.13", _MAYA, (_QT_2026, _USD_2026)),
    # its builds with Qt 6: with Qt 5 all but the panel works
    HostVersion("houdini", "20.5", "3.11", _HOUDINI, (_QT_2024, "usd-core==24.3", _NUMPY_2024)),
    HostVersion("houdini", "21.0", "3.11", _HOUDINI, (_QT_2024, _USD_2024, _NUMPY_2024)),
    HostVersion("houdini", "22.0", "3.13", _HOUDINI, (_QT_2026, _USD_2026, _NUMPY_2026)),
)
# Packages that the plug-ins need. Their versions are pinned in pyproject.toml, unless a host needs
# an older one.
NEEDED = ("numpy", "platformdirs")
NEEDED_BY_PANEL = ("pyqtgraph", "colorama")
# PySide6 6.5.3, which hosts with Python 3.11 have, is compiled for numpy 1: with numpy 2 it prints
# at its first import that it may crash.
PINS_OF_PYTHON = {"3.11": {"numpy": _NUMPY_2024}}

SYSTEMS = {
    "linux": System(
        ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux2014_x86_64"),
        "linux",
        "linux",
        "linux-x64",
        "x86_64",
        ("manylinux_2_34_x86_64",),
    ),
    "windows": System(("win_amd64",), "win64", "windows", "windows-x64", "x86_64", ()),
    "macos": System(
        ("macosx_14_0_arm64", "macosx_11_0_arm64"),
        "mac",
        "macos",
        "macos-arm64",
        "arm64",
        ("macosx_26_0_arm64",),
    ),
}

# Versions of Blender, each with its Python and the first version that it does not include.
BLENDERS = {
    "blender-4.5": ("4.5.0", "3.11", "5.0.0"),
    "blender-5.0": ("5.0.0", "3.11", "5.1.0"),
    "blender-5.1": ("5.1.0", "3.13", "6.0.0"),
}

BY_NAME = {each.name: each for each in HOSTS}
"""By names such as maya-2026."""


def this_system() -> str:
    """The system of this machine, as in SYSTEMS."""
    return {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")
