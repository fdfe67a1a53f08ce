"""Bakes that wait for one worker."""

import numpy as np
import pytest
from fake_worker import FakeWorker

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import HostDocument
from verdigris.core.worker.client.client import GONE, SILENT, WELL, Health
from verdigris.core.worker.protocol.commands import Start
from verdigris.plugins.common import bake_queue
from verdigris.plugins.common.bake_queue import BakeQueue


class Bake:
    """A job that records what it is told."""

    def __init__(self, name, owner="node", weights=None, problem=""):
        self.name, self.owner = name, owner
        self.start = Start(folder="/out", name=name)
        self.log, self._weights, self._problem = [], weights, problem
        self.refuses = ""

    def read(self):
        if self._problem:
            raise HostError(self._problem)
        return HostDocument(self.name, "<materialx/>", self.name), self._weights

    def report(self, text):
        self.log.append(text)

    def finish(self, result, warnings):
        if self.refuses:
            raise HostError(self.refuses)
        self.log.append(f"finished {result.bundle.name}{warnings or ''}")

    def fail(self, text):
        self.log.append(f"failed: {text}")

    def cancel(self):
        self.log.append("cancelled")


@pytest.fixture
def workers():
    return []


@pytest.fixture
def queue(workers):
    def make():
        workers.append(FakeWorker())
        return workers[-1]

    return BakeQueue(make)


def train(queue, worker, name):
    worker.emit("opened", chosen=name, materials=[])
    queue.tick()
    worker.emit("state", state="training")
    worker.emit("started", step=0, steps=100)
    worker.emit("phase", name="training")
    worker.emit("step", step=50, steps=100, seconds_left=70.0)
    queue.tick()


def finish(queue, worker, name):
    worker.emit("finished", results=[f"/out/{name}.vdg"])
    worker.emit("state", state="done")
    queue.tick()


def test_a_job_is_opened_trained_and_finished_with_progress(queue, workers):
    job = Bake("gold", weights=np.ones((2, 3), np.float32))
    queue.add(job)
    queue.tick()
    (worker,) = workers
    assert worker.commands() == ["SetView", "SetImportance", "Open"]
    assert (worker.sent[1].width, worker.sent[1].height) == (3, 2)
    assert (worker.sent[2].material, worker.sent[2].payload) == ("gold", b"<materialx/>")
    train(queue, worker, "gold")
    assert worker.sent[-1] == job.start
    worker.emit("warning", text="dark")
    finish(queue, worker, "gold")
    assert job.log[0] == "reading the material"
    assert "training 50%, 1 min 10 s left" in job.log
    assert job.log[-1] == "finished gold.vdg['dark']"
    # nothing holds the graphics card when all is done
    assert queue.is_idle and worker.ended == "closed"


def test_jobs_wait_for_each_other_in_one_worker(queue, workers):
    jobs = [Bake("gold", "a"), Bake("wax", "b")]
    for job in jobs:
        queue.add(job)
    queue.tick()
    assert jobs[1].log == ["waiting for 1 other bake"]
    train(queue, workers[0], "gold")
    finish(queue, workers[0], "gold")
    queue.tick()
    train(queue, workers[0], "wax")
    finish(queue, workers[0], "wax")
    assert [job.log[-1] for job in jobs] == ["finished gold.vdg", "finished wax.vdg"]
    assert len(workers) == 1 and queue.is_idle


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"event": "error", "command": "open", "text": "unknown node"}, "unknown node"),
        ({"event": "opened", "chosen": "", "materials": [{"problem": "no texture"}]}, "no texture"),
        ({"event": "opened", "chosen": "", "materials": []}, "the document has no material"),
    ],
)
def test_a_failure_has_its_reason_and_the_next_job_runs(queue, workers, event, reason):
    jobs = [Bake("gold"), Bake("wax")]
    for job in jobs:
        queue.add(job)
    queue.tick()
    workers[0].emit(**event)
    workers[0].emit("state", state="idle")
    queue.tick()
    assert jobs[0].log[-1] == f"failed: {reason}"
    queue.tick()
    train(queue, workers[0], "wax")
    finish(queue, workers[0], "wax")
    assert jobs[1].log[-1] == "finished wax.vdg"


def test_a_scene_that_cannot_be_read_or_noted_is_a_failure(queue, workers):
    lost, locked = Bake("gold", problem="gold has gone"), Bake("wax")
    locked.refuses = "wax is locked"
    for job in (lost, locked):
        queue.add(job)
    queue.tick()
    assert lost.log[-1] == "failed: gold has gone" and not workers
    queue.tick()
    train(queue, workers[0], "wax")
    finish(queue, workers[0], "wax")
    assert locked.log[-1] == "failed: wax is locked" and queue.is_idle


