"""The model of the panel: possible actions, commands that it sends, events that it handles."""

from dataclasses import replace
from pathlib import Path

import pytest

from verdigris.core.hosts.host import HostMaterial
from verdigris.core.material.analyse.features import FROM_OUTSIDE
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.worker.client.client import GONE, SILENT, WELL, Health
from verdigris.core.worker.protocol import commands
from verdigris.ui.model import states
from verdigris.ui.signals import ERROR

from ..fake_session import CLAY, REPORT


def test_the_first_material_is_opened_with_its_text_and_folders(session):
    model = session.ready()
    assert model.state.current == CLAY
    view, focus, opening = session.client.sent[:3]
    assert isinstance(view, commands.SetView) and isinstance(focus, commands.Focus)
    assert (opening.payload, opening.search, opening.material) == (
        *(b"<materialx/>", ("/textures",), "clay"),
    )
    assert model.can(states.START)


@pytest.mark.parametrize("state", states.LABELS)
def test_each_state_allows_its_actions(session, state):
    model = session.ready()
    model.link.state = state
    session.receive("step", step=1, steps=100, loss=0.5)
    actions = ("start", "pause", "resume", "finish", "cancel")
    allowed = {action for action in actions if model.can(action)}
    assert (
        allowed
        == {
            "idle": {"start"},
            "preparing": {"pause", "finish", "cancel"},
            "training": {"pause", "finish", "cancel"},
            "paused": {"resume", "finish", "cancel"},
            "finishing": {"cancel"},
            "refining": {"start"},
            "done": {"start"},
            "failed": {"start"},
        }[state]
    )


@pytest.mark.parametrize("state", ["preparing", "training", "paused"])
def test_no_result_is_kept_before_the_first_step(session, state):
    model = session.ready()
    model.start()
    session.receive("started", step=0, steps=100)
    session.receive("state", state=state)
    model.finish()
    assert commands.Finish() not in session.client.sent
    assert not model.can(states.FINISH) and model.can(states.CANCEL)
    session.receive("step", step=1, steps=100, loss=0.5)
    model.finish()
    assert session.client.sent[-1] == commands.Finish()


def test_a_resumed_bake_can_be_kept_at_once(session):
    model = session.ready()
    model.start()
    session.receive("started", step=40, steps=100)
    assert model.can(states.FINISH)


def test_a_result_is_attached_once(session):
    model = session.training()
    seen = []
    model.link.state_changed.connect(lambda: seen.append(model.link.state))
    for step in range(10, 101, 10):
        session.receive("step", step=step, steps=100, loss=1 / step, seconds=1.0, seconds_left=9.0)
    assert model.state.bake.progress.share == 1.0
    session.receive("state", state="finishing")
    assert session.host.attached_results == []
    metrics = {"log_mae": 0.01, "smape": 0.2}
    session.receive(
        *("finished",),
        results=["/out/clay.vdg"],
        step=100,
        samples=[metrics],
        pictures=[],
        skies=[{"median": 0.01, "p90": 0.04, "largest": 0.2, "bias": -0.005}],
    )
    session.receive("state", state="done")
    assert session.host.attached_results == [(CLAY, Path("/out/clay.vdg"))]
    assert seen[-2:] == ["finishing", "done"]
    assert model.state.bake.errors["log_mae"] == 0.01
    assert model.state.bake.errors["sky_bias"] == -0.005


def test_materials_of_the_same_name_get_results_of_different_names(session, monkeypatch):
    twins = [HostMaterial(key, "clay", "stack") for key in ("|a,%d%clay", "|b,%d%clay")]
    monkeypatch.setattr(session.host, "materials", lambda: tuple(twins))
    written = []
    for material in twins:
        model = session.ready()
        model.choose(material)
        session.receive("opened", chosen="clay", materials=[REPORT], trainer="numpy", device="cpu")
        model.start()
        written.append(session.client.sent[-1])
        model.link.set_state("idle")
    assert [(each.folder, each.name) for each in written] == [
        ("/scene/neural", "clay"),
        ("/scene/neural", "clay_2"),
    ]


