"""The whole panel, offscreen, with a real worker that trains."""

import re
import sys
import threading
import time
from dataclasses import asdict

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QComboBox

from verdigris.core.baking.bake import PHASES, PHASES_OF_TWO_STAGES
from verdigris.core.pictures.compare.metrics import measure_samples
from verdigris.core.progress import FLATTENING
from verdigris.core.worker.client.client import GONE, SILENT
from verdigris.ui.signals import ERROR
from verdigris.ui.widgets.wording import PHASES as LABELS

from . import pointer

WAIT = 90_000


def click(qtbot, button):
    assert button.isEnabled(), f"{button.text()} cannot be clicked"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def start(qtbot, panel):
    transport = panel.status.transport
    qtbot.waitUntil(transport.main.isEnabled, timeout=WAIT)
    click(qtbot, transport.main)
    qtbot.waitUntil(lambda: len(panel.model.state.bake.history.losses()[0]) > 3, timeout=WAIT)


def test_a_bake_from_start_to_result(qtbot, make_panel, document):
    panel = make_panel(document)
    model, transport = panel.model, panel.status.transport
    assert not transport.main.isEnabled()
    begun = time.monotonic()
    start(qtbot, panel)
    assert "Kept" in panel.pages.material.report.toPlainText()

    # train
    qtbot.waitUntil(lambda: "neural" in model.state.pictures.parts, timeout=WAIT)
    print(f"first preview {time.monotonic() - begun:.1f} s after the panel was opened")
    qtbot.waitUntil(lambda: len(model.state.bake.history.losses()[0]) > 12, timeout=WAIT)
    _, _, smooth = model.state.bake.history.losses()
    assert smooth[-1] < smooth[0]
    drawn = panel.pages.bake.plot.smooth.getData()[1]
    np.testing.assert_allclose(drawn[-1], np.log10(smooth[-1]))

    # the difference is drawn when it is in sight
    assert "heat" not in model.state.pictures.parts
    panel.viewport.set_mode("heat")
    qtbot.waitUntil(lambda: panel.viewport.heat is not None, timeout=WAIT)
    assert panel.viewport.heat.pixels.max() > 0

    # stays responsive during training
    delays = []
    for _ in range(10):
        # of this thread alone, which other programs do not delay
        begun = time.thread_time()
        click(qtbot, panel.view_bar.all)
        panel.viewport.repaint()
        delays.append(time.thread_time() - begun)
    print(
        f"a click took {1000 * max(delays):.0f} ms at most, {1000 * np.median(delays):.0f} mostly"
    )
    assert np.median(delays) < 0.1

    # pause, paint, resume
    click(qtbot, transport.main)
    qtbot.waitUntil(lambda: model.link.state == "paused", timeout=WAIT)
    assert transport.main.text() == "&Resume"
    step = model.state.bake.progress.step
    texture = panel.pages.paint.texture
    panel.pages.open(panel.pages.paint)
    middle = texture.rect().center()
    pointer.drag(texture, middle, middle + QPoint(8, 0))
    assert model.state.weights.values[64, 64] > 1.5
    assert model.state.weights.values[5, 5] == 1.0
    assert model.state.bake.progress.step == step
    click(qtbot, transport.main)
    qtbot.waitUntil(lambda: model.state.bake.progress.step > step, timeout=WAIT)
    click(qtbot, panel.pages.paint.undo)
    assert model.state.weights.is_constant

    # keep the result
    click(qtbot, transport.finish)
    qtbot.waitUntil(lambda: model.link.state == "done", timeout=WAIT)
    bundle = document.parent / "neural" / "clay.vdg"
    assert model.state.bake.result.bundle == bundle and (bundle / "manifest.json").is_file()
    assert model.host.attached(model.state.current) == bundle
    assert transport.main.isEnabled() and transport.main.text() == "&Bake"
    assert [notice for notice in model.state.notices if notice.severity == ERROR] == []


