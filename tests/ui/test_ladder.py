"""The page of the ladder: choices, the worker of its own, progress, cancel, and the cards."""

import json

import pytest

from verdigris.core.worker.client.client import GONE, Health
from verdigris.core.worker.protocol import commands
from verdigris.ui.signals import ERROR, INFO

REPORT = {
    "format": "verdigris.ladder",
    "warnings": ["uv set 'st': 2 of 3 islands overlap"],
    "rungs": [
        {"name": "neural", "bytes": 206_000, "flip": 0.021, "switch_pixels": 512,
         "flip_by_screen_size": {"8": 0.01, "512": 0.019, "1024": 0.021}, "nanoseconds": 0.9,
         "picture": "neural_shown.jpg"},
        {"name": "vertex", "bytes": 8000, "flip": 0.2, "switch_pixels": None,
         "nanoseconds_left_out": "no card", "picture": "vertex_shown.jpg"},
    ],
}  # fmt: skip


@pytest.fixture
def page(fake_panel):
    session, panel = fake_panel
    session.panel = panel
    session.ready()
    session.model.ladder.cancel()
    session.model.ladder.report = None
    session.model.ladder.choose(mesh="/meshes/figure.usda", rungs=("neural", "vertex"))
    panel.pages.show_only(["Ladder"])
    return session, panel.pages.ladder


def test_bake_all_opens_the_material_in_a_worker_of_its_own(page):
    session, ladder = page
    before, own = len(session.clients), session.clients[0]
    ladder.bake.click()
    assert len(session.clients) == before + 1
    opened = session.client.sent[-1]
    assert isinstance(opened, commands.Open) and opened.material == "clay"
    # nothing else is baked beside it, and the strip says why
    strip = session.panel.status
    assert not strip.transport.main.isEnabled() and not session.model.can("start")
    assert "A ladder is being fitted" in strip.transport.main.toolTip()
    assert strip.progress.now.text() == "0%  Ladder: Opening the material"
    session.receive("opened", chosen="clay", materials=[])
    sent = session.client.sent[-1]
    assert isinstance(sent, commands.Ladder)
    assert (sent.mesh, sent.rungs, sent.size) == ("/meshes/figure.usda", ("neural", "vertex"), 256)
    assert sent.folder.endswith("clay_ladder") and sent.lit_by == session.model.state.view.lit_by
    session.receive("fitting", what="neural", part=0.9)
    session.receive("fitting", what="vertex", part=0.25)
    # a rung that is done says so while the others are fitted
    cards = ladder.cards
    assert cards["neural"].use.text().startswith("Finished")
    assert cards["neural"].progress.value() == cards["neural"].progress.maximum()
    assert cards["vertex"].use.text() == "Fitting, 25%" and cards["vertex"].progress.isVisible()
    assert cards["pbr"].use.text() == "Not baked" and not cards["pbr"].progress.isVisible()
    assert ladder.doing.text() == "Far away, 25%" and ladder.progress.isVisible()
    session.model.ladder._begun -= 30
    session.receive("fitting", what="vertex", part=0.5)
    # the pictures before, one of two rungs, and half of the other, of four parts
    assert session.model.ladder.share == 0.625
    assert ladder.doing.text() == "Far away, 50%, 10 to 25 s left"
    assert strip.progress.left.text() == "10 to 25 s left"
    assert strip.progress.now.text() == "62%  Ladder: Far away"
    assert not ladder.bake.isEnabled() and ladder.cancel.isVisible()
    session.receive("fitted", folder=sent.folder, report=REPORT)
    assert session.client.ended == "closed" and own.ended == ""
    assert strip.transport.main.isEnabled() and strip.progress.now.text() == "Ready"
    assert cards["neural"].dots.count == 2 and not cards["neural"].progress.isVisible()
    assert cards["neural"].figures.text() == "206 KB, FLIP 0.021, 0.900 ns for each light"
    assert cards["neural"].use.text() == "Suffices below 512 px on the screen"
    assert cards["vertex"].use.text() == "Differs at every size"
    assert cards["pbr"].use.text() == "Not baked"
    assert ladder.page.isVisible() and ladder.bake.isEnabled()
    texts = [notice.text for notice in session.model.state.notices]
    assert REPORT["warnings"][0] in texts and any(text.startswith("Written: ") for text in texts)


def test_cancel_kills_the_worker_and_keeps_the_ladder_before(page):
    session, ladder = page
    session.model.ladder.report = REPORT
    ladder.bake.click()
    ladder.cancel.click()
    assert session.client.ended == "killed"
    assert session.model.ladder.report == REPORT and ladder.bake.isEnabled()
    last = list(session.model.state.notices)[-1]
    assert (last.severity, last.text.startswith("The ladder was cancelled")) == (INFO, True)


