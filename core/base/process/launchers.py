"""Finds the launchers: programs of the plug-ins that a host's interpreter runs by path."""

from __future__ import annotations

import sys
from pathlib import Path

from verdigris.core.base.errors import HostError
from verdigris.core.base.process.worker_environment import package_folder


def require_launcher(program: str, tree: Path | None = None, is_addon: bool = False) -> Path:
    """The launcher of a program: in this staged tree or, by default, in the staged tree or the
    checkout that has this module. The add-on of Blender has its own."""
    if tree is not None:
        found = tree / f"{program}.py"
        if not found.is_file():
            raise HostError(
                f"{tree}: has no {found.name}: name the folder `verdigris` that packaging/stage.py "
                "made"
            )
        return found
    package = package_folder()
    # the environment of the worker is a folder of the staged tree
    trees = (package.parent.parent, Path(sys.prefix).parent)
    places = [each for each in trees if (each / "scripts" / "verdigris").is_dir() and not is_addon]
    places.append(package / "plugins" / ("blender" if is_addon else "launchers"))
    for place in places:
        found = place / f"{program}.py"
        if found.is_file():
            return found
    raise HostError(
        f"{program}.py is neither in {' nor in '.join(map(str, places))}: stage the plug-in with "
        "packaging/stage.py"
    )
