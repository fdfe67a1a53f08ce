"""Cards in the viewport, preset cards, the verdict and the chart, with a fake worker."""

import re
from dataclasses import asdict
from datetime import datetime, timedelta

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QEvent, QPointF, QSettings, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFileDialog, QPushButton

from verdigris.core.bundle.history import Version
from verdigris.core.material.analyse.image_facts import TextureFacts
from verdigris.core.worker.protocol import commands
from verdigris.ui.cards.worst_crop import crops
from verdigris.ui.memory import Memory
from verdigris.ui.model.cards import when
from verdigris.ui.panel import Panel
from verdigris.ui.signals import ERROR, INFO, WARNING, short_paths
from verdigris.ui.viewport.worst_place import worst_of

from ..fake_session import REPORT

GOOD = {
    "samples": [{"log_mae": 0.0012, "smape": 0.02, "relative_l1": 0.02, "bias": 0.0}],
    "pictures": [{"psnr": 44.0, "ldr_flip": 0.009}],
    "skies": [{"median": 0.012, "p90": 0.05, "largest": 0.2, "bias": -0.004}],
}
DETAIL = "detail finer than a texel is averaged: light varies by 2% within one"


@pytest.fixture
def panel(qtbot, session, tmp_path, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "settings"))
    session.host.manual = tmp_path
    session.host.scene_file = lambda: tmp_path / "shot.ma"
    memory = Memory(QSettings(str(tmp_path / "memory.ini"), QSettings.Format.IniFormat))
    made = Panel(session.model, None, memory)
    qtbot.addWidget(made)
    made.resize(900, 900)
    made.show()
    yield made
    made.shutdown()


def report(session, **changes):
    session.model.refresh_materials()
    session.receive("opened", chosen="clay", materials=[{**REPORT, **changes}], trainer="numpy")


def test_missing_textures_are_told_in_the_viewport_and_a_folder_repairs_the_search_path(
    panel, session, tmp_path, monkeypatch
):
    images = [
        asdict(TextureFacts("image", f"D:\\old\\{name}", "", problem="missing", is_missing=True))
        for name in ("a.png", "b.png", "c.png", "d.png", "e.png")
    ]
    report(session, problem="5 textures were not found", textures=images, search_in=["/maps/oak"])
    (box,) = panel.cards.boxes
    assert (box.text.text(), box.detail.text()) == (
        "5 textures missing",
        "a.png, b.png, c.png and 2 more",
    )
    assert [button.text() for button in box.buttons] == ["Search in oak", "Locate folder…"]
    # the images are in two folders below the chosen one, one of them in capitals
    for name in ("one/a.png", "one/b.png", "two/deep/C.PNG", "two/deep/other.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    box.buttons[1].click()
    opened = [each for each in session.client.sent if isinstance(each, commands.Open)][-1]
    assert opened.search[-2:] == (str(tmp_path / "one"), str(tmp_path / "two" / "deep"))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "empty"))
    report(session, problem="textures were not found", textures=images)
    panel.cards.boxes[0].buttons[-1].click()
    assert "contains none of the missing textures" in session.model.state.notices[-1].text


def test_what_is_not_baked_is_told_and_a_hidden_card_stays_hidden_for_this_material(panel, session):
    parts = [
        {"name": name, "fate": fate, "how": ""}
        for name, fate in (("base", "kept"), ("dispersion", "dropped"), ("volume", "dropped"))
    ]
    report(session, parts=parts)
    (box,) = panel.cards.boxes
    assert box.text.text() == "Not baked: dispersion, volume"
    # inside of the viewport, at its lower edge
    assert panel.viewport.rect().contains(panel.cards.geometry())
    box.hider.click()
    report(session, parts=parts)
    assert panel.cards.boxes == []
    session.model.choose(session.model.state.materials[1])
    report(session, parts=parts)
    assert len(panel.cards.boxes) == 1


def test_dates_are_told_as_people_do():
    now = datetime(2026, 5, 4, 9, 30).astimezone()
    found = [
        when(Version(None, "", now - timedelta(hours=hours), True), now) for hours in (2, 20, 60)
    ]
    # in the language of the system
    assert found == ["today at 07:30", "yesterday", f"on 1 {now:%B} 2026"]


