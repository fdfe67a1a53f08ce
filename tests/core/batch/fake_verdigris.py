"""The `verdigris` command of a farm's machine, whose bakes are those of fake_bake.py."""

import sys
from pathlib import Path

from verdigris.core.batch.run import bake_process
from verdigris.core.cli import main as cli

FAKE = Path(__file__).with_name("fake_bake.py")

if __name__ == "__main__":
    bake_process.bake_command = lambda: [sys.executable, str(FAKE)]
    cli.main()
