"""Nothing is lost: one bake after another, a closed panel, a bake that goes on. A real worker."""

import re
import sys
from contextlib import suppress

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import Qt

from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.worker.client.client import GONE, Health
from verdigris.core.worker.protocol import commands

from ..core.small_disk import small_disk
from .conftest import LONG
from .shelf.choosing import choose

SECONDS = 60_000
NO_WORKER = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.fixture(autouse=True)
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "settings"))


def preset_of(folder):
    return open_bundle(folder).manifest.source["preset"]


def look_at_refining(panel, path):
    """What there is while a kept bake is refined, which may be over at the next look."""
    model, progress = panel.model, panel.status.progress
    if model.link.state != "refining":
        return None
    bar, text = progress.bar, progress.now.text()
    return preset_of(path), model.state.bake.result.bundle, text, bar._timer.isActive()


def bake(qtbot, model, **choices):
    model.set_choices(**choices)
    qtbot.waitUntil(lambda: model.can("start"), timeout=SECONDS)
    model.start()
    qtbot.waitUntil(lambda: model.link.state == "done", timeout=SECONDS)


def presets(page):
    """The presets of the versions on the shelf."""
    return [each.source.preset for each in page.list.entries.all]


def act(page, row, name):
    """Does something with an entry of the shelf."""
    choose(page, row)
    page.details.buttons[name].click()


def test_bakes_are_kept_shown_compared_and_restored_and_a_closed_one_goes_on(
    qtbot, make_panel, document, tmp_path
):
    panel, folder = make_panel(document, size=(500, 600)), tmp_path / "neural"
    model, page = panel.model, panel.pages.shelf
    path = folder / "clay.vdg"
    model.refresh_materials()
    assert page.nothing.isVisibleTo(page) and presets(page) == []

    # a draft after a final leaves the final
    bake(qtbot, model, preset="final", iterations=60)
    bake(qtbot, model, preset="draft", iterations=40)
    assert presets(page) == ["draft", "final"]
    assert preset_of(path) == "draft"
    draft, final = model.state.history.versions

    # it is shown, and compared with the draft
    act(page, 1, "show")
    qtbot.waitUntil(lambda: model.state.history.shown == (final.key, ""), timeout=SECONDS)
    act(page, 0, "compare")
    qtbot.waitUntil(lambda: model.state.history.shown == (final.key, draft.key), timeout=SECONDS)
    assert page.details.buttons["compare"].isChecked()
    drawn = model.state.pictures.parts
    qtbot.waitUntil(lambda: {"reference", "neural"} <= {*drawn}, timeout=SECONDS)

    # it comes back, and what is deleted comes back, too
    act(page, 1, "restore")
    choose(page, 0)
    assert preset_of(path) == "final" and not page.details.buttons["delete"].isEnabled()
    act(page, 1, "delete")
    assert presets(page) == ["final"] and page.undo.isVisibleTo(page)
    page.undo.click()
    choose(page, 1)
    page.details.label.setText("first try")
    page.details.label.editingFinished.emit()
    page.details.note.setPlainText("softer rim")
    choose(page, 0)
    act(page, 1, "keep")
    assert [each.note for each in model.state.history.versions] == ["", "softer rim"]
    assert [each.label for each in model.state.history.versions] == ["", "first try"]
    assert model.state.history.versions[1].is_pinned

    # one that is stopped goes on when the material is opened again, with its own settings
    model.set_choices(preset="standard", **LONG)
    model.start()
    qtbot.waitUntil(lambda: model.state.bake.checkpoint_step is not None, timeout=SECONDS)
    kept = []
    # the bundle is there before its figures, and the bar runs meanwhile
    model.link.state_changed.connect(lambda: kept.append(look_at_refining(panel, path)))
    model.finish()
    qtbot.waitUntil(lambda: any(kept), timeout=SECONDS)
    assert next(filter(None, kept)) == ("standard", path, "Kept. Refining and measuring", True)
    assert panel.status.transport.main.isEnabled() and not model.link.is_busy
    model.set_choices(preset="draft", iterations=500, resolution=None)
    model.refresh_materials()
    qtbot.waitUntil(lambda: model.can("start"), timeout=SECONDS)
    texts = [box.text.text() for box in panel.cards.boxes]
    assert texts[0].startswith("Stopped at ") and texts[0].endswith("% (standard). Continue?")
    assert re.match(r"Baked (today at ..:..|yesterday) by standard\. Show\?$", texts[1])
    panel.cards.boxes[0].buttons[0].click()
    qtbot.waitUntil(lambda: model.link.state == "training", timeout=SECONDS)
    assert model.state.bake.progress.steps == 1_000_000 and model.state.bake.progress.step > 0
    assert panel.cards.boxes == []
    assert (model.state.choices.preset, model.state.choices.iterations) == ("draft", 500)
    model.pause()
    qtbot.waitUntil(lambda: model.link.state == "paused", timeout=SECONDS)

    # closing asks, and keeps what there is
    panel.close()
    assert panel.isVisible() and "What should happen to it?" in panel.closing.box.text()
    panel.closing.keep.click()
    qtbot.waitUntil(lambda: not panel.isVisible(), timeout=SECONDS)
    assert preset_of(path) == "standard"
    kept = [preset_of(each) for each in (folder / "clay.versions").glob("*.vdg")]
    assert sorted(kept) == ["draft", "final", "standard"]

    # another panel finds all of it without a worker
    last = make_panel(document, NO_WORKER)
    last.model.refresh_materials()
    assert last.cards.boxes[0].text.text().startswith("Stopped at ")
    assert presets(last.pages.shelf) == ["standard", "standard", "draft", "final"]