def finish(session, **changes):
    session.model.start()
    session.receive("started", step=0, steps=2500, resolution=256)
    plan = [
        {"name": "training", "first": 0, "last": 2250},
        {"name": "rounding", "first": 2250, "last": 2500},
    ]
    session.receive("plan", parts=plan)
    session.receive("state", state="training")
    session.receive("phase", name="training")
    for step in (500, 1000, 1500):
        session.receive("step", step=step, steps=2500, loss=1 / step, seconds=1.0)
        session.receive("metrics", step=step, samples=[{"log_mae": 2 / step}])
    session.receive("state", state="finishing")
    finished = {"results": ["/scene/clay.vdg"], "step": 2500, "stopped_by": "steps", **GOOD}
    session.receive("finished", **{**finished, **changes})
    session.receive("state", state="done")


def test_the_verdict_comes_in_words_with_a_suggestion_that_one_click_tries(panel, session):
    box, model = panel.pages.bake.verdict, session.model
    model.set_choices(preset="standard")
    report(session, varying_inputs=["base_color"])
    assert not box.isVisible()
    finish(session, hints=[DETAIL])
    assert box.isVisible() and box.dots.count == 4 and box.dots.accessibleName()
    assert box.text.text() == "Very good; highlights slightly soft"
    assert re.match(r"Took [\d.]+ s, \d+% shorter than predicted", box.time.text())
    # the figures are folded, and each has its band
    assert not box.figures.isVisible()
    box.fold.click()
    assert box.figures.isVisible()
    table = box.figures.text()
    assert table.count("<tr>") == 6 and "44.0 dB" in table and ">fair<" in table
    advice = r"512 x 512 would regain fine detail: \+[\d.]+ [KM]B, about \d+ s"
    assert re.fullmatch(advice, box.advice.text())
    box.attempt.click()
    start = session.client.sent[-1]
    assert isinstance(start, commands.Start)
    assert (start.request.preset, start.request.changes["resolution"]) == ("standard", 512)
    assert not box.isVisible()


def test_a_perfect_bake_has_no_suggestion_and_a_draft_suggests_longer_training(panel, session):
    report(session, varying_inputs=["base_color"])
    perfect = {
        "samples": [{**GOOD["samples"][0], "log_mae": 0.0002}],
        "pictures": [{"psnr": 58.0, "ldr_flip": 0.004}],
    }
    finish(session, **perfect)
    box = panel.pages.bake.verdict
    assert box.text.text() == "Indistinguishable" and not box.attempt.isVisible()
    session.receive("state", state="idle")
    finish(session)
    # a draft is graded as a draft, and the filled button is the next step, with its time
    assert box.text.text() == "Good for close-ups, too"
    assert box.advice.text().startswith("Next: standard comes closer to the material")
    assert re.fullmatch(r"Bake standard: .*\d+ (s|min|h)", box.attempt.text())
    filled = [each for each in panel.findChildren(QPushButton, "primary") if each.isVisible()]
    assert filled == [box.attempt]
    # the next step is out of sight
    panel.pages.show_only(["Material"])
    filled = [each for each in panel.findChildren(QPushButton, "primary") if each.isVisible()]
    assert filled == [panel.status.transport.main]
    panel.pages.show_only(["Bake"])
    assert panel.status.transport.main.objectName() != "primary"
    session.receive("state", state="idle")
    finish(session, pictures=[{"psnr": 31.0, "ldr_flip": 0.04}])
    assert box.text.text() == "Good for layout and distance; not for close-ups"
    assert box.time.text().startswith("Fine detail soft · Took ")
    assert box.dots.count == 1 and box.dots.is_draft


