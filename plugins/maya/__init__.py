"""The Maya adapter. Its packages come after those of Maya and of the studio, so that they are used
only where these have none."""

from __future__ import annotations

import sys
from pathlib import Path


def _add_packages(package: Path) -> None:
    """Adds the packages of a staged tree, `site-packages` beside `scripts`, to the end."""
    folder = package.parent.parent / "site-packages"
    if package.parent.name == "scripts" and folder.is_dir() and str(folder) not in sys.path:
        sys.path.append(str(folder))


_add_packages(Path(__file__).absolute().parents[2])
