"""hython -m verdigris.plugins.houdini.selftest REPORT.json"""

from __future__ import annotations

import sys
from pathlib import Path

from verdigris.plugins.common.selftest import finish, walk
from verdigris.plugins.houdini.batch import start


def make_scratch() -> None:
    """A grid with a material of /mat and of a stage."""
    from verdigris.plugins.houdini.scratch import make_grid

    make_grid()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(finish(walk(start, make_scratch), Path(sys.argv[1])))
