"""Processes whose bakes end with small pictures and measures. These would be most of their time,
and are held by tests of their own."""

import sys
from pathlib import Path

_ENDINGS = Path(__file__).with_name("small_endings.py")
SMALL = f"""
import runpy
for each in runpy.run_path({str(_ENDINGS)!r})["SMALL_ENDINGS"]:
    setattr(*each)
"""
# The command, as `-m verdigris.core` runs it.
BRISK_COMMAND = [
    *(sys.executable, "-c"),
    SMALL + 'runpy.run_module("verdigris.core", run_name="__main__")',
]