def test_an_action_is_sent_once_until_the_worker_answers(session):
    model = session.training()
    session.receive("step", step=1, steps=100, loss=0.5)
    model.pause()
    model.pause()
    model.finish()
    assert [type(each) for each in session.client.sent].count(commands.Pause) == 1
    assert commands.Finish() not in session.client.sent
    session.receive("state", state="paused")
    model.finish()
    assert session.client.sent[-1] == commands.Finish()


def test_late_states_are_ignored(session):
    model = session.training()
    session.receive("state", state="done")
    session.receive("state", state="nonsense")
    assert model.link.state == "training"


def test_a_bake_of_a_lost_worker_continues_in_a_new_one(session):
    model = session.training()
    session.receive("checkpointed", step=40)
    session.client.now = Health(GONE, "The worker was killed (SIGKILL).")
    model.tick()
    assert (model.link.state, model.link.health.state) == ("failed", GONE)
    assert model.can_recover and not model.can(states.START)
    model.recover()
    assert len(session.clients) == 2
    session.receive("opened", chosen="clay", materials=[REPORT], trainer="numpy")
    (start,) = [each for each in session.client.sent if isinstance(each, commands.Start)]
    assert start.request.resume
    # strokes may be newer than the checkpoint, whose weights the bake goes on with
    assert isinstance(session.client.sent[-1], commands.SetImportance)
    assert not model.state.choices.resume


def test_a_silent_worker_may_come_back_or_be_replaced(session):
    model = session.training()
    session.client.now = Health(SILENT, "The worker has not answered for 3 s.")
    model.tick()
    assert model.link.state == "training" and model.can_recover
    session.client.now = Health(WELL)
    model.tick()
    assert not model.can_recover
    session.client.now = Health(SILENT, "The worker has not answered for 3 s.")
    model.tick()
    first = session.client
    model.recover()
    assert first.ended == "killed"


def test_a_material_with_a_problem_cannot_be_started(session):
    model = session.model
    model.refresh_materials()
    session.receive("error", command="open", text="scene: image.png is missing")
    assert model.state.report["problem"] == "scene: image.png is missing"
    assert not model.can(states.START)
    session.host.fails = True
    model.choose(model.state.materials[1])
    assert model.state.report["problem"] == "the material has gone"
    assert model.state.notices[-1].severity == ERROR


def test_no_material_can_be_chosen_during_a_bake(session):
    model = session.training()
    model.choose(model.state.materials[1])
    assert model.state.current == CLAY
    assert "Finish or cancel" in model.state.notices[-1].text


def test_a_refused_start_fails_without_an_offer_to_resume(session):
    model = session.ready()
    model.start()
    session.receive("error", command="start", text="preset 'best' is not known")
    assert model.link.state == "failed"
    assert not model.can_recover and model.can(states.START)


def test_the_start_command_holds_the_choices(session):
    model = session.ready()
    model.set_choices(resolution=64, time_limit=30.0, nonsense=1)
    model.start()
    start = session.client.sent[-1]
    assert start.request.changes == {"resolution": 64}
    assert (start.request.time_limit, start.request.preset) == (30.0, None)
    assert start.folder == "/scene/neural"
    assert (
        BakeSettings.from_json({**BakeSettings().to_json(), **start.request.changes}).resolution
        == 64
    )