def test_a_killed_worker_is_reported_and_its_bake_resumed(qtbot, make_panel, document):
    panel = make_panel(document)
    model, transport = panel.model, panel.status.transport
    start(qtbot, panel)
    qtbot.waitUntil(lambda: model.state.bake.checkpoint_step is not None, timeout=WAIT)
    kept = model.state.bake.checkpoint_step
    panel.clients[0]._process.kill()
    qtbot.waitUntil(lambda: model.link.health.state == GONE, timeout=WAIT)
    assert panel.cards.banner.isVisible()
    assert "killed" in panel.cards.banner.text.toPlainText()
    assert model.link.state == "failed"
    click(qtbot, panel.cards.banner.recover)
    qtbot.waitUntil(lambda: model.link.state == "training", timeout=WAIT)
    assert len(panel.clients) == 2
    qtbot.waitUntil(lambda: model.state.bake.progress.step > kept, timeout=WAIT)
    assert not panel.cards.banner.recover.isVisible()

    # cancel leaves no result
    click(qtbot, transport.cancel)
    qtbot.waitUntil(lambda: model.link.state == "idle", timeout=WAIT)
    assert not (document.parent / "neural" / "clay.vdg").exists()

    # a new start reads edits
    red = model.state.pictures.parts["texture"].pixels.reshape(-1, 3).mean(0)
    document.write_text(document.read_text().replace("0.7, 0.3, 0.1", "0.1, 0.3, 0.7"))
    start(qtbot, panel)
    blue = model.state.pictures.parts["texture"].pixels.reshape(-1, 3).mean(0)
    assert red[0] > 1.5 * red[2] and blue[2] > 1.5 * blue[0]

    # closing ends the worker
    wait, waited = panel.clients[1].wait, []
    panel.clients[1].wait = lambda seconds: (
        waited.append(threading.current_thread()) or wait(seconds)
    )
    panel.close()
    panel.closing.later.click()
    assert threading.main_thread() not in waited, "closing waited for the worker"
    assert wait(WAIT / 1000)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import time; time.sleep(60)", r"The worker has not started for \d+ s\."),
        ("import sys; sys.exit('no such library')", r"code 1\): no such library"),
        ("print('hello', flush=True); import time; time.sleep(60)", "invalid output of the worker"),
    ],
)
def test_a_worker_that_never_answers_does_not_block_the_panel(
    script, reason, qtbot, make_panel, document
):
    panel = make_panel(document, [sys.executable, "-c", script])
    model = panel.model

    def is_reported():
        texts = [model.link.health.reason, *(notice.text for notice in model.state.notices)]
        return any(re.search(reason, text) for text in texts)

    qtbot.waitUntil(is_reported, timeout=WAIT)
    begun = time.perf_counter()
    click(qtbot, panel.view_bar.all)
    # far less than the minute that the worker takes
    assert time.perf_counter() - begun < 20
    assert not panel.status.transport.main.isEnabled()
    qtbot.waitUntil(lambda: model.link.health.state in (SILENT, GONE), timeout=WAIT)
    assert panel.cards.banner.recover.isVisible()


IMAGE = """<image name="i" type="color3">
<input name="file" type="filename" value="lost.png"/></image><oren_nayar_diffuse_bsdf"""


def test_the_problem_of_a_material_is_shown_and_prevents_a_start(qtbot, make_panel, document):
    text = document.read_text()
    without_image = text.replace('value="0.7, 0.3, 0.1"', 'nodename="i"')
    problems = {
        "lost.png": without_image.replace("<oren_nayar_diffuse_bsdf", IMAGE),
        "no_such_node": text.replace("oren_nayar_diffuse_bsdf", "no_such_node"),
    }
    panel = None
    for reason, problem in problems.items():
        document.write_text(problem)
        if panel is None:
            panel = make_panel(document)
        panel.model.refresh_materials()
        report = panel.pages.material.report

        def is_shown(panel=panel, report=report, reason=reason):
            return reason in report.toPlainText() + panel.cards.banner.text.toPlainText()

        qtbot.waitUntil(is_shown, timeout=WAIT)
        assert not panel.status.transport.main.isEnabled()
        # also while another page is open
        now = panel.status.progress.now
        qtbot.waitUntil(lambda now=now: now.text().startswith("Cannot be baked"))
        assert panel.viewport.placeholder("reference") == "cannot be drawn"


def test_every_phase_has_a_label():
    assert {*PHASES, *PHASES_OF_TWO_STAGES, FLATTENING} <= set(LABELS)


def test_a_document_without_materials_cannot_be_started(make_panel, document):
    document.write_text('<materialx version="1.39"></materialx>')
    panel = make_panel(document)
    assert panel.status.progress.now.text() == "No material"
    assert not panel.status.transport.main.isEnabled()


