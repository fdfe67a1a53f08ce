"""However a run or a bake is ended, it tells what came of it, and no lock is left behind."""

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.lock import locked
from verdigris.core.batch.plan.plan import make_plan
from verdigris.core.batch.run import bake_process
from verdigris.core.batch.run.bake_process import BakeProcess, bake_in_process
from verdigris.core.settings.bake_settings import as_read
from verdigris.core.settings.changes import changes_to

from ..baking.bakes import CHALK, TINY
from ..brisk import SMALL
from ..in_process import run_command
from ..signals import hang_up
from . import fake_bake as kinds
from .scenes import read, write_documents

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="such signals are of POSIX"),
    pytest.mark.usefixtures("heard"),
]
PROGRAM = Path(__file__).with_name("fake_verdigris.py")
HANG_UP = [signal.SIGHUP] if hasattr(signal, "SIGHUP") else []
TOLD = [signal.SIGINT, signal.SIGTERM, *HANG_UP]
# the process of bakes, which says in its log what it does, and in an event who it is
LOUD = f"""{SMALL}
import os, sys
from verdigris.core.batch.run import bake_task
run = bake_task.run
def loud(task, post):
    print("bakes", task.name, file=sys.stderr)
    post({{"event": "process", "pid": os.getpid()}})
    return run(task, post)
bake_task.run = loud
bake_task.main()
"""
ENDS = "ending the running bakes; their checkpoints remain"


def run_of(tmp_path, *names):
    """The arguments of a run whose bakes hang."""
    write_documents(tmp_path / "docs", *names)
    words = ["scene", "run", str(tmp_path / "docs"), "-o", str(tmp_path / "out")]
    return [*words, "--jobs", "1", "--set", f"seed={kinds.HANG}"]


def run_until_begun(tmp_path, *names, then):
    """Exit code and errors of such a run in this process, which calls `then` once it has told of
    its first bake; `then` is given the reader of its output."""
    reader, writer = os.pipe()
    output = os.fdopen(reader, "rb")

    def wait():
        assert json.loads(output.readline())["event"] == "begins"
        then(output)

    waiting = threading.Thread(target=wait)
    waiting.start()
    alone = (bake_process, "bake_command", lambda: [sys.executable, kinds.__file__])
    with os.fdopen(writer, "w") as stream:
        words = [*run_of(tmp_path, *names), "--json"]
        code, _, errors = run_command(words, alone, (sys, "stdout", stream))
    waiting.join()
    output.close()
    return code, errors


def summary_of(tmp_path):
    found = json.loads((tmp_path / "out" / "scene_summary.json").read_text())
    return found["exit_code"], {each["name"]: each["status"] for each in found["materials"]}


def locks_in(folder):
    return [path.name for path in folder.rglob(".*.lock")]