def test_preset_cards_show_time_size_and_quality_and_are_chosen_by_keyboard(qtbot, panel, session):
    report(session, varying_inputs=["base_color"])
    cards = panel.pages.bake.presets.cards
    assert [*cards] == ["draft", "standard", "final"] and cards["draft"].isChecked()
    assert re.fullmatch(r"(up to )?[\d.]+ [KM]B", cards["final"].lines[1])
    sizes = [card.prediction.loaded_bytes for card in cards.values()]
    assert sizes[0] == sizes[1] < sizes[2]
    name = cards["final"].accessibleName()
    assert name.startswith("Final: to ship. ") and name.endswith("quality 3 to 4 of 5 dots")
    cards["draft"].setFocus()
    qtbot.keyClick(cards["draft"], Qt.Key.Key_Right)
    qtbot.keyClick(panel.focusWidget(), Qt.Key.Key_Return)
    assert session.model.state.choices.preset == "standard" and cards["standard"].isChecked()
    # once in the window: beside the viewport, and on the page of settings after a bake
    assert panel.pages.settings.presets.isHidden()
    before = cards["standard"].prediction.seconds
    finish(session)
    assert not panel.pages.settings.presets.isHidden() and not panel.pages.bake.presets.isVisible()
    # the bake took no time, which the next prediction knows, also in another panel
    assert panel.pages.settings.presets.cards["standard"].prediction.seconds < 0.1 * before
    panel.shutdown()
    assert len(panel._memory.outcomes()) == 1


def test_a_constant_material_is_predicted_with_its_small_texture(panel, session):
    report(session)
    assert panel.pages.bake.presets.cards["final"].prediction.loaded_bytes < 100_000


def test_the_chart_has_phases_a_crosshair_and_ghosts_and_is_cleared(panel, session):
    report(session, varying_inputs=["base_color"])
    chart, model = panel.pages.bake.plot, session.model
    assert not chart.isVisible()
    finish(session)
    assert chart.isVisible()
    # the error is the main curve, on a log scale
    steps, errors = chart.dots.getData()
    assert steps.tolist() == [500, 1000, 1500, 2500]
    assert errors == pytest.approx(np.log10([0.004, 0.002, 2 / 1500, 0.0012]))
    assert [each.name for each in chart.ruler.spans] == ["training", "compressing"]
    # the last phase is explained where the error rises
    assert chart.rise.isVisible() and chart.rise.text().startswith("Compressing ")
    # names of phases that are too short for them are hidden
    plan = [("small texture", 0, 60), ("encoding", 60, 90), ("training", 90, 2250)]
    parts = [{"name": name, "first": first, "last": last} for name, first, last in plan]
    session.receive("plan", parts=[*parts, {"name": "rounding", "first": 2250, "last": 2500}])
    chart._show_phases()
    assert [name for name, _ in chart.ruler.places()] == ["training", "compressing"]
    assert len(chart.ruler.spans) == 4
    # numbers, however small the range
    axis = chart.plot.getAxis("left")
    for low, high in ((0.0036, 0.0047), (0.00031, 0.00032), (0.0005, 0.2)):
        ((_, values),) = axis.tickValues(np.log10(low), np.log10(high), 110)
        assert 2 <= len(values) <= 110 / 20 and np.all(np.diff(values) > 0)
        assert all(low * 0.9999 <= 10**value <= high * 1.0001 for value in values)
        assert len(set(axis.tickStrings(values, 1, 1))) == len(values)
    view = chart.plot.getPlotItem().vb
    assert view.viewRange()[0] == pytest.approx([0, 2500], abs=60)
    model.state.bake.history._losses[:] = [(20, 1.0, 1.0)]
    chart._show()
    assert view.viewRange()[0] == pytest.approx([0, 2500 / 16], abs=5)
    model.state.bake.history._losses[:] = [(each, 1 / each, 1 / each) for each in (500, 1000, 1500)]
    chart._show()
    place = chart.plot.mapFromScene(view.mapViewToScene(QPointF(1010, -2.8)))
    none = Qt.MouseButton.NoButton
    moved = QMouseEvent(
        QEvent.Type.MouseMove, QPointF(place), QPointF(place), none, none, Qt.KeyboardModifier(0)
    )
    chart.eventFilter(chart.plot.viewport(), moved)
    assert chart.legend.text().startswith("Step 1,000: error 0.0020, training ")
    chart.log.click()
    assert chart.dots.getData()[1] == pytest.approx([0.004, 0.002, 2 / 1500, 0.0012])
    chart.log.click()
    # another material starts from empty axes
    model.choose(model.state.materials[1])
    assert not chart.isVisible() and chart.dots.getData()[0] is None


