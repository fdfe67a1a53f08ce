"""The set-up of the worker: its progress, its end, and its failures."""

import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.process import unpacked_worker, worker_environment
from verdigris.core.base.process.unpacked_worker import read_worker
from verdigris.core.base.process.worker_environment import (
    WorkerEnvironmentError,
    read_setting,
    require_worker_command,
    save_python,
    saved_python,
    store_setting,
)
from verdigris.core.worker.client import set_up
from verdigris.core.worker.client.set_up import FAILED, FINISHED, SetUp, require_python

from .set_up_trees import (
    CRASHES,
    MAKES,
    REFUSES,
    WAITS,
    make_checkout,
    make_old_python,
    make_tree,
    worker_in,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="its programs are scripts of POSIX")
SECONDS = 30


@pytest.fixture
def use(tmp_path, monkeypatch):
    """Makes a tree the place of this copy of Verdigris, whose own Python cannot bake."""
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv("VERDIGRIS_PYTHON", raising=False)
    monkeypatch.delenv("VERDIGRIS_WORKERS", raising=False)
    monkeypatch.setattr(unpacked_worker, "user_place", lambda: tmp_path / "home" / "worker")
    monkeypatch.setattr(worker_environment, "NEEDED", ("no_such_module",))
    monkeypatch.setattr(set_up, "_candidates", lambda: iter([sys.executable]))

    def place(package):
        monkeypatch.setattr(worker_environment, "package_folder", lambda: package)

    return place


def events_of(running, until=(FINISHED, FAILED)):
    events, end = [], time.monotonic() + SECONDS
    while time.monotonic() < end:
        events += running.poll()
        if events and (events[-1].kind in until or events[-1].text.startswith(until)):
            return events
        time.sleep(0.01)
    raise AssertionError(f"it has not ended, but reported {events}")


def test_a_set_up_reports_its_progress_and_makes_the_worker_of_the_tree(use, tmp_path):
    use(make_tree(tmp_path, MAKES))
    with pytest.raises(WorkerEnvironmentError, match=r"make_worker\.py"):
        require_worker_command()
    events = events_of(SetUp())
    assert [(each.text, each.part) for each in events[-3:-1]] == [
        ("Setting up the worker", 0.0),
        ("Unpacking slangpy (298 MB)", 0.5),
    ]
    assert (events[-1].kind, events[-1].text) == (FINISHED, "the worker is ready")
    assert unpacked_worker.worker_of(require_worker_command()) == worker_in(tmp_path)
    # it is found by its place
    assert saved_python() is None


@pytest.mark.parametrize(
    ("ending", "said"),
    [(REFUSES, "the packages are missing: unzip again"), (CRASHES, "no space left on device")],
)
def test_a_failed_set_up_has_the_reason(use, tmp_path, ending, said):
    use(make_tree(tmp_path, ending))
    last = events_of(SetUp())[-1]
    assert last.kind == FAILED
    assert last.text.startswith("the set-up failed") and said in last.text


@pytest.mark.usefixtures("heard")
def test_a_cancelled_set_up_ends_with_its_children(use, tmp_path):
    use(make_tree(tmp_path, WAITS))
    running = SetUp()
    child = int(events_of(running, until=("child ",))[-1].text.split()[1])
    begun = time.monotonic()
    running.cancel()
    running.cancel()
    last = events_of(running)[-1]
    # they would wait for a minute
    assert time.monotonic() - begun < SECONDS
    assert (last.kind, last.text) == (FAILED, "the set-up was cancelled; the next one continues")
    # what is left of a process stays until its new parent looks at it
    state = Path(f"/proc/{child}/stat")
    while state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] != "Z":
        assert time.monotonic() - begun < SECONDS
        time.sleep(0.05)


def test_a_checkout_shows_the_lines_of_its_bootstrap(use, tmp_path):
    package = make_checkout(tmp_path)
    use(package)
    events = events_of(SetUp())
    assert events[-2].text == "verdigris: making .venv (Python 3.11.7)…"
    assert events[-1].kind == FINISHED
    assert require_worker_command() == [str(package / ".venv" / "bin" / "python"), "-P", "-u"]


def test_a_setting_that_names_a_wrong_python_is_removed(use, tmp_path, monkeypatch):
    use(make_tree(tmp_path, MAKES))
    old = make_old_python(tmp_path / "python3.9")
    save_python(old)
    store_setting("another", [1])
    assert events_of(SetUp())[-1].kind == FINISHED
    assert saved_python() is None and read_setting("another") == [1]
    assert unpacked_worker.worker_of(require_worker_command()) == worker_in(tmp_path)
    # a variable is the user's: it is named
    shutil.rmtree(tmp_path / "tree" / "worker")
    monkeypatch.setenv("VERDIGRIS_PYTHON", str(old))
    text = events_of(SetUp())[-1].text
    assert f"the variable VERDIGRIS_PYTHON names {old}: remove the variable" in text


def test_the_first_python_of_the_application_that_starts_is_used(use, tmp_path, monkeypatch):
    use(make_tree(tmp_path, MAKES))
    broken = tmp_path / "python3"
    broken.write_text("#!/bin/sh\necho Killed: 9 >&2; exit 137\n")
    broken.chmod(0o755)
    found = [str(broken), unpacked_worker.find_plain_python()]
    # as Blender's own, which is the program of its process
    monkeypatch.setattr(sys, "executable", found[1])
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('of the application')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(set_up, "find_plain_pythons", lambda: found)
    assert events_of(SetUp())[-1].kind == FINISHED
    worker = read_worker(worker_in(tmp_path))
    # a plug-in chooses the one that has loaded the packages
    monkeypatch.setattr(unpacked_worker, "find_plain_pythons", lambda: found)
    assert replace(worker, pythons=tuple(found[1:])).find_python() == found[1]
    assert worker.find_python() == found[0]
    del found[1]
    text = events_of(SetUp())[-1].text
    assert f"that starts ({broken}: it does not start (Killed: 9)): run" in text


def test_a_copy_without_a_program_says_so(use, tmp_path):
    use(tmp_path)
    assert "stage the plug-in with packaging/stage.py" in events_of(SetUp())[-1].text


def test_the_first_python_of_a_supported_version_is_used(tmp_path, monkeypatch):
    old = make_old_python(tmp_path / "bin" / "python3")
    newer = make_old_python(tmp_path / "bin" / "python3.12", (3, 12))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert require_python() == str(newer)
    newer.unlink()
    # the one of this process, as that of an application, comes last
    assert require_python() not in (str(old), str(newer))
    monkeypatch.setattr(set_up, "_candidates", lambda: iter([str(old)]))
    with pytest.raises(VerdigrisError, match=r"no Python 3\.11, 3\.12 or 3\.13 that can"):
        require_python()


def test_supported_versions_are_those_of_the_packages():
    from bootstrap import SUPPORTED

    assert sorted(worker_environment.SUPPORTED) == sorted(SUPPORTED)
