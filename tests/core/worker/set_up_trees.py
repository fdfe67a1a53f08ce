"""Staged trees and checkouts with a set-up that makes its worker at once."""

import sys
from textwrap import dedent

from verdigris.core.base.process.unpacked_worker import name_of, python_tag
from verdigris.core.base.process.worker_environment import python_in

# The interface of the real make_worker.py: refuses options that it does not have.
MAKE_WORKER = """
    import argparse, json, os, pathlib, subprocess, sys, time
    parser = argparse.ArgumentParser()
    parser.add_argument("--progress", choices=("text", "json"), default="text")
    parser.add_argument("--python", required=True)
    beside = pathlib.Path(__file__).parent / "worker"
    given = parser.parse_args()
    def tell(**event):
        assert given.progress == "json"
        print(json.dumps(event), flush=True)
    def make():
        tag = "cp%d%d" % sys.version_info[:2]
        worker = beside / ("{version}-" + tag)
        start = worker / "verdigris" / "core" / "worker" / "install" / "start.py"
        start.parent.mkdir(parents=True)
        start.write_text(
            "import os, sys\\n"
            "os.execv({python!r}, [{python!r}, '-P', '-u', *sys.argv[2:]])\\n"
        )
        marker = dict(version="{version}", tag=tag, packages="")
        (worker / "worker.json").write_text(json.dumps(marker))
        return str(worker)
    tell(event="progress", phase="packages", part=0.0, text="Setting up the worker")
    tell(event="progress", phase="packages", part=0.5, text="Unpacking slangpy (298 MB)")
"""
VERSION = "1.2.3"
MAKES = 'tell(event="finished", worker=make())'
REFUSES = 'tell(event="error", text="the packages are missing: unzip again"); sys.exit(1)'
CRASHES = 'raise RuntimeError("no space left on device")'
# It interrupts its child and reports that, as the real one.
WAITS = """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
try:
    tell(event="progress", phase="packages", part=0.6, text=f"child {child.pid}")
    child.wait()
except KeyboardInterrupt:
    child.kill()
    tell(event="error", text="cancelled: nothing has changed")
    sys.exit(130)
"""


def program(ending):
    text = dedent(MAKE_WORKER).replace("{python!r}", repr(sys.executable))
    return text.replace("{version}", VERSION) + dedent(ending)


def make_tree(folder, ending=MAKES):
    """A staged tree without a worker; returns the folder of its package."""
    package = folder / "tree" / "scripts" / "verdigris"
    package.mkdir(parents=True)
    (package / "VERSION").write_text(f"{VERSION}\n")
    (folder / "tree" / "make_worker.py").write_text(program(ending))
    return package


def worker_in(folder, version=VERSION):
    """Where the set-up of a tree puts its worker."""
    return folder / "tree" / "worker" / name_of(version, python_tag())


def make_checkout(folder):
    """A checkout whose bootstrap prints lines, as the real one does."""
    package = folder / "checkout"
    (package / "packaging").mkdir(parents=True)
    python = python_in(package / ".venv")
    (package / "packaging" / "bootstrap.py").write_text(
        "import os, pathlib, sys\n"
        "assert sys.argv[1:] == ['setup'] and os.environ['VERDIGRIS_VERBOSE'] == '1'\n"
        "print('verdigris: making .venv (Python 3.11.7)…', file=sys.stderr)\n"
        f"python = pathlib.Path({str(python)!r})\n"
        "python.parent.mkdir(parents=True)\n"
        "python.write_text('')\n"
    )
    return package


def make_old_python(file, version=(3, 9)):
    """A Python of another version, which knows no -P."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        "if sys.argv[1] == '-P':\n"
        "    sys.exit('unknown option -P\\nTry `python -h\\' for more information.')\n"
        f"sys.version_info = {(*version, 18, 'final', 0)!r}\n"
        "code, sys.argv = sys.argv[2], ['-c', *sys.argv[3:]]\n"
        "exec(code)\n"
    )
    file.chmod(0o755)
    return file
