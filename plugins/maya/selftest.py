"""mayapy -m verdigris.plugins.maya.selftest REPORT.json"""

from __future__ import annotations

import sys
from pathlib import Path

from verdigris.plugins.common.selftest import finish, walk
from verdigris.plugins.maya.batch import start


def make_scratch() -> None:
    """A plane with Maya's own standardSurface, which has to go through the USD export."""
    from verdigris.plugins.maya.scratch import make_plane

    make_plane()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(finish(walk(start, make_scratch), Path(sys.argv[1])))