def test_an_error_and_a_worker_that_is_gone_are_told(page):
    session, ladder = page
    ladder.bake.click()
    session.receive("error", text="figure.usda has no uv set without overlaps", command="ladder")
    assert list(session.model.state.notices)[-1].severity == ERROR
    assert "figure.usda has no uv set" in list(session.model.state.notices)[-1].text
    ladder.bake.click()
    session.client.now = Health(GONE, "The worker has ended")
    session.model.tick()
    assert "The worker has ended" in list(session.model.state.notices)[-1].text
    assert not session.model.ladder.is_running


def test_a_ladder_that_is_there_is_shown_with_the_material(page, tmp_path):
    session, ladder = page
    (tmp_path / "ladder.json").write_text(json.dumps(REPORT))
    session.model.ladder.open(tmp_path)
    assert "FLIP 0.200" in ladder.cards["vertex"].figures.text()
    (tmp_path / "ladder.json").write_text("[]")
    session.model.ladder.open(tmp_path)
    assert session.model.ladder.report is None and not ladder.page.isVisible()


def test_the_ladder_is_noted_in_the_scene_with_its_textures(page, tmp_path):
    session, ladder = page
    neural, vertex = REPORT["rungs"]
    pbr = {"name": "pbr", "scene_textures": {"base_color": "pbr_base_color.png"}}
    rungs = [{**neural, "bundle": "clay.vdg"}, pbr, vertex]
    (tmp_path / "ladder.json").write_text(json.dumps({**REPORT, "rungs": rungs}))
    session.model.ladder.open(tmp_path)
    result = session.model.ladder.result
    assert result.bundle == tmp_path / "clay.vdg"
    assert result.textures == {"base_color": tmp_path / "pbr_base_color.png"}
    ladder.attach.click()
    assert session.host.attached_results[-1][1] == tmp_path / "clay.vdg"
    (tmp_path / "ladder.json").write_text(json.dumps({**REPORT, "models": ["a.usdc"]}))
    session.model.ladder.open(tmp_path)
    assert session.model.ladder.result.bundle == tmp_path / "a.usdc"
    session.model.ladder.open(tmp_path / "none")
    assert session.model.ladder.result is None and not ladder.attach.isVisible()


def test_a_host_that_shows_rungs_gets_those_that_are_ticked(page, tmp_path, monkeypatch):
    session, ladder = page
    neural, vertex = REPORT["rungs"]
    curve = {"a": -1.0, "b": 1.5, "c": 0.0}
    rungs = [
        {**neural, "bundle": "clay.vdg"},
        {"name": "pbr", "title": "glTF textures", "scene_textures": {"normal": "n.png"}},
        {
            "name": "unlit",
            "files": {"light": "l.png", "shown": "s.png"},
            "alpha_mode": "MASK",
            "curve": curve,
        },
        # of an atlas, which a scene has no uv set for
        {"name": "detail", "files": {"colour": "c.png"}, "curve": curve, "tiles": {}},
        {**vertex, "scene_vertices": "v.npz"},
    ]
    lods = [{"rung": "vertex", "below_pixels": 40}]
    found = {**REPORT, "name": "clay", "rungs": rungs, "lods": lods, "models": ["clay.usdc"]}
    (tmp_path / "ladder.json").write_text(json.dumps(found))
    session.model.ladder.open(tmp_path)
    given = []
    monkeypatch.setattr(
        type(session.host), "attach_rungs",
        lambda _, material, look: given.append((material, look)) or "Layers: two", raising=False,
    )  # fmt: skip
    session.model.ladder.choose(rungs=("neural", "unlit", "detail", "vertex"))
    ladder.attach.click()
    [(material, look)] = given
    assert material == session.model.state.current and look.stage == tmp_path / "clay.usdc"
    assert [each.name for each in look.rungs] == ["neural", "unlit", "vertex"]
    light = look.rungs[1].light
    assert light.files == {"light": tmp_path / "l.png"} and light.curve == (-1.0, 1.5, 0.0)
    assert light.shown == tmp_path / "s.png" and look.rungs[1].has_alpha
    assert look.rungs[2].below_pixels == 40 and look.rungs[2].vertices == tmp_path / "v.npz"
    assert look.result.bundle == tmp_path / "clay.vdg"
    assert list(session.model.state.notices)[-1].text == "Layers: two"
    session.model.ladder.choose(rungs=("reflection",))
    ladder.attach.click()
    assert (
        len(given) == 1 and "No baked rung is chosen" in list(session.model.state.notices)[-1].text
    )


def test_without_a_mesh_or_a_rung_there_is_nothing_to_bake(page):
    session, ladder = page
    for box in ("neural", "vertex"):
        ladder.cards[box].box.setChecked(False)
    assert session.model.ladder.choices.rungs == () and not ladder.bake.isEnabled()
    assert ladder.bake.toolTip() == "Choose a rung first"
    ladder.cards["unlit"].box.setChecked(True)
    assert session.model.ladder.choices.rungs == ("unlit",) and ladder.bake.isEnabled()
    session.model.ladder.choose(mesh="")
    assert not ladder.bake.isEnabled()
