"""A bake that is watched tells of itself after each run of steps, and spends little on it.

Seconds are measured by docs/benchmarks/bench_worker.py. Here, a clock that only this process moves
counts.
"""

import types

import numpy as np
import pytest

from verdigris.core.baking import bake as baking
from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import VERSION
from verdigris.core.worker.session import budget, job
from verdigris.core.worker.session import session as session_module
from verdigris.core.worker.session.budget import ProcessClock
from verdigris.core.worker.session.session import Session

from .running_worker import CLAY, LONG

RUNS, MOST_RUNS = 9, 90
# Of the first runs: how many steps fit into one is not known yet, and sizes of pictures are new.
UNSETTLED = 3
# The live picture of a new view comes first.
TURNS = 40


def test_work_of_many_threads_counts_by_the_processors_that_may_do_it(monkeypatch):
    now = [0.0, 0.0]
    times = types.SimpleNamespace(thread_time=lambda: now[0], process_time=lambda: now[1])
    monkeypatch.setattr(budget, "time", times)
    monkeypatch.setattr(budget, "usable_processors", lambda: 4)
    clock = ProcessClock()
    # eight seconds on four processors; then this thread alone
    now[:] = 1.0, 8.0
    assert clock() == 2.0
    now[:] = 4.0, 11.0
    assert clock() == 5.0


class Watched:
    """A bake in this process, and what it has told after which run."""

    def __init__(self, folder, size):
        self.told = []
        self.session = Session(lambda event: self.told.append(event.as_json()))
        for command in (
            commands.Hello(VERSION),
            commands.SetView(size=size),
            commands.Open(name="clay", payload=CLAY.encode()),
            commands.Start(str(folder), request=BakeRequest(changes={**LONG, "starts": 1})),
        ):
            self.session.handle(command)
        self.opening = self.all("pace")

    def has_seen_enough(self):
        """Whether runs have ended, and a picture is whole: a sharp one takes many runs."""
        runs = len(self.all("step"))
        has_picture = bool(self.all("picture", part="neural"))
        return (runs >= RUNS and has_picture) or runs >= MOST_RUNS

    def all(self, event, **fields):
        return [
            header
            for header in self.told
            if header["event"] == event and fields.items() <= header.items()
        ]


@pytest.fixture(scope="module", params=[48, 640], ids=["small", "large"])
def watched(request, tmp_path_factory):
    """With a picture of one tile, and with one of many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VERDIGRIS_DEVICE", "software")
        found = Watched(tmp_path_factory.mktemp("bake"), request.param)
        clock = ProcessClock()
        patch.setattr(baking, "time", types.SimpleNamespace(monotonic=clock))
        while len(found.all("step")) < UNSETTLED and found.session.state != "failed":
            found.session.work()
        found.told.clear()
        budget = found.session._pictures._budget
        # what was compiled is forgiven, and the first sharp picture is free
        budget.start()
        found.session._pictures._free = 0.0
        begun, before = clock(), budget.spent
        while not found.has_seen_enough() and found.session.state != "failed":
            found.session.work()
        found.seconds, found.spent = clock() - begun, budget.spent - before
        yield found
        found.session.close()


def test_figures_come_with_runs_of_steps_and_pictures_when_they_are_whole(watched):
    # five times a second
    assert job.RUN_SECONDS < 1 / 5
    # less often where the budget is spent, as after a picture that was disturbed
    assert len(watched.all("errors")) >= RUNS // 3
    assert watched.all("picture", part="neural") and watched.all("picture", part="heat")


def test_the_reference_of_a_new_view_gets_on_during_training(watched):
    show = watched.session._pictures
    renderer = show._renderer
    show.look(show._view, is_new=True)
    assert renderer.reference.sharp == 0
    # how far it gets in a second depends on the machine
    turns = 0
    while not renderer.reference.sharp and turns < TURNS:
        # as if time had been saved for it
        show._budget._credit = 0.1
        show.follow()
        turns += 1
    # one tile is all of the small picture
    assert renderer.reference.sharp > 0


def test_a_map_is_in_effect_after_the_next_run_of_steps(watched):
    weights = np.zeros((1024, 1024), np.float32)
    weights[:, :512] = 1
    for _ in range(3):
        watched.told.clear()
        watched.session.handle(commands.SetImportance(1024, 1024, weights.tobytes()))
        while not watched.all("weighted") and watched.session.state != "failed":
            watched.session.work()
        (step,) = watched.all("step")
        assert watched.all("weighted")[0]["step"] == step["step"]
    # with the run that was being done
    assert 2 * job.RUN_SECONDS < 0.5


def test_what_is_drawn_takes_less_than_a_tenth_from_the_training(watched):
    trained = watched.seconds - watched.spent
    print(f"{watched.spent / trained:.1%} beside the training")
    # a picture that was disturbed is spent in advance and saved afterwards
    assert 0 < watched.spent < 0.1 * trained + 0.15


def test_the_worker_reports_how_much_slower_the_machine_is(watched):
    (opening,) = watched.opening
    session = watched.session
    while not watched.all("pace") and session.state != "failed":
        session.work()
    for pace in (opening, *watched.all("pace")):
        # no more than all processors of the machine can do in this time
        assert 0 < pace["idle"] <= 1.05 * pace["seconds"]
    assert watched.all("pace")[0]["seconds"] >= session_module._PACE_SECONDS
