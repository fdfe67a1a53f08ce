"""Processes whose bakes end with small pictures and measures. These would be most of their time,
and are held by tests of their own."""

import shlex
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


def write_brisk_python(file, python=sys.executable):
    """Writes an executable file that is this Python, but for `-P -u -m verdigris.core`."""
    brisk = shlex.join([python, *BRISK_COMMAND[1:]])
    file.write_text(
        "#!/bin/sh\n"
        f'[ "$4" = verdigris.core ] && shift 4 && exec {brisk} "$@"\n'
        f'exec {shlex.quote(python)} "$@"\n'
    )
    file.chmod(0o755)
    return str(file)
