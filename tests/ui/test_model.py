"""The panel without a widget: what it may do when, what it sends, what it makes of what comes."""

from pathlib import Path

import pytest

from verdigris.core.hosts.host import HostMaterial
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.worker.client.client import GONE, SILENT, WELL, Health
from verdigris.core.worker.protocol import commands as say
from verdigris.core.worker.protocol.worker_events import STATES
from verdigris.ui import states
from verdigris.ui.notices import ERROR

from .bench import CLAY, REPORT


def test_the_first_material_is_opened_with_its_text_and_folders(bench):
    model = bench.ready()
    assert model.current == CLAY
    view, focus, opening = bench.client.sent[:3]
    assert isinstance(view, say.View) and isinstance(focus, say.Focus)
    assert (opening.payload, opening.search, opening.material) == (
        *(b"<materialx/>", ("/textures",), "clay"),
    )
    assert model.can(states.START)


@pytest.mark.parametrize("state", STATES)
def test_in_every_state_only_what_makes_sense_can_be_done(bench, state):
    model = bench.ready()
    model.state = state
    bench.hear("step", step=1, steps=100, loss=0.5)
    allowed = {action for action in states.ACTIONS if model.can(action)}
    assert (
        allowed
        == {
            "idle": {"start"},
            "preparing": {"pause", "finish", "cancel"},
            "training": {"pause", "finish", "cancel"},
            "paused": {"resume", "finish", "cancel"},
            "finishing": {"cancel"},
            "done": {"start"},
            "failed": {"start"},
        }[state]
    )


@pytest.mark.parametrize("state", ["preparing", "training", "paused"])
def test_nothing_is_stopped_and_kept_before_the_first_step(bench, state):
    model = bench.ready()
    model.start()
    bench.hear("started", step=0, steps=100)
    bench.hear("state", state=state)
    model.finish()
    assert say.Finish() not in bench.client.sent
    assert not model.can(states.FINISH) and model.can(states.CANCEL)
    bench.hear("step", step=1, steps=100, loss=0.5)
    model.finish()
    assert bench.client.sent[-1] == say.Finish()


def test_what_a_resumed_bake_has_learnt_before_can_be_kept_at_once(bench):
    model = bench.ready()
    model.start()
    bench.hear("started", step=40, steps=100)
    assert model.can(states.FINISH)


def test_a_bake_runs_through_its_states_and_is_attached_once(bench):
    model = bench.training()
    seen = []
    model.state_changed.connect(lambda: seen.append(model.state))
    for step in range(10, 101, 10):
        bench.hear("step", step=step, steps=100, loss=1 / step, seconds=1.0, seconds_left=9.0)
    assert model.bake.progress.share == 1.0
    bench.hear("state", state="finishing")
    assert bench.host.attached_results == []
    metrics = {"log_mae": 0.01, "smape": 0.2}
    bench.hear(
        *("finished",),
        results=["/out/clay.vdg"],
        step=100,
        samples=[metrics],
        pictures=[],
    )
    bench.hear("state", state="done")
    assert bench.host.attached_results == [(CLAY, Path("/out/clay.vdg"))]
    assert seen[-2:] == ["finishing", "done"]
    assert model.bake.errors["log_mae"] == 0.01


def test_materials_of_one_name_are_not_written_over_each_other(bench, monkeypatch):
    twins = [HostMaterial(key, "clay", "stack") for key in ("|a,%d%clay", "|b,%d%clay")]
    monkeypatch.setattr(bench.host, "materials", lambda: tuple(twins))
    written = []
    for material in twins:
        model = bench.ready()
        model.choose(material)
        bench.hear("opened", chosen="clay", materials=[REPORT], trainer="numpy", device="cpu")
        model.start()
        written.append(bench.client.sent[-1])
        model._set_state("idle")
    assert [(each.folder, each.name) for each in written] == [
        ("/scene/neural", "clay"),
        ("/scene/neural", "clay_2"),
    ]


def test_a_command_is_asked_once_until_the_worker_has_answered(bench):
    model = bench.training()
    bench.hear("step", step=1, steps=100, loss=0.5)
    model.pause()
    model.pause()
    model.finish()
    assert [type(each) for each in bench.client.sent].count(say.Pause) == 1
    assert say.Finish() not in bench.client.sent
    bench.hear("state", state="paused")
    model.finish()
    assert bench.client.sent[-1] == say.Finish()


