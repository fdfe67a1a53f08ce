"""A worker that is told to end lets go of its lock, whatever it does, and keeps its checkpoint."""

import signal
import subprocess
import sys
import threading

import pytest

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import VERSION, Decoder, encode

from .running_worker import BRISK_WORKER, CLAY, LONG

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="such signals are of POSIX"),
    pytest.mark.usefixtures("heard"),
]
# Each signal, at another time.
WHEN_TOLD = [
    (signal.SIGINT, "checkpointed"),
    (signal.SIGTERM, "started"),
    *([(signal.SIGHUP, "hello")] if hasattr(signal, "SIGHUP") else []),
]

# It keeps its state for the first time when all is over.
LATE = [
    *BRISK_WORKER[:-1],
    BRISK_WORKER[-1].replace("CHECKPOINT_SECONDS = 0.3", "CHECKPOINT_SECONDS = 1e9"),
]


@pytest.fixture(autouse=True)
def software(monkeypatch):
    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")


def run(*given, command=BRISK_WORKER):
    """A worker that has got these commands."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
    for each in (commands.Hello(VERSION), *given):
        process.stdin.write(encode(*commands.command_line(each)))
    process.stdin.flush()
    return process


def baking(folder, command=BRISK_WORKER, until="step"):
    """A worker in the middle of a bake."""
    clay = commands.Open(name="clay", payload=CLAY.encode())
    process = run(
        clay, commands.Start(str(folder), request=BakeRequest(changes=LONG)), command=command
    )
    wait_for(process, until)
    return process


def wait_for(process, event):
    decoder = Decoder()
    while data := process.stdout.read1(1 << 16):
        if any(item.header["event"] == event for item in decoder.feed(data)):
            return
    raise AssertionError(f"it has ended before it said {event}")


def left_by(process, folder):
    """What is in the folder once it has ended."""
    threading.Thread(target=process.stdout.read, daemon=True).start()
    process.wait(20)
    assert process.stderr.read() == b""
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(("told", "until"), WHEN_TOLD)
def test_a_signal_ends_it_within_a_second_and_leaves_no_lock(told, until, tmp_path):
    if until == "hello":
        # without a bake, and before anything else
        process = run()
        wait_for(process, until)
    else:
        process = baking(tmp_path, LATE if until == "started" else BRISK_WORKER, until)
        assert (tmp_path / ".clay.lock").exists()
    process.send_signal(told)
    process.send_signal(told)
    assert left_by(process, tmp_path) == (["clay.bake.npz"] if until == "checkpointed" else [])
    # as one that is killed by it: whoever has started it sees why it is gone. One that is ended by
    # force, after a second, has another code, and its lock stays
    assert process.returncode == -told


def test_one_that_was_begun_deaf_to_the_end_of_its_terminal_goes_on():
    process = run(command=["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *BRISK_WORKER])
    wait_for(process, "hello")
    process.send_signal(signal.SIGHUP)
    process.stdin.write(encode({"command": "pause"}))
    process.stdin.flush()
    wait_for(process, "error")
    assert process.poll() is None
    process.terminate()
    assert process.wait(20) == -signal.SIGTERM


STUCK = """
import runpy, sys, time
import verdigris.core.baking.phases.open_run as open_run
def stuck(*_):
    # where the bake holds its lock already
    print("stuck", file=sys.stderr, flush=True)
    time.sleep(60)
open_run.open_learner = stuck
runpy.run_module("verdigris.core.worker", run_name="__main__")
"""


def test_the_end_of_its_input_leaves_no_lock_even_in_the_middle_of_something_long(tmp_path):
    process = baking(tmp_path, [*BRISK_WORKER[:-1], STUCK], until="opened")
    assert process.stderr.readline() == b"stuck\n"
    assert (tmp_path / ".clay.lock").exists()
    process.stdin.close()
    assert left_by(process, tmp_path) == []
    assert process.returncode == 0


def test_the_end_of_its_reader_ends_a_bake_and_keeps_its_checkpoint(tmp_path):
    process = baking(tmp_path, until="checkpointed")
    process.stdout.close()
    # its input stays open
    assert process.wait(20) == 141
    assert process.stderr.read() == b""
    assert [path.name for path in tmp_path.iterdir()] == ["clay.bake.npz"]


def test_the_end_of_its_reader_ends_a_worker_without_work():
    process = run()
    wait_for(process, "hello")
    process.stdout.close()
    assert process.wait(20) == 141
    assert process.stderr.read() == b""
