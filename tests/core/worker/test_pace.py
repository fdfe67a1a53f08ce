"""How often a bake that is watched tells of itself, by a clock that only its own work moves."""

import itertools
import types

import numpy as np
import pytest

from verdigris.core.baking import bake as baking
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import VERSION
from verdigris.core.worker.session.budget import ProcessClock
from verdigris.core.worker.session.session import Session

from .running_worker import CLAY, LONG

RUNS = 15
# Of the first runs: how many steps fit into one is not known yet, and sizes of pictures are new.
UNSETTLED = 7


class Watched:
    """A bake in this process, and when it has told what."""

    def __init__(self, folder, size):
        # seconds that the machine would take if nobody else used it
        self.clock = ProcessClock()
        self.told = []
        self.session = Session(lambda event: self.told.append((self.clock(), event.as_json())))
        for command in (
            commands.Hello(VERSION),
            commands.View(size=size),
            commands.Open(name="clay", payload=CLAY.encode()),
            commands.Start(str(folder), changes={**LONG, "starts": 1}),
        ):
            self.session.handle(command)

    def times(self, event, **fields):
        return [
            when
            for when, header in self.told
            if header["event"] == event and fields.items() <= header.items()
        ]


@pytest.fixture(scope="module", params=[48, 1024], ids=["small", "large"])
def watched(request, tmp_path_factory):
    """With a picture whose reference is soon whole, and with one whose reference is not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VERDIGRIS_DEVICE", "software")
        found = Watched(tmp_path_factory.mktemp("bake"), request.param)
        patch.setattr(baking, "time", types.SimpleNamespace(monotonic=found.clock))
        while len(found.times("step")) < RUNS and found.session.state != "failed":
            found.session.work()
        yield found
        found.session.close()


def test_figures_and_pictures_come_five_times_a_second(watched):
    begun = watched.times("step")[UNSETTLED]
    for event, fields in (
        ("step", {}),
        ("errors", {}),
        ("picture", {"part": "neural"}),
        ("picture", {"part": "heat"}),
    ):
        times = [when for when in watched.times(event, **fields) if when >= begun]
        between = [after - before for before, after in itertools.pairwise(times)]
        print(f"{event} {fields}: every {np.median(between):.3f} s")
        assert len(times) >= RUNS - UNSETTLED - 2
        assert np.median(between) < 1 / 5


def test_the_reference_is_whole_soon_or_gets_on_meanwhile(watched, request):
    parts = [
        header["sharp"]
        for _, header in watched.told
        if header["event"] == "picture" and header["part"] == "reference"
    ]
    is_large = request.node.callspec.params["watched"] == 1024
    painter = watched.session._show._painter
    assert painter.is_reference_whole != is_large
    assert (parts[-1] < 1) == is_large
    if is_large:
        # on a busy machine its turn may come late
        for _ in range(40 * RUNS):
            if painter._sharp["reference"] > parts[-1]:
                break
            watched.session.work()
        assert painter._sharp["reference"] > parts[-1]


def test_what_is_drawn_takes_less_than_a_tenth_from_the_training(watched):
    budget = watched.session._show._budget
    trained = watched.times("step")[-1] - watched.times("step")[0]
    share = budget.spent / (trained - budget.spent)
    print(f"{share:.1%} beside the training")
    # whatever is spent in advance is saved afterwards
    assert 0.01 < share < 0.1 + 0.05 / trained
