"""The set-up of the worker's Python: its progress, its end, and its failures."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.process import worker_environment
from verdigris.core.base.process.worker_environment import (
    WorkerEnvironmentError,
    read_setting,
    require_worker_python,
    save_python,
    saved_python,
    store_setting,
)
from verdigris.core.worker.client import set_up
from verdigris.core.worker.client.set_up import FAILED, FINISHED, SetUp, require_python

from .set_up_trees import CRASHES, MAKES, REFUSES, WAITS, make_checkout, make_old_python, make_tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="its programs are scripts of POSIX")
SECONDS = 30
TEMPLATE = Path(__file__).parents[3] / "packaging" / "templates" / "make_worker.py"


@pytest.fixture
def use(tmp_path, monkeypatch):
    """Makes a tree the place of this copy of Verdigris, whose own Python cannot bake."""
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv("VERDIGRIS_PYTHON", raising=False)
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
        require_worker_python()
    events = events_of(SetUp())
    assert [(each.text, each.part) for each in events[-3:-1]] == [
        ("Looking for Python 3.11, 3.12 or 3.13", 0.0),
        ("Downloading slangpy-0.43.1.whl", 0.5),
    ]
    python = tmp_path / "tree" / "worker" / "bin" / "python"
    assert (events[-1].kind, events[-1].text) == (FINISHED, f"{python} is ready")
    assert require_worker_python() == str(python)
    # it is found by its place
    assert saved_python() is None


@pytest.mark.parametrize(
    ("ending", "said"),
    [(REFUSES, "the package index cannot be reached"), (CRASHES, "no space left on device")],
)
def test_a_failed_set_up_has_the_reason(use, tmp_path, ending, said):
    use(make_tree(tmp_path, ending))
    last = events_of(SetUp())[-1]
    assert last.kind == FAILED
    assert "the set-up failed (exit code 1): " in last.text and said in last.text


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
    assert (last.kind, last.text) == (
        FAILED,
        "the set-up was cancelled; downloaded packages are kept",
    )
    # what is left of a process stays until its new parent looks at it
    state = Path(f"/proc/{child}/stat")
    while state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] != "Z":
        assert time.monotonic() - begun < SECONDS
        time.sleep(0.05)


def test_a_read_only_tree_gets_its_worker_in_the_folder_of_the_user(use, tmp_path, monkeypatch):
    use(make_tree(tmp_path, MAKES))
    # access rights do not stop an administrator
    monkeypatch.setattr(set_up, "_is_writable", lambda _: False)
    monkeypatch.setattr(set_up, "own_folder", lambda: tmp_path / "home")
    assert events_of(SetUp())[-1].kind == FINISHED
    python = tmp_path / "home" / "worker" / "bin" / "python"
    assert require_worker_python() == str(python) and saved_python() == python


def test_a_checkout_shows_the_lines_of_its_bootstrap(use, tmp_path):
    package = make_checkout(tmp_path)
    use(package)
    events = events_of(SetUp())
    assert events[-2].text == "verdigris: making .venv (Python 3.11.7)…"
    assert events[-1].kind == FINISHED
    assert require_worker_python() == str(package / ".venv" / "bin" / "python")


def test_a_setting_that_names_a_wrong_python_is_replaced(use, tmp_path):
    use(make_tree(tmp_path, MAKES))
    save_python(make_old_python(tmp_path / "python3.9"))
    store_setting("another", [1])
    assert events_of(SetUp())[-1].kind == FINISHED
    assert saved_python() == tmp_path / "tree" / "worker" / "bin" / "python"
    assert read_setting("another") == [1]


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


def test_the_real_program_of_a_staged_tree_sends_such_lines(tmp_path):
    command = [sys.executable, TEMPLATE, "--progress", "json", "--into", tmp_path / "worker"]
    done = subprocess.run(
        [*command, "--python", tmp_path / "none"], check=False, capture_output=True, text=True
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert (events[0]["event"], events[0]["part"]) == ("progress", 0.0)
    assert (events[-1]["event"], done.returncode) == ("error", 1)
    assert str(tmp_path / "none") in events[-1]["text"]


def test_supported_versions_are_those_of_the_packages():
    from bootstrap import SUPPORTED

    assert sorted(worker_environment.SUPPORTED) == sorted(SUPPORTED)
