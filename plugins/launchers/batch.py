"""Bakes the materials of a scene without a window:

mayapy PATH/batch.py SCENE [-o FOLDER] [--preset NAME] hython PATH/batch.py SCENE [-o FOLDER]
[--preset NAME]

Verdigris is found from the place of this file, because a new process of an application may know no
module paths.
"""

import sys
import types
from pathlib import Path

PROGRAM = "batch"
HERE = Path(__file__).resolve().parent


def find_verdigris() -> None:
    """Makes `verdigris` importable from the staged tree or the checkout of this file."""
    # the modules beside this file are programs, not packages to import
    sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != HERE]
    if (HERE / "scripts" / "verdigris").is_dir():
        sys.path[:0] = [str(HERE / "scripts"), str(HERE / "site-packages")]
        return
    package = types.ModuleType("verdigris")
    package.__path__ = [str(HERE.parents[1])]
    sys.modules["verdigris"] = package


if __name__ == "__main__":
    find_verdigris()
    from verdigris.plugins.common.host_process import run

    run(PROGRAM, sys.argv[1:])
