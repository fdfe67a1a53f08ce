"""Where the worker's Python is looked for, in which order, and what is said where it is not."""

import json
import sys

import pytest

from verdigris.core.base.process import worker_environment
from verdigris.core.base.process.worker_environment import (
    WorkerEnvironmentError,
    python_in,
    require_worker_python,
    saved_python,
)


def make_python(folder):
    python = python_in(folder)
    python.parent.mkdir(parents=True)
    python.write_text("")
    return python


def choose(tmp_path, python):
    """As who sets a machine up writes it."""
    file = tmp_path / "config" / "machine.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"worker_python": str(python)} if python else {}))


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A staged tree without a worker, a machine without a setting, a Python without slangpy."""
    package = tmp_path / "tree" / "scripts" / "verdigris"
    package.mkdir(parents=True)
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv("VERDIGRIS_PYTHON", raising=False)
    monkeypatch.setattr(worker_environment, "package_folder", lambda: package)
    monkeypatch.setattr(worker_environment, "NEEDED", ("no_such_module",))
    return tmp_path / "tree"


def test_a_setting_goes_before_the_variable_and_that_before_the_tree(tree, tmp_path, monkeypatch):
    beside = make_python(tree / "worker")
    assert require_worker_python() == str(beside)
    named = make_python(tmp_path / "named")
    monkeypatch.setenv("VERDIGRIS_PYTHON", str(named))
    assert require_worker_python() == str(named)
    chosen = make_python(tmp_path / "chosen")
    choose(tmp_path, chosen)
    assert saved_python() == chosen
    assert require_worker_python() == str(chosen)
    choose(tmp_path, None)
    assert require_worker_python() == str(named)


def test_without_any_the_message_has_the_command_that_makes_it(tree):
    (tree / "make_worker.py").write_text("")
    with pytest.raises(WorkerEnvironmentError, match=r"no no_such_module, .*make_worker\.py"):
        require_worker_python()


def test_a_python_that_has_everything_needs_no_other(tree, monkeypatch):
    monkeypatch.setattr(worker_environment, "NEEDED", ("json",))
    assert require_worker_python() == sys.executable


def test_a_checkout_has_its_environment_inside(tree):
    inside = make_python(tree / "scripts" / "verdigris" / ".venv")
    assert require_worker_python() == str(inside)


def test_a_choice_that_is_gone_is_named_with_its_place(tree, tmp_path, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_PYTHON", str(tmp_path / "gone"))
    with pytest.raises(WorkerEnvironmentError, match=r"VERDIGRIS_PYTHON is '.*gone': there is no"):
        require_worker_python()
    chosen = make_python(tmp_path / "chosen")
    choose(tmp_path, chosen)
    chosen.unlink()
    with pytest.raises(WorkerEnvironmentError, match=r"the setting in .*machine\.json is"):
        require_worker_python()


def test_a_damaged_setting_is_named_and_stays(tree, tmp_path):
    file = tmp_path / "config" / "machine.json"
    file.parent.mkdir()
    file.write_text("[")
    with pytest.raises(WorkerEnvironmentError, match=r"machine\.json: cannot be read.*remove it"):
        require_worker_python()
    assert file.read_text() == "["