def test_a_state_that_cannot_follow_is_late_and_ignored(bench):
    model = bench.training()
    bench.hear("state", state="done")
    bench.hear("state", state="nonsense")
    assert model.state == "training"


def test_a_worker_that_is_gone_fails_the_bake_and_a_new_one_goes_on_with_it(bench):
    model = bench.training()
    bench.hear("checkpointed", step=40)
    bench.client.now = Health(GONE, "The worker was killed (SIGKILL).")
    model.tick()
    assert (model.state, model.health.state) == ("failed", GONE)
    assert model.can_recover and not model.can(states.START)
    model.recover()
    assert len(bench.clients) == 2
    bench.hear("opened", chosen="clay", materials=[REPORT], trainer="numpy")
    (start,) = [each for each in bench.client.sent if isinstance(each, say.Start)]
    assert start.resume
    assert not model.choices.resume


def test_a_silent_worker_may_come_back_or_be_replaced(bench):
    model = bench.training()
    bench.client.now = Health(SILENT, "The worker has not answered for 3 s.")
    model.tick()
    assert model.state == "training" and model.can_recover
    bench.client.now = Health(WELL)
    model.tick()
    assert not model.can_recover
    bench.client.now = Health(SILENT, "The worker has not answered for 3 s.")
    model.tick()
    first = bench.client
    model.recover()
    assert first.ended == "killed"


def test_what_is_wrong_with_a_material_is_in_its_report_and_it_cannot_be_started(bench):
    model = bench.model
    model.refresh_materials()
    bench.hear("error", command="open", text="scene: image.png is missing")
    assert model.report["problem"] == "scene: image.png is missing"
    assert not model.can(states.START)
    bench.host.fails = True
    model.choose(model.materials[1])
    assert model.report["problem"] == "the material has gone"
    assert model.notices[-1].severity == ERROR


def test_while_it_bakes_another_material_cannot_be_chosen(bench):
    model = bench.training()
    model.choose(model.materials[1])
    assert model.current == CLAY
    assert "Finish or cancel" in model.notices[-1].text


def test_a_refused_start_fails_without_an_offer_to_resume(bench):
    model = bench.ready()
    model.start()
    bench.hear("error", command="start", text="preset 'best' is not known")
    assert model.state == "failed"
    assert not model.can_recover and model.can(states.START)


def test_choices_become_the_start_command_and_nothing_else_does(bench):
    model = bench.ready()
    model.set_choices(resolution=64, time_limit=30.0, nonsense=1)
    model.start()
    start = bench.client.sent[-1]
    assert start.changes == {"resolution": 64}
    assert (start.time_limit, start.preset, start.folder) == (30.0, "", "/scene/neural")
    assert BakeSettings.from_json({**BakeSettings().to_json(), **start.changes}).resolution == 64


def test_what_the_result_will_weigh_follows_the_choices(bench):
    model = bench.model
    model.set_choices(network="2x16", resolution=32)
    bench.ready()
    # the worker's is of the preset alone
    bench.hear("forecast", texture_bytes=699_050, decoder_bytes=4480)
    # 8 bytes a texel, and its mips
    assert model.forecast["texture_bytes"] == 8 * (4**6 - 1) // 3
    small = model.forecast["decoder_bytes"]
    bench.hear("forecast", texture_bytes=1, decoder_bytes=1, nanoseconds=2.0, verdict="bake it")
    assert model.forecast["verdict"] == "bake it"
    model.set_choices(folder="/elsewhere")
    assert model.forecast["verdict"] == "bake it"
    model.set_choices(resolution=64, network="3x64")
    assert model.forecast["texture_bytes"] == 8 * (4**7 - 1) // 3
    assert model.forecast["decoder_bytes"] > small and not model.forecast["verdict"]
    model.start()
    bench.hear("forecast", texture_bytes=7, decoder_bytes=8)
    model.set_choices(resolution=16)
    # of the bake that runs
    assert model.forecast["texture_bytes"] == 7


def test_views_are_numbered_and_sent_only_when_they_change(bench):
    model = bench.ready()
    before = len(bench.client.sent)
    model.look(turn=10.0)
    model.look(turn=10.0)
    assert [each.number for each in bench.client.sent[before:]] == [model.view.number]
