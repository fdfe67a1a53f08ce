#!/usr/bin/env python3
"""Sets the worker up, without a network: unpacks the packages beside this file.

    python make_worker.py                    # with the application's own Python: see INSTALL.md
    python make_worker.py --progress json    # for programs: a JSON object on each line
    python make_worker.py --into FOLDER      # elsewhere; name FOLDER in VERDIGRIS_WORKERS
    python make_worker.py --remove           # removes the workers in the plug-in

The panel runs this when it offers to set the worker up.
"""

import sys
import types
from pathlib import Path

HERE = Path(__file__).absolute().parent


def find_verdigris() -> None:
    """Makes `verdigris` importable from its wheel, and what it needs for this."""
    package = types.ModuleType("verdigris")
    package.__path__ = [str(each / "verdigris") for each in HERE.glob("wheels/verdigris-*.whl")]
    sys.modules["verdigris"] = package
    sys.path[:0] = [str(each) for each in HERE.glob("wheels/platformdirs-*.whl")]


if __name__ == "__main__":
    find_verdigris()
    try:
        from verdigris.core.worker.install.program import main
    except ImportError:
        sys.exit(
            f"make_worker: the packages of the worker are missing in {HERE / 'wheels'}: unzip the "
            "whole archive again, to the same place"
        )
    sys.exit(main(HERE, sys.argv[1:]))
