"""What compiles works, and what hangs does not."""

import os
import subprocess
import sys
import time

import pytest

from verdigris.core.base.process.vitals import Vitals, cpu_seconds
from verdigris.core.worker.client.client import SILENT, STARTING, WELL, WorkerClient


def test_a_process_is_idle_for_as_long_as_it_uses_next_to_no_processor_time():
    now, spent = [0.0], [0.0]
    vitals = Vitals(1, lambda _: spent[0], lambda: now[0])
    for now[0], spent[0], idle in (
        *((1.0, 0.5, 0.0), (4.0, 0.52, 3.0), (9.0, 0.53, 8.0), (9.5, 0.9, 0.0), (12.0, 0.9, 2.5)),
    ):
        assert vitals.idle_seconds() == idle
    assert vitals.worked_seconds() == pytest.approx(0.4)
    vitals.reset()
    assert vitals.idle_seconds() == 0.0
    assert Vitals(1, lambda _: None, lambda: now[0]).idle_seconds() is None


@pytest.mark.skipif(sys.platform == "darwin", reason="this system does not tell")
def test_processor_time_is_what_the_process_says_of_itself():
    code = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1) as process:
        process.stdout.readline()
        assert cpu_seconds(process.pid) == pytest.approx(0.52, abs=0.1)
        process.communicate(b"\n")
    before = cpu_seconds(os.getpid())
    assert before == pytest.approx(time.process_time(), abs=0.1)


# Says that it lives, and then not again until a line comes; it computes if it is to.
QUIET = """
import json, sys, threading, time
def say(**event):
    print(json.dumps(event), flush=True)
say(event="hello", version=2)
say(event="state", state="training", doing="", patience=2.0)
say(event="alive", stalled=STALLED)
if COMPUTES:
    threading.Thread(target=lambda: [0 for _ in iter(int, 1)], daemon=True).start()
sys.stdin.readline()
sys.stdin.readline()
"""


def wait_for_work(client, seconds):
    """Until the worker has used so much more CPU time."""
    seen = cpu_seconds(client._process.pid)
    while cpu_seconds(client._process.pid) < seen + seconds:
        time.sleep(0.005)


@pytest.mark.skipif(sys.platform == "darwin", reason="this system does not tell")
@pytest.mark.parametrize("stalled", [0.0, 4.0])
@pytest.mark.parametrize("computes", [True, False])
def test_a_worker_that_computes_is_never_called_silent(monkeypatch, computes, stalled):
    """However long its heartbeat waits for a busy machine, unless no time of the CPU is used."""
    ahead = [0.0]
    clock = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: clock() + ahead[0])
    code = QUIET.replace("COMPUTES", str(computes)).replace("STALLED", str(stalled))
    client = WorkerClient([sys.executable, "-c", code])
    client._vitals = Vitals(client._process.pid, clock=time.monotonic)
    try:
        until = clock() + 60
        while client.health().state == STARTING and clock() < until:
            time.sleep(0.01)
        # ten seconds in which the machine has no time for its heartbeat, seen four times a second
        states = []
        for _ in range(40):
            ahead[0] += 0.25
            wait_for_work(client, 0.03 * computes)
            states.append(client.health().state)
        assert (set(states) == {WELL}) == computes
        assert states[0] == WELL and (states[-1] == SILENT) != computes
        # a minute of a busy machine is not one of work
        ahead[0] += 61
        wait_for_work(client, 0.1 * computes)
        assert (client.health().state == SILENT) != computes
        monkeypatch.setattr(client._vitals, "worked_seconds", lambda: 61.0)
        assert client.health().state == SILENT
    finally:
        client.kill()
        client.wait(10)
