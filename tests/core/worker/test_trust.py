"""Pictures of a session that an artist may trust: nothing of a network that has learnt nothing, and
no reference that is coarser than the network beside it."""

import pytest

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.baking.measure.measure import measure_student
from verdigris.core.network.student import Student
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import VERSION
from verdigris.core.worker.session import live_pictures
from verdigris.core.worker.session.session import Session

from .running_worker import LONG
from .test_live_inputs import LIVE, clay

SIZE = 200


class Watched:
    """A session, the size of its latest pictures by part, and those that came too coarse."""

    def __init__(self):
        self.sizes, self.events, self.coarse = {}, [], []
        self.view, self.of_view = 0, {}
        self.session = Session(self._note)

    def _note(self, event):
        found = event.as_json()
        self.events.append(found["event"])
        if found["event"] != "picture" or found["part"] not in ("reference", "neural"):
            return
        part, short = found["part"], min(found["shape"][:2])
        if found["sharp"] < 1 and short == SIZE:
            # where no tile is drawn yet, the picture is that of the first size
            renderer = self.session._pictures._renderer
            coarse = getattr(renderer, part).coarse
            short = coarse.raster.short if part == "reference" else SIZE
        self.sizes[part], self.of_view[part] = short, found["view"]
        if "neural" in self.sizes and self.of_view["reference"] == self.of_view["neural"]:
            self.coarse += [dict(self.sizes)] * (self.sizes["reference"] < self.sizes["neural"])

    def work(self, holds, turns=600):
        for _ in range(turns):
            if holds():
                return
            self.session.work()
        raise AssertionError(f"not within {turns} turns: {self.sizes}, {self.session.state}")


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VERDIGRIS_DEVICE", "software")
        patch.setattr(live_pictures, "SHARE", 0.5)
        patch.setattr(live_pictures, "_LEARNT", 0.0)
        patch.setattr(live_pictures, "_LONGEST_WAIT", 1e9)
        found = Watched()
        view = {"size": SIZE, "lit_by": "studio"}
        for command in (
            commands.Hello(VERSION),
            commands.SetView(**view),
            commands.Open(name="clay", payload=clay().encode(), live=LIVE),
        ):
            found.session.handle(command)
        changes = {**LONG, "starts": 1}
        request = BakeRequest(changes=changes)
        start = commands.Start(str(tmp_path_factory.mktemp("bake")), request=request)
        found.session.handle(start)
        # most of the time is for pictures
        found.session._pictures._budget._share = 0.8
        found.look = lambda number, **changes: found.session.handle(
            commands.SetView(**view, number=number, **changes)
        )
        yield found
        found.session.close()


def test_a_network_is_shown_once_half_of_its_light_is_right(watched, monkeypatch):
    show = watched.session._pictures
    watched.work(lambda: watched.events.count("errors") > 2)
    # however long it trains
    assert "neural" not in watched.sizes and not show.shows_student
    # a view that is turned meanwhile does not show it either
    watched.look(1, turn=20.0)
    assert "neural" not in watched.sizes
    monkeypatch.setattr(live_pictures, "_LEARNT", 0.5)
    watched.work(lambda: "neural" in watched.sizes)
    run = show._job.run
    student = Student(run.learner.trainer.parameters(), show._teacher.device)
    assert measure_student(student, run.held_out[0]).relative_l1 < 0.55


def test_one_that_does_not_learn_is_shown_after_a_while(watched, monkeypatch):
    show = watched.session._pictures
    for waited, is_shown in ((5.0, False), (15.0, True)):
        show._is_shown = False
        show._seen_first = live_pictures.time.perf_counter() - waited
        monkeypatch.setattr(live_pictures, "_LEARNT", 0.0)
        monkeypatch.setattr(live_pictures, "_LONGEST_WAIT", 10.0)
        show._show_once_learnt(show._job.run)
        assert show.shows_student == is_shown


def test_the_reference_is_never_coarser_than_the_network_beside_it(watched):
    """After open, start, a turned view, and a slider."""
    for number, change in ((2, {"turn": 60.0}), (3, {"turn": 60.0, "live": (0.8,)})):
        watched.sizes.clear()
        watched.look(number, **change)
        first = watched.sizes["neural"]
        # until a larger one comes
        watched.work(lambda first=first: watched.sizes["neural"] > first)
        assert watched.sizes["reference"] >= watched.sizes["neural"]
    assert watched.coarse == []
