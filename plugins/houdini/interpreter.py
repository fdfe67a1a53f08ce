"""The Python interpreter of Houdini."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from verdigris.plugins.common.programs import require_interpreter


def hython() -> Path:
    """The hython of the running Houdini."""
    name = "hython.exe" if sys.platform == "win32" else "hython"
    return require_interpreter(Path(os.environ.get("HFS", "")) / "bin" / name)
