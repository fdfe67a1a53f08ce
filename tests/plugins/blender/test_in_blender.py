"""Runs the tests of `inside` with Blender's module bpy, in its own environment.

bpy needs Python 3.11 and numpy 1.26, so that it cannot share the environment of Verdigris.
"""

import os
import subprocess
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

from provision.blender import FOLDER
from provision.environment import python_in

from ...core.brisk import write_brisk_python

ROOT = Path(__file__).resolve().parents[3]
VARIABLE = "VERDIGRIS_BLENDER_PYTHON"
SECONDS = 600


def blender_python() -> Path | None:
    """The Python of an environment with bpy: the one that the variable names, or bootstrap's."""
    named = os.environ.get(VARIABLE)
    python = Path(named) if named else python_in(ROOT / FOLDER)
    return python if python.exists() else None


def run_inside(python: Path, tests: Path, results: Path) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-P", "-m", "pytest", str(tests), f"--junitxml={results}"]
    command += ["-p", "no:cacheprovider", "-W", "ignore::pytest.PytestConfigWarning"]
    environment = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    environment |= {
        # a link for each package of this repository
        "PYTHONPATH": str(ROOT / "packaging" / "typing"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "VERDIGRIS_PYTHON": write_brisk_python(results.with_name("python")),
        "BLENDER_USER_RESOURCES": str(results.parent / "blender"),
    }
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.timeout(SECONDS)
def test_the_plug_in_works_in_blender(tmp_path, subtests):
    python = blender_python()
    if python is None:
        pytest.skip("no bpy: make it with `python3 packaging/bootstrap.py test --blender`")
    results = tmp_path / "results.xml"
    done = run_inside(python, Path(__file__).with_name("inside"), results)
    print(done.stdout, done.stderr, sep="\n")
    assert results.is_file(), done.stderr or done.stdout
    cases = list(xml.parse(results).getroot().iter("testcase"))
    assert len(cases) > 50
    for case in cases:
        with subtests.test(f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"):
            for kind in ("failure", "error"):
                fault = case.find(kind)
                assert fault is None, f"{fault.get('message')}\n{fault.text}"
    assert done.returncode == 0
