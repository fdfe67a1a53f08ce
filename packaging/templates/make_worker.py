#!/usr/bin/env python3
"""Makes the Python environment of the worker, next to the plug-in.

Run it with Python 3.11, 3.12 or 3.13, not with that of the application: python3 make_worker.py
"""

import shutil
import subprocess
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent
WORKER, SOURCE = TREE / "worker", TREE / "worker_source"


def main() -> int:
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        print("make_worker: use Python 3.11, 3.12 or 3.13", file=sys.stderr)
        return 1
    made = TREE / "worker.new"
    shutil.rmtree(made, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(made)], check=True)
    python = made / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", str(SOURCE)], check=True)
    subprocess.run([str(python), "-c", "import slangpy, MaterialX, verdigris.core.api"], check=True)
    shutil.rmtree(WORKER, ignore_errors=True)
    made.rename(WORKER)
    print(f"make_worker: {WORKER} is ready")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as failure:
        sys.exit(f"make_worker: {failure}")
