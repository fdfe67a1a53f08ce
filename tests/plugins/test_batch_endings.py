"""However a batch is ended, the summary has all outcomes, and no bake runs on."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .interpreters import LAUNCHERS, SCENE, fake_worker, make_interpreter

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="such signals are of POSIX")
HERE = Path(__file__).parent
PROGRAM = HERE / "batch_program.py"


class Batch:
    """A batch of materials with these names."""

    def __init__(self, folder, *names, options=(), file="summary.json", **pipes):
        scene = folder / "scene.txt"
        scene.write_text("\n".join(names))
        self.folder = folder
        if file:
            self.file = folder / file
            options = ("--summary", str(self.file), *options)
        command = [sys.executable, str(PROGRAM), str(scene), "-o", str(folder)]
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **pipes}
        self.process = subprocess.Popen(
            [*command, *options], env={**os.environ, **fake_worker(folder)}, **given
        )

    def pid(self, name):
        """The bake's process, once it has started."""
        file = self.folder / f"{name}.pid"
        wait_until(lambda: file.is_file() and file.read_text())
        return int(file.read_text())

    @property
    def statuses(self):
        return [each["status"] for each in json.loads(self.file.read_text())["materials"]]


def wait_until(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # a child that nobody has waited for
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_the_running_result_and_leaves_out_the_others(number, code, tmp_path):
    batch = Batch(tmp_path, "quick", "long", "late")
    pid = batch.pid("long")
    batch.process.send_signal(number)
    _, errors = batch.process.communicate(timeout=30)
    assert batch.process.returncode == code, errors
    assert batch.statuses == ["baked", "baked", "cancelled"]
    found = json.loads(batch.file.read_text())
    assert [each["stopped_by"] for each in found["materials"]] == ["steps", "request", ""]
    assert (found["complete"], found["cancelled"]) == (False, 1)
    assert b"[2/3] long: baked in " in errors and b"ended early" in errors
    assert is_gone(pid) and not (tmp_path / "late.pid").exists()


def test_a_bake_that_is_ended_before_it_learnt_is_cancelled(tmp_path):
    batch = Batch(tmp_path, "unborn")
    batch.pid("unborn")
    batch.process.send_signal(signal.SIGINT)
    assert batch.process.wait(30) == 130
    (unborn,) = json.loads(batch.file.read_text())["materials"]
    assert (unborn["status"], unborn["error"]) == ("cancelled", "nothing was learnt")


def test_a_second_interruption_ends_at_once(tmp_path):
    batch = Batch(tmp_path, "quick", "stubborn", "late")
    pid = batch.pid("stubborn")
    batch.process.send_signal(signal.SIGINT)
    wait_until((tmp_path / "stubborn.asked").is_file)
    # for one that would end all the same
    time.sleep(0.3)
    assert batch.process.poll() is None and not is_gone(pid)
    batch.process.send_signal(signal.SIGINT)
    _, errors = batch.process.communicate(timeout=10)
    assert batch.process.returncode == 130
    assert errors.splitlines()[-1] == b"batch: interrupted"
    assert batch.statuses == ["baked", "cancelled", "cancelled"]
    assert is_gone(pid)


def test_a_killed_batch_loses_no_outcome_and_leaves_no_bake_behind(tmp_path):
    batch = Batch(tmp_path, "current", "quick", "long")
    pid = batch.pid("long")
    batch.process.kill()
    batch.process.communicate(timeout=30)
    assert batch.statuses == ["up to date", "baked", "waiting"]
    # its output is closed
    wait_until(lambda: is_gone(pid), 10)


def test_an_interrupted_batch_of_maya_ends_maya_and_returns_130(tmp_path):
    mayapy = make_interpreter("mayapy", tmp_path)
    mayapy.variables.update(fake_worker(tmp_path))
    process = mayapy.start(LAUNCHERS / "batch.py", SCENE, "-o", tmp_path)
    wait_until((tmp_path / "gold.pid").is_file)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, json.loads(out)["baked"]) == (130, 1)
    assert mayapy.calls == ["initialize", "uninitialize"]


def test_a_terminal_shows_one_line_that_is_updated(tmp_path):
    here, there = os.openpty()
    batch = Batch(tmp_path, "quick", "long", stderr=there)
    os.close(there)
    shown = b""
    while shown.count(b"long  training ") < 4:
        shown += os.read(here, 4096)
    batch.process.send_signal(signal.SIGINT)
    try:
        while chunk := os.read(here, 4096):
            shown += chunk
    except OSError:
        # the other side is closed
        pass
    os.close(here)
    assert batch.process.wait(30) == 130
    updates = [line for line in shown.split(b"\r") if b"long  training " in line][1:]
    for line in updates:
        assert re.fullmatch(rb"\[2/2\] long  training \d+%  loss 0.5000  20 s left *", line)
    # what stays is on lines of its own
    last = shown.decode().splitlines()[-2:]
    assert last[0].startswith("[2/2] long: baked in ")
    assert last[1].startswith("batch: 2 materials: 2 baked in ")


def test_quiet_shows_nothing_but_errors(tmp_path):
    batch = Batch(tmp_path, "quick", options=["--quiet"])
    out, errors = batch.process.communicate(timeout=30)
    assert (batch.process.returncode, out, errors) == (0, b"", b"")


def test_a_summary_that_nobody_reads_is_told_by_the_exit_code(tmp_path):
    batch = Batch(tmp_path, "current", file=None)
    batch.process.stdout.close()
    errors = batch.process.stderr.read()
    assert batch.process.wait(30) == 141
    assert errors.splitlines()[-1] == b"batch: the summary cannot be printed: Broken pipe"


def test_a_closed_terminal_does_not_fail_the_batch(tmp_path):
    batch = Batch(tmp_path, "quick", "current")
    batch.process.stderr.close()
    assert batch.process.wait(30) == 0
    assert batch.statuses == ["baked", "up to date"]
