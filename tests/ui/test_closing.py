"""Every way of closing, at every state of a bake: paint and checkpoint come back. A real worker."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from verdigris.core.baking.state import checkpoint
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.worker.client.client import GONE
from verdigris.ui.paint.weight_map import Brush

from .conftest import LONG

SECONDS = 60_000
NO_WORKER = [sys.executable, "-c", "import time; time.sleep(60)"]

# Paints, bakes, paints again, and then waits for its end.
DOOMED = """
import sys
from pathlib import Path
from PySide6.QtCore import QSettings, QTimer
from PySide6.QtWidgets import QApplication
from verdigris.core.hosts.file_host import FilesHost
from verdigris.ui.memory import Memory
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.paint.weight_map import Brush
from verdigris.ui.panel import Panel
application = QApplication([])
settings = QSettings(sys.argv[2], QSettings.Format.IniFormat)
panel = Panel(PanelModel(FilesHost(Path(sys.argv[1]))), None, Memory(settings))
model = panel.model
model.set_choices(**eval(sys.argv[3]))
model.set_view(size=48)
model.refresh_materials()
model.state.weights.dab(0.3, 0.3, Brush(weight=8.0))
def look():
    if model.can("start") and not model.state.has_run:
        model.start()
    elif model.state.bake.checkpoint_step and model.scene.kept.is_settled:
        print("painted", flush=True)