def test_the_estimated_size_follows_the_choices(session):
    model = session.model
    model.set_choices(network="2x16", resolution=32)
    session.ready()
    # this forecast of the worker ignores the choices
    session.receive("forecast", texture_bytes=699_050, decoder_bytes=4480)
    # blocks of 16 texels and 32 bytes, of 32 x 32 texels and its mips
    assert model.state.forecast["texture_bytes"] == 32 * (64 + 16 + 4 + 1 + 1 + 1)
    assert not model.state.forecast["may_be_smaller"]
    # a decoder for each side of a surface that transmits
    opaque = model.state.forecast["decoder_bytes"]
    part = {"name": "transmission", "fate": "kept", "how": FROM_OUTSIDE}
    for parts, wanted in (([part], 2 * opaque), ([], opaque)):
        session.receive(
            "opened", chosen="clay", materials=[{**REPORT, "parts": parts}], trainer="numpy"
        )
        session.receive("forecast", texture_bytes=699_050, decoder_bytes=4480)
        assert model.state.forecast["decoder_bytes"] == wanted
    model.set_choices(resolution=None)
    assert model.state.forecast["may_be_smaller"]
    # once the bake has chosen
    session.receive("sizechosen", width=32, height=16, loaded_bytes=6080, target=0.1, tried=[])
    assert model.state.forecast["width"] == 32 and not model.state.forecast["may_be_smaller"]
    small = model.state.forecast["decoder_bytes"]
    session.receive(
        "forecast", texture_bytes=1, decoder_bytes=1, nanoseconds=2.0, verdict="bake it"
    )
    assert model.state.forecast["verdict"] == "bake it"
    model.set_choices(folder="/elsewhere")
    assert model.state.forecast["verdict"] == "bake it"
    model.set_choices(resolution=64, network="3x64")
    assert model.state.forecast["texture_bytes"] == 32 * (256 + 64 + 16 + 4 + 1 + 1 + 1)
    assert model.state.forecast["decoder_bytes"] > small and not model.state.forecast["verdict"]
    model.start()
    session.receive("forecast", texture_bytes=7, decoder_bytes=8)
    model.set_choices(resolution=16)
    # this forecast belongs to the running bake
    assert model.state.forecast["texture_bytes"] == 7


def test_views_are_numbered_and_sent_only_when_they_change(session):
    model = session.ready()
    before = len(session.client.sent)
    model.set_view(turn=10.0)
    model.set_view(turn=10.0)
    assert [each.number for each in session.client.sent[before:]] == [model.state.view.number]


def opens(session):
    return [each for each in session.client.sent if isinstance(each, commands.Open)]


def test_folders_of_missing_images_are_added_to_the_search_path_and_kept(session):
    model = session.model
    model.refresh_materials()
    report = {**REPORT, "problem": "2 textures were not found", "search_in": ["/maps", "/wood"]}
    session.receive("opened", chosen="", materials=[report])
    assert model.state.missing_folders == ("/maps", "/wood") and not model.can(states.START)
    model.search_missing_folders()
    assert opens(session)[-1].search == ("/textures", "/maps", "/wood")
    assert model.state.report is None
    session.receive("opened", chosen="clay", materials=[REPORT])
    assert model.state.missing_folders == () and model.can(states.START)
    model.search_missing_folders()
    model.choose(model.state.materials[1])
    assert [each.search for each in opens(session)[1:]] == [("/textures", "/maps", "/wood")] * 2


def test_a_confined_document_is_opened_as_one(session, monkeypatch):
    session.ready()
    assert not opens(session)[0].confined
    document = replace(session.host.document(CLAY), confined=True)
    monkeypatch.setattr(session.host, "document", lambda material: document)
    session.model.choose(CLAY)
    assert opens(session)[-1].confined


def test_of_pictures_that_pile_up_only_the_newest_of_each_part_is_shown(session):
    model = session.training()
    shown = []
    model.state.pictures.changed.connect(lambda: shown.append(1))
    for step in range(1, 40):
        for part in ("reference", "neural"):
            facts = {"shape": [8, 8, 3], "type": "|u1", "part": part, "view": 1, "step": step}
            session.client.emit("picture", bytes([step]) * 192, **facts)
        session.client.emit("step", step=step, steps=100, loss=0.1)
    model.tick()
    parts = model.state.pictures.parts
    assert len(shown) == 1 and {each.step for each in parts.values()} == {39}
    # nothing else is left out
    assert model.state.bake.progress.step == 39 and len(model.state.bake.history.losses()[0]) == 39
