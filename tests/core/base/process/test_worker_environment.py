"""Where workers are looked for, in which order, and what is said where there is none."""

import hashlib
import json
import sys

import pytest

from verdigris.core.base.process import unpacked_worker, worker_environment
from verdigris.core.base.process.unpacked_worker import (
    find_older_worker,
    find_plain_python,
    name_of,
    python_tag,
    worker_of,
)
from verdigris.core.base.process.worker_environment import (
    WorkerEnvironmentError,
    python_in,
    require_worker_command,
    saved_python,
)


def make_python(folder):
    python = python_in(folder)
    python.parent.mkdir(parents=True)
    python.write_text("")
    return python


def make_worker(place, version="1.2.3", tag=""):
    """A worker whose set-up is complete."""
    tag = tag or python_tag()
    folder = place / name_of(version, tag)
    folder.mkdir(parents=True)
    marker = {"version": version, "tag": tag, "packages": "d"}
    (folder / "worker.json").write_text(json.dumps(marker))
    return folder


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
    (package / "VERSION").write_text("1.2.3\n")
    monkeypatch.delenv("VERDIGRIS_WORKERS", raising=False)
    monkeypatch.setattr(unpacked_worker, "user_place", lambda: tmp_path / "home")
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv("VERDIGRIS_PYTHON", raising=False)
    monkeypatch.setattr(worker_environment, "package_folder", lambda: package)
    monkeypatch.setattr(worker_environment, "NEEDED", ("no_such_module",))
    return tmp_path / "tree"


def test_a_setting_goes_before_the_variable_and_that_before_the_tree(tree, tmp_path, monkeypatch):
    beside = make_worker(tree / "worker")
    assert worker_of(require_worker_command()) == beside
    assert require_worker_command()[0] == find_plain_python()
    named = make_python(tmp_path / "named")
    monkeypatch.setenv("VERDIGRIS_PYTHON", str(named))
    assert require_worker_command() == [str(named), "-P", "-u"]
    chosen = make_python(tmp_path / "chosen")
    choose(tmp_path, chosen)
    assert saved_python() == chosen
    assert require_worker_command()[0] == str(chosen)
    choose(tmp_path, None)
    assert require_worker_command()[0] == str(named)


def test_a_worker_is_found_in_the_tree_then_with_the_user_or_where_a_variable_says(
    tree, tmp_path, monkeypatch
):
    at_home = make_worker(tmp_path / "home")
    assert worker_of(require_worker_command()) == at_home
    beside = make_worker(tree / "worker")
    assert worker_of(require_worker_command()) == beside
    monkeypatch.setenv("VERDIGRIS_WORKERS", str(tmp_path / "studio"))
    with pytest.raises(WorkerEnvironmentError):
        require_worker_command()
    shared = make_worker(tmp_path / "studio")
    assert worker_of(require_worker_command()) == shared


def test_workers_that_are_half_unpacked_or_for_others_are_not_used(tree):
    make_worker(tree / "worker", tag="cp39")
    half = make_worker(tree / "worker")
    (half / "worker.json").unlink()
    copied = make_worker(tree / "worker", "0.9.0")
    copied.rename(half.with_name("1.2.3-copy"))
    make_worker(tree / "worker" / "unpacking").rename(half.with_name(f"{half.name}.new"))
    with pytest.raises(WorkerEnvironmentError):
        require_worker_command()
    assert find_older_worker(tree / "scripts" / "verdigris") is None
    make_worker(tree / "worker", "0.9.0")
    assert find_older_worker(tree / "scripts" / "verdigris").version == "0.9.0"