timer = QTimer()
timer.timeout.connect(look)
timer.start(50)
application.exec()
"""


def paint(model, place):
    weights = model.state.weights
    weights.begin_stroke()
    weights.dab(place, place, Brush(weight=8.0))
    weights.end_stroke()


@pytest.fixture
def opened(qtbot, make_panel, document):
    """A panel that has painted a place, and whose bake has begun or goes on."""

    def make(place, state="training"):
        panel = make_panel(document)
        model = panel.model
        model.refresh_materials()
        paint(model, place)
        qtbot.waitUntil(lambda: model.can("start"), timeout=SECONDS)
        go_on(qtbot, model, state)
        # the worker may not have it yet, and neither may the file
        paint(model, place + 0.1)
        return panel

    return make


def go_on(qtbot, model, state="training"):
    is_new = model.state.history.interrupted is None
    model.start() if is_new else model.continue_interrupted()
    qtbot.waitUntil(lambda: model.link.state in (state, "failed"), timeout=SECONDS)
    if state == "training" and is_new:
        qtbot.waitUntil(lambda: model.state.bake.checkpoint_step is not None, timeout=SECONDS)


def close_by(qtbot, panel, answer=""):
    panel.close()
    if answer:
        assert panel.isVisible()
        getattr(panel.closing, answer).click()
    qtbot.waitUntil(lambda: not panel.isVisible(), timeout=SECONDS)


def test_paint_and_checkpoint_come_back_however_a_panel_is_closed(
    qtbot, opened, make_panel, document, tmp_path
):
    def check(panel, is_offered):
        """Opens the document again in a panel without a worker."""
        painted = panel.model.state.weights.values
        again = make_panel(document, NO_WORKER)
        again.model.refresh_materials()
        weights = again.model.state.weights
        np.testing.assert_array_equal(weights.values, painted)
        assert (again.model.state.history.interrupted is not None) == is_offered
        assert (tmp_path / "neural" / "clay.bake.npz").is_file() == is_offered
        # a step of the session before
        weights.undo()
        assert (weights.values != painted).any()
        weights.redo()
        # it has begun
        qtbot.wait(10)
        again.close()

    # while it is prepared, and while it pauses
    panel = opened(0.1, "preparing")
    close_by(qtbot, panel, "later")
    check(panel, False)
    panel = opened(0.2)
    panel.model.pause()
    qtbot.waitUntil(lambda: panel.model.link.state == "paused", timeout=SECONDS)
    close_by(qtbot, panel, "later")
    check(panel, True)

    # it is cancelled, and goes on until its worker is killed
    panel = opened(0.3)
    client = panel.clients[-1]
    model = panel.model
    assert model.link.state == "training" and model.state.bake.progress.step > 0
    model.cancel()
    qtbot.waitUntil(lambda: not model.link.is_busy, timeout=SECONDS)
    model.state.history.refresh()
    assert model.state.history.interrupted is not None
    go_on(qtbot, model)
    client.kill()
    qtbot.waitUntil(lambda: model.link.health.state == GONE, timeout=SECONDS)
    paint(model, 0.5)
    close_by(qtbot, panel)
    check(panel, True)

    # during training: its result is kept, and it is discarded
    panel = opened(0.6)
    close_by(qtbot, panel, "keep")
    assert (tmp_path / "neural" / "clay.vdg").is_dir()
    check(panel, True)
    panel = opened(0.7)
    close_by(qtbot, panel, "discard")
    check(panel, False)


def test_closing_at_other_states_keeps_a_result_or_a_checkpoint_and_discards_on_request(
    qtbot, opened, make_panel, document, tmp_path
):
    bundle, checkpoint_file = (
        tmp_path / "neural" / "clay.vdg",
        tmp_path / "neural" / "clay.bake.npz",
    )

    def reopened(painted):
        again = make_panel(document, NO_WORKER)
        again.model.refresh_materials()
        np.testing.assert_array_equal(again.model.state.weights.values, painted)
        offered = again.model.state.history.interrupted is not None
        qtbot.wait(10)
        again.close()
        return offered

    for state in ("preparing", "paused"):
        panel = opened(0.1, "preparing" if state == "preparing" else "training")
        if state == "paused":
            panel.model.pause()
            qtbot.waitUntil(lambda model=panel.model: model.link.state == "paused", timeout=SECONDS)
        close_by(qtbot, panel, "discard")
        assert not reopened(panel.model.state.weights.values)
        assert not bundle.exists() and not checkpoint_file.exists()

    # the result is being written, or was just written
    panel = opened(0.3)
    panel.model.finish()
    qtbot.waitUntil(lambda: panel.model.link.state != "training", timeout=SECONDS)
    close_by(qtbot, panel, "later" if panel.model.link.is_busy else "")
    assert reopened(panel.model.state.weights.values) or bundle.is_dir()
    # refined: nothing is asked, and the result stays
    panel = opened(0.4)
    panel.model.finish()
    qtbot.waitUntil(lambda: panel.model.link.state in ("refining", "done"), timeout=SECONDS)
    close_by(qtbot, panel)
    assert open_bundle(bundle).parameters()
    reopened(panel.model.state.weights.values)
    # nothing is baked
    panel = make_panel(document)
    panel.model.refresh_materials()
    qtbot.waitUntil(lambda: panel.model.can("start"), timeout=SECONDS)
    paint(panel.model, 0.8)
    close_by(qtbot, panel)
    reopened(panel.model.state.weights.values)


def test_after_a_killed_panel_paint_comes_back_and_the_bake_goes_on_with_its_own_weights(
    qtbot, make_panel, document, tmp_path
):
    command = [
        sys.executable,
        "-c",
        DOOMED,
        str(document),
        str(tmp_path / "memory.ini"),
        repr(LONG),
    ]
    doomed = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ})
    assert doomed.stdout.readline() == "painted\n"
    doomed.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    doomed.wait(10)
    doomed.stdout.close()

    panel = make_panel(document)
    model = panel.model
    model.refresh_materials()
    weights = model.state.weights
    assert weights.values.max() > 4 and model.state.history.interrupted is not None
    begun = checkpoint.load(tmp_path / "neural" / "clay.bake.npz").importance
    np.testing.assert_array_equal(begun, weights.values)
    # painted since, and resumed
    paint(model, 0.7)
    qtbot.waitUntil(lambda: model.can("start"), timeout=SECONDS)
    panel.cards.boxes[0].buttons[0].click()
    qtbot.waitUntil(lambda: model.link.state == "training", timeout=SECONDS)
    step = model.state.bake.progress.step
    told = [each.text for each in model.state.notices if "continues with the weights" in each.text]
    assert len(told) == 1 and "counts from the next stroke" in told[0]
    assert not any("--" in each.text for each in model.state.notices)
    qtbot.waitUntil(lambda: (model.state.bake.checkpoint_step or 0) > step, timeout=SECONDS)
    resumed = checkpoint.load(tmp_path / "neural" / "clay.bake.npz").importance
    np.testing.assert_array_equal(resumed, begun)
    # as in any bake, a stroke counts from the next steps on, and all paint with it
    paint(model, 0.5)
    painted = weights.values.copy()

    def stored():
        found = checkpoint.load(tmp_path / "neural" / "clay.bake.npz").importance
        return np.array_equal(found, painted)

    qtbot.waitUntil(stored, timeout=SECONDS)
