"""Bakes that cannot be written, or whose application is closed, with a real worker."""

import sys

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from verdigris.core.worker.client.client import GONE

SECONDS = 60_000


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be renamed there")
def test_a_folder_without_access_and_a_closed_application_lose_nothing(
    qtbot, make_panel, document, tmp_path
):
    panel, folder = make_panel(document), tmp_path / "neural"
    model, banner = panel.model, panel.cards.banner.text

    # a folder that cannot be used is named, and the bake can be started again
    model.refresh_materials()
    qtbot.waitUntil(lambda: model.can("start"), timeout=SECONDS)
    folder.write_text("")
    model.start()
    qtbot.waitUntil(lambda: model.link.state == "failed", timeout=SECONDS)
    assert banner.toPlainText() == "neural: is a file: choose a folder for the result"
    assert f"{folder}: is a file" in banner.toolTip()
    folder.unlink()
    model.start()
    qtbot.waitUntil(lambda: model.state.bake.checkpoint_step is not None, timeout=SECONDS)

    # one that is gone during the bake is named, and the training goes on
    folder.rename(tmp_path / "away")
    folder.write_text("")
    qtbot.waitUntil(lambda: bool(model.state.notices), timeout=SECONDS)
    assert "clay.bake.npz: cannot be written" in banner.toPlainText()
    assert "training continues" in banner.toPlainText() and model.link.state == "training"
    folder.unlink()
    (tmp_path / "away").rename(folder)

    # the worker is killed and the application closed: the checkpoint stays, and the next panel
    # offers it
    (client,) = panel.clients
    client.kill()
    qtbot.waitUntil(lambda: model.link.health.state == GONE, timeout=SECONDS)
    panel.close()
    assert not panel.isVisible() and panel.closing.box is None
    qtbot.waitUntil(lambda: client.health().state == GONE, timeout=SECONDS)
    # a killed process leaves its lock, which no process holds, and what it was writing
    left = [path.name for path in folder.iterdir() if path.name[0] != "."]
    assert left == ["clay.bake.npz"]
    # which needs no worker for that
    again = make_panel(document, [sys.executable, "-c", "import time; time.sleep(60)"])
    again.model.refresh_materials()
    (card,) = again.cards.boxes
    assert card.text.text().startswith("Interrupted at ") and card.isVisible()
    assert [button.text() for button in card.buttons] == ["Resume", "Discard"]
    card.buttons[1].click()
    assert again.cards.boxes == [] and not (folder / "clay.bake.npz").exists()