@pytest.mark.parametrize(("state", "end"), [(GONE, "closed"), (SILENT, "killed")])
def test_a_worker_that_is_lost_fails_its_job_and_the_next_gets_another(
    queue, workers, state, end, monkeypatch
):
    monkeypatch.setattr(bake_queue, "LONG_PATIENCE", -1.0)
    jobs = [Bake("gold"), Bake("wax")]
    for job in jobs:
        queue.add(job)
    queue.tick()
    train(queue, workers[0], "gold")
    workers[0].now = Health(state, "The worker has ended (code 1).")
    queue.tick()
    assert jobs[0].log[-1] == "failed: The worker has ended (code 1)."
    assert workers[0].ended == end
    queue.tick()
    train(queue, workers[1], "wax")
    finish(queue, workers[1], "wax")
    assert jobs[1].log[-1] == "finished wax.vdg"


def silent_in_training(queue, workers):
    """The job of a worker that has stopped to respond during its bake."""
    job = Bake("gold")
    queue.add(job)
    queue.tick()
    train(queue, workers[0], "gold")
    workers[0].now = Health(SILENT, "The worker has not responded for 2 s.")
    return job


def test_a_worker_that_is_silent_for_a_while_goes_on_with_its_bake(queue, workers):
    job = silent_in_training(queue, workers)
    for _ in range(2):
        queue.tick()
    assert job.log.count("The worker has not responded for 2 s.") == 1
    workers[0].now = Health(WELL)
    finish(queue, workers[0], "gold")
    assert job.log[-1] == "finished gold.vdg" and workers[0].ended == "closed"


def test_a_silent_worker_is_not_waited_for_when_its_bake_is_cancelled(queue, workers):
    silent_in_training(queue, workers)
    queue.cancel("node")
    queue.tick()
    assert workers[0].ended == "killed" and queue.is_idle


def test_a_missing_worker_is_a_failure_of_each_job(workers):
    def make():
        raise HostError("there is no Python for bakes")

    queue, jobs = BakeQueue(make), [Bake("gold"), Bake("wax")]
    for job in jobs:
        queue.add(job)
    queue.run()
    assert [job.log[-1] for job in jobs] == ["failed: there is no Python for bakes"] * 2


def test_cancel_ends_the_running_and_the_waiting_jobs_of_an_owner(queue, workers):
    ours, other, more = Bake("gold", "a"), Bake("wax", "b"), Bake("tin", "a")
    for job in (ours, other, more):
        queue.add(job)
    queue.tick()
    train(queue, workers[0], "gold")
    queue.cancel("a")
    assert more.log[-1] == "cancelled" and ours.log[-1] == "cancelling"
    assert workers[0].commands()[-1] == "Cancel" and queue.has("a")
    # progress that was under way
    workers[0].emit("step", step=60, steps=100)
    workers[0].emit("state", state="idle")
    queue.tick()
    assert ours.log[-1] == "cancelled" and not queue.has("a")
    queue.tick()
    train(queue, workers[0], "wax")
    finish(queue, workers[0], "wax")
    assert other.log[-1] == "finished wax.vdg"


def test_cancel_during_compilation_does_not_start_the_next_job_with_the_old_answer(queue, workers):
    first, second = Bake("gold", "a"), Bake("wax", "b")
    for job in (first, second):
        queue.add(job)
    queue.tick()
    queue.cancel("a")
    # the worker is idle while it compiles, and reads the command afterwards
    workers[0].emit("state", state="idle", doing="compiling the material")
    queue.tick()
    assert first.log[-1] == "cancelling"
    workers[0].emit("opened", chosen="gold", materials=[])
    workers[0].emit("state", state="idle")
    queue.tick()
    assert first.log[-1] == "cancelled"
    queue.tick()
    assert workers[0].commands()[-1] == "Open"
    train(queue, workers[0], "wax")
    assert [each for each in workers[0].sent if isinstance(each, Start)] == [second.start]


def test_a_bake_that_ends_before_it_is_cancelled_keeps_its_result(queue, workers):
    job = Bake("gold")
    queue.add(job)
    queue.tick()
    train(queue, workers[0], "gold")
    queue.cancel("node")
    finish(queue, workers[0], "gold")
    assert job.log[-1] == "finished gold.vdg" and queue.is_idle