@pytest.fixture
def closing_panel(qtbot, session, tmp_path):
    """A panel with a fake worker."""
    from PySide6.QtCore import QSettings

    from verdigris.ui.memory import Memory
    from verdigris.ui.panel import Panel

    settings = QSettings(str(tmp_path / "memory.ini"), QSettings.Format.IniFormat)
    session.host.manual = tmp_path
    panel = Panel(session.model, None, Memory(settings))
    qtbot.addWidget(panel)
    panel.show()
    yield panel
    panel.shutdown()


@pytest.mark.parametrize("state", ["preparing", "training", "paused", "finishing"])
def test_closing_asks_in_each_state_of_a_bake_and_going_on_changes_nothing(
    qtbot, session, closing_panel, state
):
    model = session.training()
    if state == "preparing":
        session.receive("state", state="idle")
        model.start()
    else:
        session.receive("state", state=state)
    assert model.link.state == state
    closing_panel.close()
    box = closing_panel.closing.box
    assert closing_panel.isVisible() and box is not None
    # nothing can be kept before the first step
    assert not closing_panel.closing.keep.isEnabled()
    sent = len(session.client.sent)
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    assert closing_panel.closing.box is None and closing_panel.isVisible()
    assert len(session.client.sent) == sent


def test_discard_ends_the_bake_first_and_a_bake_that_ends_by_itself_needs_no_answer(
    session, closing_panel
):
    model = session.training()
    closing_panel.close()
    closing_panel.closing.discard.click()
    assert isinstance(session.client.sent[-1], commands.Cancel) and closing_panel.isVisible()
    session.receive("state", state="idle")
    assert not closing_panel.isVisible() and session.client.ended == "closed"
    assert model.link.state == "idle"


def test_a_panel_without_a_bake_or_with_a_lost_worker_closes_at_once(session, closing_panel):
    session.training()
    session.client.now = Health(GONE, "the worker has ended")
    session.model.tick()
    closing_panel.close()
    assert not closing_panel.isVisible()


def test_a_full_disk_is_reported_and_leaves_the_bake_before(qtbot, make_panel, document, tmp_path):
    with small_disk(tmp_path / "disk", 2048) as disk:
        panel = make_panel(document)
        model, page = panel.model, panel.pages.shelf
        model.refresh_materials()
        bake(qtbot, model, preset="draft", iterations=30, folder=str(disk))
        before = open_bundle(disk / "clay.vdg").manifest
        filler = disk / "filler"
        with suppress(OSError), filler.open("wb") as file:
            while True:
                file.write(bytes(4096))
                file.flush()
        model.start()
        qtbot.waitUntil(lambda: model.link.state == "failed", timeout=SECONDS)
        assert panel.cards.banner.isVisible() and panel.cards.banner.icon.name == "error"
        assert "the disk is full" in panel.cards.banner.text.toPlainText()
        assert open_bundle(disk / "clay.vdg").manifest == before
        assert len(presets(page)) == 1
        # with room again, one click bakes
        filler.unlink()
        assert panel.status.transport.action == "start"
        bake(qtbot, model)
        assert len(presets(page)) == 2
        panel.shutdown()
        assert all(client.wait(10) for client in panel.clients)