def test_messages_name_files_and_their_tooltip_has_the_folders(panel, session):
    model, banner = session.ready(), panel.cards.banner
    text = "/home/me/my scenes/maps/oak 2.png: is no image; use C:\\maps\\a.png or 'maps/b.png'"
    model.state.notices.add(ERROR, text)
    assert banner.text.toPlainText() == "oak 2.png: is no image; use a.png or 'maps/b.png'"
    assert text in banner.text.toolTip()
    report(session, problem=text)
    (box,) = panel.cards.boxes
    assert box.detail.text() == "oak 2.png: is no image; use a.png or 'maps/b.png'"
    assert box.detail.toolTip() == text
    # other slashes stay
    for plain in ("half of 1/2 and/or 3", "see https://example.org/a/b for more"):
        assert short_paths(plain) == plain


def test_what_went_well_is_one_slim_line_that_hides_soon(qtbot, panel, session):
    panel.resize(420, 900)
    model, banner = session.ready(), panel.cards.banner
    model.state.notices.add(INFO, f"Written: {'/folder' * 30}/copper_tray.vdg")
    assert banner.isVisible() and banner.line.text() == "Written: copper_tray.vdg"
    assert banner.height() <= 40 and not banner.text.isVisible()
    # a coarse timer may be a twentieth late
    assert 0 < banner._fading.remainingTime() <= 1.05 * 5_000
    model.state.notices.add(WARNING, "A texture is small.\nIt is blurred.")
    assert banner.text.isVisible() and not banner.line.isVisible()
    assert not banner.why.isVisible()
    model.state.notices.add(ERROR, "/out/copper.vdg cannot be written: the disk is full")
    shown = []
    model.trouble.show = shown.append
    assert banner.why.isVisible() and "A file cannot be written" in banner.why.toolTip()
    banner.why.click()
    assert shown == ["/out/copper.vdg cannot be written: the disk is full"]
    assert not banner._fading.isActive()
    qtbot.waitUntil(lambda: banner.height() > 40, timeout=3000)


def test_should_i_bake_this_is_answered_in_one_sentence_with_the_figures_behind_a_click(
    panel, session
):
    report(session, varying_inputs=["base_color"])
    finish(session)
    figures = panel.pages.bake.figures
    answer = "No: its graph is cheap, and baked it would be 3.0 times slower."
    measured = {"nanoseconds": 9.0, "source_nanoseconds": 3.0, "verdict": "the graph is cheap"}
    session.receive("forecast", texture_bytes=1, decoder_bytes=1, **measured, answer=answer)
    assert figures.answer.isVisible() and figures.answer.text() == answer
    assert not figures.verdict.isVisible()
    figures.fold.click()
    assert figures.verdict.isVisible() and "neural 9 ns" in figures.verdict.text()


def test_the_size_of_a_result_names_a_height_map_that_the_bake_will_make(panel, session):
    part = {"name": "displacement", "fate": "kept", "how": ""}
    for fate, is_told in (("kept", True), ("dropped", False)):
        report(session, parts=[{**part, "fate": fate}])
        session.receive("forecast", texture_bytes=1, decoder_bytes=1)
        text = panel.pages.bake.figures.size.text()
        assert text.endswith(", and a height map") == is_told and "network" in text


def test_the_worst_place_is_shown_beside_the_words_if_the_pictures_are_of_one_view(panel, session):
    report(session, varying_inputs=["base_color"])
    finish(session)
    crop, pictures = panel.pages.bake.verdict.crop, session.model.state.pictures
    assert not crop.isVisible()
    reference = np.full((96, 128, 3), 90, np.uint8)
    neural = reference.copy()
    # one pixel is far off, and a place of 6 x 6 pixels is off
    neural[10, 10] = 255
    neural[60:66, 100:106] = 150
    for part, pixels, view in (("reference", reference, 3), ("neural", neural, 2)):
        pictures.handle({"event": "picture", "part": part, "view": view}, pixels)
    assert not crop.isVisible()
    pictures.handle({"event": "picture", "part": "neural", "view": 3}, neural)
    assert crop.isVisible()
    left, right = crops(reference, neural, worst_of(pictures.parts))
    assert left.shape == right.shape == (16, 16, 3)
    assert (right == 150).all(-1).sum() == 36 and (left == 90).all()