def test_a_worker_from_other_packages_than_those_of_the_plug_in_is_renewed(tree):
    worker = make_worker(tree / "worker")
    (tree / "wheels").mkdir()
    listed = {"wheels": [{"file": "slangpy-1.whl", "sha256": "12", "size": 1, "unpacked": 2}]}
    (tree / "wheels" / "packages.json").write_text(json.dumps(listed))
    with pytest.raises(WorkerEnvironmentError):
        require_worker_command()
    assert find_older_worker(tree / "scripts" / "verdigris").folder == worker
    digest = hashlib.sha256(b"12 slangpy-1.whl\n").hexdigest()
    marker = json.loads((worker / "worker.json").read_text()) | {"packages": digest}
    (worker / "worker.json").write_text(json.dumps(marker))
    assert worker_of(require_worker_command()) == worker


def test_the_programs_of_a_worker_start_with_the_same_worker(tree, monkeypatch, tmp_path):
    own = make_worker(tree / "worker")
    make_worker(tmp_path / "home")
    monkeypatch.setenv("VERDIGRIS_PYTHON", str(tmp_path / "gone"))
    monkeypatch.setattr(worker_environment, "package_folder", lambda: own / "verdigris")
    assert worker_of(require_worker_command()) == own
    assert require_worker_command()[0] == sys.executable


@pytest.mark.parametrize(
    ("layout", "program", "prefix"),
    [
        # $HFS/python/bin/python: SideFX, "Python" in the guide to hou and hython
        ("hfs21.0/python/bin/python3.11", "hfs21.0/bin/houdini-bin", "hfs21.0/python"),
        # mayapy: Autodesk, "Manage Python packages with mayapy and pip", for each system
        ("maya2026/bin/mayapy", "maya2026/bin/maya.bin", "maya2026"),
        (
            "Maya.app/Contents/bin/mayapy",
            "Maya.app/Contents/MacOS/Maya",
            "Maya.app/Contents/Frameworks/Python.framework/Versions/Current",
        ),
        # Blender's own Python, which is its sys.executable
        ("5.0/python/bin/python3.11", "5.0/python/bin/python3.11", "5.0/python"),
    ],
)
def test_the_plain_python_of_an_application_is_found(
    layout, program, prefix, tmp_path, monkeypatch
):
    for each in (layout, program, "hfs21.0/bin/hython", "5.0/blender"):
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text("")
    monkeypatch.setattr(sys, "version_info", (3, 11, 7))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys, "executable", str(tmp_path / program))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / prefix))
    monkeypatch.setenv("MAYA_LOCATION", str(tmp_path / "Maya.app" / "Contents"))
    if "maya2026" in layout:
        monkeypatch.delenv("MAYA_LOCATION")
    assert find_plain_python() == str(tmp_path / layout)


def test_without_any_the_message_has_the_command_that_makes_it(tree):
    (tree / "make_worker.py").write_text("")
    with pytest.raises(WorkerEnvironmentError, match=r"no no_such_module, .*make_worker\.py"):
        require_worker_command()


def test_a_python_that_has_everything_needs_no_other(tree, monkeypatch):
    monkeypatch.setattr(worker_environment, "NEEDED", ("json",))
    assert require_worker_command() == [sys.executable, "-P", "-u"]


def test_a_checkout_has_its_environment_inside(tree):
    inside = make_python(tree / "scripts" / "verdigris" / ".venv")
    assert require_worker_command()[0] == str(inside)


def test_a_choice_that_is_gone_is_named_with_its_place(tree, tmp_path, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_PYTHON", str(tmp_path / "gone"))
    with pytest.raises(WorkerEnvironmentError, match=r"VERDIGRIS_PYTHON is '.*gone': there is no"):
        require_worker_command()
    chosen = make_python(tmp_path / "chosen")
    choose(tmp_path, chosen)
    chosen.unlink()
    with pytest.raises(WorkerEnvironmentError, match=r"the setting in .*machine\.json is"):
        require_worker_command()


def test_a_damaged_setting_is_named_and_stays(tree, tmp_path):
    file = tmp_path / "config" / "machine.json"
    file.parent.mkdir()
    file.write_text("[")
    with pytest.raises(WorkerEnvironmentError, match=r"machine\.json: cannot be read.*remove it"):
        require_worker_command()
    assert file.read_text() == "["