def test_a_run_without_standard_output_bakes_and_reports(tmp_path):
    write_documents(tmp_path / "docs", "a")
    command = [sys.executable, str(PROGRAM), "scene", "run", str(tmp_path / "docs")]
    without = ["sh", "-c", 'exec "$@" >&-', "sh", *command, "-o", str(tmp_path / "out")]
    done = subprocess.run(without, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert summary_of(tmp_path) == (0, {"a": "baked"})


def test_a_run_whose_output_nobody_takes_any_more_ends_in_a_report(tmp_path):
    code, told = run_until_begun(tmp_path, "a", "b", then=lambda output: output.close())
    assert code == 130
    assert told == (
        f"verdigris: the output was closed (Broken pipe): {ENDS}\nverdigris: interrupted\n"
    )
    assert summary_of(tmp_path) == (130, {"a": "stopped", "b": "not reached"})
    assert "not reached" in (tmp_path / "out" / "scene_report.html").read_text()
    assert locks_in(tmp_path / "out") == []


@pytest.mark.parametrize("told", TOLD)
def test_a_run_that_is_told_to_end_does_so_in_a_report(told, tmp_path):
    def end(_):
        os.kill(os.getpid(), told)

    code, errors = run_until_begun(tmp_path, "a", "b", then=end)
    assert code == 130
    assert errors == f"verdigris: {ENDS}\nverdigris: interrupted\n"
    assert summary_of(tmp_path) == (130, {"a": "stopped", "b": "not reached"})
    assert locks_in(tmp_path / "out") == []


@pytest.mark.skipif(not HANG_UP, reason="no terminal hangs up there")
def test_a_run_whose_terminal_is_closed_ends_in_a_report(tmp_path):
    command = [sys.executable, str(PROGRAM), *run_of(tmp_path, "a", "b")]
    process = hang_up(command, until=b"preparing")
    assert process.wait(60) == 130
    assert summary_of(tmp_path) == (130, {"a": "stopped", "b": "not reached"})
    assert locks_in(tmp_path / "out") == []


def test_locks_of_a_bake_that_was_killed_go_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr(bake_process, "bake_command", lambda: [sys.executable, kinds.__file__])
    (work,) = make_plan(read(write_documents(tmp_path / "docs", "a"), out=tmp_path)).works
    request = BakeRequest(changes={"seed": kinds.LEAVE_LOCKS})
    outcome = bake_in_process(
        replace(work.task, request=request), lambda _: None, threading.Event()
    )
    assert "was ended by signal 9" in outcome.text
    assert locks_in(tmp_path) == []


def test_a_lock_that_another_process_holds_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(bake_process, "bake_command", lambda: [sys.executable, kinds.__file__])
    (work,) = make_plan(read(write_documents(tmp_path / "docs", "a"), out=tmp_path)).works
    with locked(tmp_path, "a"):
        bake_in_process(work.task, lambda _: None, threading.Event())
        assert locks_in(tmp_path) == [".a.lock"]


def test_a_process_bakes_two_materials_and_writes_the_log_of_each(tmp_path):
    names, folder = ("a", "b"), tmp_path / "docs"
    folder.mkdir()
    for name in names:
        (folder / f"{name}.mtlx").write_text(CHALK.format(name=name))
    works = make_plan(read(folder, out=tmp_path / "out")).works
    (tmp_path / "out").mkdir()
    tiny = BakeRequest(changes=changes_to(as_read(replace(TINY, iterations=20))))
    process, stop, told = BakeProcess(), threading.Event(), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bake_process, "bake_command", lambda: [sys.executable, "-P", "-c", LOUD])
        for work in works:
            task = replace(work.task, request=tiny, device="software")
            log = tmp_path / f"{work.task.name}.log"
            assert process.bake(task, told.append, stop, log).status == "baked"
    process.close()
    for name in names:
        manifest = json.loads((tmp_path / "out" / f"{name}.vdg" / "manifest.json").read_text())
        assert manifest["source"]["preset"] == "draft"
        assert f"bakes {name}" in (tmp_path / f"{name}.log").read_text()
    assert "bakes b" not in (tmp_path / "a.log").read_text()
    assert len({each["pid"] for each in told if each["event"] == "process"}) == 1
    assert locks_in(tmp_path / "out") == []


def baking(tmp_path):
    """The process of a bake, in the middle of it."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.mtlx").write_text(CHALK.format(name="a"))
    (work,) = make_plan(read(tmp_path / "docs", out=tmp_path / "out")).works
    long = changes_to(as_read(replace(TINY, iterations=1_000_000)))
    request = BakeRequest(changes=long, checkpoint_seconds=0)
    task = replace(work.task, request=request, device="software")
    task.folder.mkdir()
    command, pipe = [sys.executable, "-P", "-m", bake_process.MODULE], subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
    process.stdin.write(json.dumps(task.as_json()).encode() + b"\n")
    process.stdin.flush()
    next(line for line in process.stdout if b'"checkpointed"' in line)
    assert (task.folder / ".a.lock").exists()
    return process


# other signals end in the same way: tests/core/worker/test_ending.py
@pytest.mark.parametrize("told", [signal.SIGTERM, None])
def test_a_bake_lets_go_of_its_lock_and_keeps_its_checkpoint(told, tmp_path):
    process = baking(tmp_path)
    threading.Thread(target=process.stdout.read, daemon=True).start()
    if told is None:
        # whoever asked for it is gone
        process.stdin.close()
    else:
        process.send_signal(told)
    # one that is ended by force, after a second, has another code, and its lock stays
    assert process.wait(20) == (1 if told is None else -told)
    assert process.stderr.read() == b""
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.bake.npz"]


def test_a_bake_that_nobody_listens_to_lets_go_of_its_lock(tmp_path):
    process = baking(tmp_path)
    process.stdout.close()
    assert process.wait(20) == 1
    assert b"BrokenPipeError" in process.stderr.read()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.bake.npz"]
