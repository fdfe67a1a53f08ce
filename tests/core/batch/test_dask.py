"""The same bakes on a dask cluster; one whose worker is killed is done again elsewhere."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.errors import SceneError
from verdigris.core.batch.farm.dask_engine import DaskEngine
from verdigris.core.batch.plan.plan import Choices, make_plan
from verdigris.core.batch.run.bake_queue import FailurePolicy
from verdigris.core.batch.run.run import RunOptions, run_plan
from verdigris.core.batch.scene.entry import Rule

from . import fake_bake as kinds
from .scenes import read, write_documents

PRELOAD = Path(__file__).with_name("fake_preload.py")
LONGEST = 60


def told_by(file):
    """The address that a scheduler has written there, once it has."""
    try:
        return json.loads(file.read_text())["address"]
    except (OSError, ValueError):
        return ""


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers, as a studio starts them."""
    address = tmp_path / "scheduler.json"
    # dask runs a copy of the preloaded file
    environment = {**os.environ, "VERDIGRIS_FAKE_BAKE": str(PRELOAD.with_name("fake_bake.py"))}
    options = {
        "env": environment,
        "cwd": tmp_path,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    start = "import sys; from distributed.cli.dask_{0} import main; main(sys.argv[1:])"
    dask = [sys.executable, "-c"]
    scheduler = ["--scheduler-file", str(address), "--port", "0", "--no-dashboard"]
    processes = [subprocess.Popen([*dask, start.format("scheduler"), *scheduler], **options)]
    worker = ["--scheduler-file", str(address), "--no-nanny", "--nthreads", "2", "--no-dashboard"]
    worker += ["--preload", str(PRELOAD), "--local-directory", str(tmp_path / "dask")]
    command = [*dask, start.format("worker"), *worker]
    processes += [subprocess.Popen(command, **options) for _ in range(2)]
    deadline = time.monotonic() + LONGEST
    # it is there before it is written
    while not (found := told_by(address)) and time.monotonic() < deadline:
        time.sleep(0.1)

    yield found, processes[1:]
    for process in processes:
        process.kill()
        process.wait()


class Killer:
    """Kills the worker that a bake is running on, the first time that it tells of a step. All wait
    for that."""

    def __init__(self, folder, workers):
        self.folder, self.workers, self.killed = folder, workers, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def started(self, work, attempt):
        pass

    def happened(self, task, event):
        if event["event"] == "step" and self.killed is None:
            baking = int((self.folder / f"{task}.starts").read_text().split()[0])
            parent = int(Path(f"/proc/{baking}/stat").read_text().rpartition(")")[2].split()[1])
            self.killed = next(each.pid for each in self.workers if each.pid == parent)
            os.kill(self.killed, signal.SIGKILL)
            (self.folder / "killed").touch()

    def ended(self, work, results):
        pass

    def retried(self, work, outcome):
        raise AssertionError("the scheduler does that")


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc which worker a bake runs on")
def test_a_material_whose_worker_is_killed_is_baked_again_elsewhere(cluster, tmp_path):
    address, workers = cluster
    names = ("a", "b", "c")
    write_documents(tmp_path / "docs", *names)
    rule = Rule(request=BakeRequest(changes={"seed": kinds.TILL_KILL}))
    plan = make_plan(read(tmp_path / "docs", out=tmp_path / "out", rules=(rule,)))
    killer = Killer(tmp_path / "out", workers)

    def open_engine(_):
        engine = DaskEngine(address)
        deadline = time.monotonic() + LONGEST
        while engine.slots < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        return engine

    summary = run_plan(plan, Choices(), RunOptions(FailurePolicy()), open_engine, lambda *_: killer)
    assert [row.error for row in summary.rows] == ["", "", ""]
    assert {row.name: row.status for row in summary.rows} == dict.fromkeys(names, "baked")
    assert killer.killed is not None
    starts = [len((tmp_path / "out" / f"{name}.starts").read_text().split()) for name in names]
    # at least the killed worker's bake was begun twice
    assert max(starts) == 2
    assert summary.rows[0].warnings == ("transmission is dropped",)
    assert "dask at tcp://" in summary.place


def test_where_no_scheduler_answers_the_address_is_named(monkeypatch):
    monkeypatch.setattr("verdigris.core.batch.farm.dask_engine._CONNECT_SECONDS", 0.5)
    with pytest.raises(SceneError, match=r"tcp://127\.0\.0\.1:9: no answer from a dask scheduler"):
        DaskEngine("tcp://127.0.0.1:9")


@pytest.mark.parametrize("address", ["", "farm", "http://farm:80", "tcp://farm:abc", "farm:99999"])
def test_what_is_no_address_is_refused_at_once(address):
    # one that was tried has another message
    with pytest.raises(
        SceneError, match=r"is not the address of a dask scheduler .*tcp://HOST:PORT"
    ):
        DaskEngine(address)
