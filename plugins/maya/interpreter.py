"""The Python interpreter of Maya."""

from __future__ import annotations

import sys
from pathlib import Path

from verdigris.plugins.common.programs import require_interpreter


def mayapy() -> Path:
    """The mayapy next to the running Maya."""
    name = "mayapy.exe" if sys.platform == "win32" else "mayapy"
    return require_interpreter(Path(sys.executable).with_name(name))
