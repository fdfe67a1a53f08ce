"""Libraries of the plug-in that macOS does not load: a browser marks what it downloads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

_ATTRIBUTE = "com.apple.quarantine"


def _is_marked(file: Path) -> bool:
    command = ["/usr/bin/xattr", "-p", _ATTRIBUTE, str(file)]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def find_remedy(tree: Path, is_marked: Callable[[Path], bool] = _is_marked) -> str:
    """What to enter in a terminal if the libraries of a tree are in quarantine; otherwise empty."""
    if sys.platform != "darwin":
        return ""
    libraries = (tree / "site-packages").rglob("*.so")
    if not any(map(is_marked, libraries)):
        return ""
    return (
        "macOS has put the folder of Verdigris into quarantine, and does not load its libraries. "
        f'Enter in a terminal: xattr -dr {_ATTRIBUTE} "{tree}", and start Maya again'
    )
