"""The rules that the whole tree keeps: style, types, layers, packages, imports that are free."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
IMPORT_SECONDS = 0.3
LATE = ("slangpy", "MaterialX", "OpenImageIO", "PySide6", "typer")

IMPORT_CORE = """
import json, sys, time
start = time.perf_counter()
import verdigris.core
print(json.dumps([time.perf_counter() - start, list(sys.modules)]))
"""

# It looks for garbage for a sixth of its time.
MYPY = """
import gc
gc.disable()
gc.enable = gc.disable
from mypy.__main__ import console_entry
console_entry()
"""

IMPORT_ALL = """
import importlib, json, pkgutil
import verdigris.core
names = [
    module.name
    for module in pkgutil.walk_packages(verdigris.core.__path__, "verdigris.core.")
    if not module.name.endswith("__main__")
]
for name in names:
    importlib.import_module(name)
import slangpy
print(json.dumps([names, [str(device) for device in slangpy.Device.get_created_devices()]]))
"""


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def answer_of(code: str):
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("-m", "ruff", "check", "--output-format", "concise"), id="ruff check"),
        pytest.param(("-m", "ruff", "format", "--check"), id="ruff format"),
        pytest.param(("-c", MYPY), id="mypy"),
        pytest.param(
            ("-c", "from importlinter.cli import lint_imports_command as run; run()"),
            id="import-linter",
        ),
    ],
)
def test_the_tree_passes(arguments):
    done = run_python(*arguments)
    print(done.stdout, done.stderr, sep="\n")
    assert done.returncode == 0, "see the output"


def test_every_package_in_the_tree_is_installed():
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    found = {
        "verdigris." + ".".join(file.parent.relative_to(ROOT).parts)
        for top in ("core", "plugins", "shaders", "ui", "web")
        for file in (ROOT / top).rglob("__init__.py")
    }
    assert sorted(setuptools["packages"]) == sorted(found)


def test_importing_the_core_is_quick_and_loads_nothing_heavy():
    runs = [answer_of(IMPORT_CORE) for _ in range(3)]
    assert min(seconds for seconds, _ in runs) < IMPORT_SECONDS
    assert [name for name in LATE if name in runs[0][1]] == []


def test_importing_every_module_of_the_core_opens_no_device():
    names, devices = answer_of(IMPORT_ALL)
    assert "verdigris.core.base.errors" in names
    assert devices == []
