"""The Python interpreter of Maya."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from verdigris.plugins.common.programs import require_interpreter


def mayapy() -> Path:
    """The mayapy of the running Maya: in its folder of programs, or beside the application. On
    macOS these are Maya.app/Contents/bin and Maya.app/Contents/MacOS."""
    name = "mayapy.exe" if sys.platform == "win32" else "mayapy"
    beside = Path(sys.executable).with_name(name)
    location = os.environ.get("MAYA_LOCATION")
    own = Path(location) / "bin" / name if location else beside
    return own if own.is_file() else require_interpreter(beside)
