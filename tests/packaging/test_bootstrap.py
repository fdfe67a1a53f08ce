"""The entry file: its messages for unsupported Pythons, and its syntax for old ones."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import bootstrap

PACKAGING = Path(bootstrap.__file__).parent


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 1), (3, 13, 0)])
def test_a_supported_python_has_no_problem(version):
    assert bootstrap.version_problem(version, "python3") == ""


def test_an_old_python_is_reported_with_the_remedy():
    message = bootstrap.version_problem((3, 8, 18, "final", 0), "/usr/bin/python3")
    assert "Python 3.8.18 (/usr/bin/python3) is too old" in message
    assert "3.11, 3.12 or 3.13" in message
    assert "python3.12 packaging/bootstrap.py" in message


def test_a_too_new_python_is_reported():
    message = bootstrap.version_problem((3, 14, 0), "python3.14")
    assert "Python 3.14.0 (python3.14) is newer than its dependencies allow" in message


def test_old_pythons_can_read_the_entry_file():
    import ast

    ast.parse((PACKAGING / "bootstrap.py").read_text(), feature_version=(3, 7))


def test_the_supported_versions_are_those_of_the_project():
    pyproject = (PACKAGING.parent / "pyproject.toml").read_text()
    assert 'requires-python = ">=3.11,<3.14"' in pyproject
    assert bootstrap.SUPPORTED == ((3, 11), (3, 12), (3, 13))


def test_help_sets_nothing_up_and_ends_with_zero(tmp_path):
    command = [sys.executable, str(PACKAGING / "bootstrap.py"), "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "bake examples/copper_tray.mtlx" in done.stdout


def test_no_host_is_named_in_the_code():
    dotted = re.compile(r"://[\w-]+\.|\b(?:[\w-]+\.)+(?:com|org|net|io|dev|edu|de)\b")
    for file in PACKAGING.rglob("*.py"):
        assert dotted.findall(file.read_text(encoding="utf-8")) == [], file
