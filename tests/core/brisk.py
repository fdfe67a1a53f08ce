"""Processes whose bakes draw their closing pictures small. These would be most of their time, and
are held by tests of their own."""

import sys

SMALL = """
import functools
import runpy
import verdigris.core.training.finish as finish
import verdigris.core.training.measure as measure
finish.sphere_to_compare = functools.partial(measure.sphere_to_compare, size=16)
finish._SMALL_PREVIEW = finish._SOFTWARE_PREVIEW = (32, 1, 4)
"""
# The command, as `-m verdigris.core` runs it.
BRISK_COMMAND = [
    *(sys.executable, "-c"),
    SMALL + 'runpy.run_module("verdigris.core", run_name="__main__")',
]
