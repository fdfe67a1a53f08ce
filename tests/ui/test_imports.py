"""The panel runs in the Python of a host, without Slang and MaterialX."""

import subprocess
import sys

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

ALONE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {missing}:
            raise ImportError(f"the panel imported {{name}}")

sys.meta_path.insert(0, Missing())
import verdigris.ui.panel
import verdigris.core.worker.client.client
print(sorted(name for name in sys.modules if name.startswith("verdigris.plugins")))
"""
# Packages of the worker that a host may lack.
MISSING = ("slangpy", "MaterialX", "OpenImageIO", "flip_evaluator", "platformdirs", "rich", "typer")


def test_the_panel_needs_no_more_than_qt_numpy_and_pyqtgraph():
    done = subprocess.run(
        [sys.executable, "-P", "-c", ALONE.format(missing=set(MISSING))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"


def test_the_worker_starts_without_qt():
    script = ALONE.format(missing={"PySide6", "pyqtgraph", "shiboken6"}).replace(
        "import verdigris.ui.panel", "import verdigris.core.worker.session.session"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
