"""Bakes the materials of a Maya scene without a window. The launcher batch.py runs it in mayapy."""

from __future__ import annotations

from collections.abc import Sequence

from verdigris.plugins.common.batch_bake import main
from verdigris.plugins.maya.without_window import start

PROGRAM = "mayapy batch.py"


def run(arguments: Sequence[str]) -> int:
    """The exit code of the batch."""
    return main(PROGRAM, start, arguments)