@pytest.fixture
def quiet(make_panel, document):
    """A panel whose worker stays silent."""
    return make_panel(document, [sys.executable, "-c", "import time; time.sleep(60)"])


def test_stop_and_keep_explains_why_it_is_disabled(quiet):
    model, transport = quiet.model, quiet.status.transport
    usual = transport.finish.toolTip()
    model.link.set_state("preparing")
    assert not transport.finish.isEnabled() and transport.cancel.isEnabled()
    assert transport.finish.toolTip().startswith("There is no result yet")
    model.state.bake.handle({"event": "step", "step": 1, "steps": 10, "loss": 0.5})
    assert transport.finish.isEnabled() and transport.finish.toolTip() == usual


@pytest.mark.parametrize("width", [420, 900])
def test_every_control_has_keyboard_focus_and_a_tooltip(width, qtbot, quiet):
    quiet.resize(width, 860)
    qtbot.wait(50)
    quiet.pages.settings.more.setChecked(True)
    controls = [
        each
        for kind in (QAbstractButton, QComboBox, QAbstractSpinBox)
        for each in quiet.findChildren(kind)
        if not each.objectName().startswith(("qt_", "Scroll")) and each.parent() is not None
    ]
    makers = ("PySide6", "verdigris")
    own = [each for each in controls if type(each).__module__.startswith(makers)]
    assert len(own) > 25
    assert [each for each in own if not each.focusPolicy() & Qt.FocusPolicy.TabFocus] == []
    silent = [each for each in own if not each.toolTip() and not each.parent().toolTip()]
    assert [(e.text(), e.parent()) for e in silent] == []
    # nothing is clipped
    assert quiet.minimumSizeHint().width() <= width


def test_keys_turn_zoom_and_wipe_the_viewport(qtbot, quiet):
    viewport, model = quiet.viewport, quiet.model
    viewport.setFocus()
    qtbot.keyClick(viewport, Qt.Key.Key_Right)
    assert model.state.view.turn == 10.0
    qtbot.keyClick(viewport, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert model.state.view.rotate == 10.0
    # a plain light has a height, too
    model.set_view(lit_by="")
    light = model.state.view.light
    qtbot.keyClick(viewport, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    assert model.state.view.light[1] > light[1]
    qtbot.keyClick(viewport, Qt.Key.Key_Plus)
    assert model.state.view.zoom == 1.25
    qtbot.keyClick(viewport, Qt.Key.Key_Comma)
    assert viewport.wipe == pytest.approx(0.45)
    qtbot.keyClick(viewport, Qt.Key.Key_Home)
    assert (model.state.view.turn, model.state.view.zoom) == (0.0, 1.0)


def test_the_legend_shows_the_share_that_is_not_trained(quiet):
    mask = np.zeros((4, 4), np.float32)
    mask[0] = 1
    quiet.model.state.weights.replace(mask)
    assert quiet.pages.paint.legend.text().endswith(": trained less; 75% not trained.")
    quiet.model.state.weights.undo()
    assert quiet.pages.paint.legend.text().endswith(": trained less.")


def test_a_black_result_has_a_light_error_of_100_percent(quiet):
    errors = asdict(measure_samples(np.zeros((64, 3)), np.full((64, 3), 0.5)))
    quiet.model.state.bake.handle({"event": "errors", "step": 1, **errors})
    shown = quiet.pages.bake.figures.others.text()
    assert "energy" not in shown
    error = quiet.pages.bake.figures.error
    assert "%" not in error.text() and "100.0% of the light" in error.toolTip()


def test_choices_are_restored(qtbot, quiet, make_panel, document):
    quiet.model.set_choices(resolution=128, target_error=0.02)
    quiet.viewport.set_mode("side by side")
    quiet.model.set_view(shape="cloth", lit_by="sunset")
    quiet.pages.open(quiet.pages.settings)
    quiet.close()
    again = make_panel(document, [sys.executable, "-c", "import time; time.sleep(60)"])
    assert again.viewport.mode == "side by side"
    assert (again.model.state.view.shape, again.model.state.view.lit_by) == ("cloth", "sunset")
    assert again.pages.is_open(again.pages.settings)
    assert again.model.state.choices.target_error == 0.02
    assert again.pages.settings._combos["resolution"].count() == 8
