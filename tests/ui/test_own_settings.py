"""Presets of the artist's own, numbers that are dragged, and undo, with a fake worker."""

import json
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtWidgets import QFileDialog

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.errors import SettingsError
from verdigris.core.hosts.result_folders import result_folder
from verdigris.core.worker.protocol.commands import Start
from verdigris.ui.memory import Memory
from verdigris.ui.model.parts.choices import BakeChoices
from verdigris.ui.model.parts.own_presets import SUFFIX, OwnPresets, read_preset
from verdigris.ui.qt.scrub import Scrub
from verdigris.ui.session import Session as PanelSession
from verdigris.ui.signals import ERROR

from . import pointer
from .fake_session import Session as FakeSession

LEFT, CTRL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def model(fake_panel):
    session, _ = fake_panel
    found = session.ready()
    session.receive("state", state="idle")
    found.set_choices(**vars(BakeChoices()))
    return found


@pytest.fixture
def form(fake_panel, model):
    panel = fake_panel[1]
    panel.pages.show_only(["Settings"])
    panel.pages.settings.more.setChecked(True)
    return panel.pages.settings


def drag(label, pixels, keys=pointer.NO_KEY, releases=True):
    """Drags a label in two steps."""
    at = label.rect().center()
    places = [at + QPoint(part, 0) for part in (0, pixels // 2, pixels)]
    pointer.drag(label, *places, keys=keys, releases=releases)


def label_in(form, box):
    return next(each for each in form.findChildren(Scrub) if each._box is box)._label


def test_a_number_is_dragged_from_the_preset_s_and_the_drag_is_one_step_of_undo(
    qtbot, fake_panel, form, model
):
    steps = form._spins["iterations"]
    label = label_in(form, steps)
    assert label.cursor().shape() == Qt.CursorShape.SizeHorCursor
    # draft on a processor has 2,500
    drag(label, 40)
    assert model.state.choices.iterations == 2_500 + 10 * 1_000
    drag(label, 40, Qt.KeyboardModifier.ShiftModifier)
    assert model.state.choices.iterations == 13_500
    drag(label, 40, CTRL)
    assert model.state.choices.iterations == 113_500
    for wanted in (13_500, 12_500, None):
        qtbot.keyClick(form, Qt.Key.Key_Z, CTRL)
        assert model.state.choices.iterations == wanted
    qtbot.keyClick(form, Qt.Key.Key_Z, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert model.state.choices.iterations == 12_500
    # Esc takes a drag back, which is no step then
    drag(label, 80, releases=False)
    assert model.state.choices.iterations == 32_500
    qtbot.keyClick(label, Qt.Key.Key_Escape)
    assert model.state.choices.iterations == 12_500
    qtbot.keyClick(form, Qt.Key.Key_Z, CTRL)
    assert model.state.choices.iterations is None
    # the brush, too
    paint = fake_panel[1].pages.paint
    fake_panel[1].pages.show_only(["Paint"])
    before = paint.tools.brush.radius
    drag(label_in(paint, paint.size.box), 40)
    assert paint.tools.brush.radius == pytest.approx(before + 0.1)


def test_the_target_of_the_verdict_is_chosen_beside_the_presets_and_sent(form, model, fake_panel):
    texts = [form.target.itemText(each) for each in range(form.target.count())]
    assert texts == [
        "Indistinguishable: 5 of 5 dots",
        "Very good: 4 of 5 dots",
        "Good: 3 of 5 dots",
    ]
    assert form.target.currentData() == ""
    form.target.activated.emit(1)
    assert model.state.choices.target == "very good"
    model.start()
    client = fake_panel[0].client
    start = next(each for each in reversed(client.sent) if isinstance(each, Start))
    assert start.request.target == "very good"
    fake_panel[0].receive("state", state="preparing")
    fake_panel[0].receive("state", state="failed")


def test_a_preset_of_one_s_own_is_saved_chosen_deleted_and_brought_back(qtbot, form, model):
    model.set_choices(preset="standard", resolution=512, target="good", folder="/elsewhere")
    form.tools.name.setText("  Hero  props ")
    qtbot.mouseClick(form.tools.save, LEFT)
    card = form.presets.own["Hero props"]
    assert card.isChecked() and not form.presets.cards["standard"].isChecked()
    assert card.use == "standard, 512 px, good" and card.prediction is not None
    model.set_choices(**vars(BakeChoices(folder="/other")))
    assert not card.isChecked() and form.presets.cards["draft"].isChecked()
    qtbot.mouseClick(card, LEFT)
    assert model.state.choices == BakeChoices(
        BakeRequest(preset="standard", changes={"resolution": 512}, target="good"), "/other"
    )
    # the same preset in a panel that is opened later
    again = OwnPresets()
    again.refresh()
    assert [each.name for each in again.all] == ["Hero props"]

    card.setFocus()
    qtbot.keyClick(card, Qt.Key.Key_Delete)
    assert form.presets.own == {} and form.tools.undelete.isVisibleTo(form.tools)
    qtbot.mouseClick(form.tools.undelete, LEFT)
    assert [*form.presets.own] == ["Hero props"] and not form.tools.undelete.isVisibleTo(form.tools)
    model.state.own_presets.delete(model.state.own_presets.all[0])


def test_a_preset_goes_into_a_file_and_comes_from_one(qtbot, form, model, tmp_path, monkeypatch):
    model.set_choices(iterations=700, network="3x64")
    preset = model.state.own_presets.save("Quick", model.state.choices)
    file = tmp_path / "share" / f"quick{SUFFIX}"
    file.parent.mkdir()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file.with_suffix("")), ""))
    menu = form.presets._menu(preset)
    menu.actions()[0].trigger()
    menu.close()
    assert json.loads(file.read_text())["choices"] == {"iterations": 700, "network": "3x64"}
    model.state.own_presets.delete(preset)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(file), ""))
    qtbot.mouseClick(form.tools.take, LEFT)
    assert form.presets.own["Quick"].use == "default, 3x64, 700 steps"
    # a wrong one is refused with its name
    file.write_text(file.read_text().replace("700", '"many"'))
    qtbot.mouseClick(form.tools.take, LEFT)
    assert model.state.notices[-1].severity == ERROR
    assert model.state.notices[-1].short.startswith(f"quick{SUFFIX}: its choices are not usable")
    model.state.own_presets.delete(model.state.own_presets.all[0])


@pytest.mark.parametrize("name", ["draft", "a/b", "x" * 41, " "])
def test_a_name_that_cannot_be_kept_is_refused(tmp_path, name):
    presets = OwnPresets(tmp_path)
    with pytest.raises(SettingsError):
        presets.save(name, BakeChoices())
    assert [*tmp_path.iterdir()] == []


def test_what_is_no_preset_is_refused_with_the_file(tmp_path):
    for content in (
        "",
        "[]",
        '{"kind": "other"}',
        '{"kind": "verdigris preset", "choices": {"target": "best"}}',
    ):
        file = tmp_path / f"a{SUFFIX}"
        file.write_text(content)
        with pytest.raises(SettingsError, match=r"a\.vdpreset"):
            read_preset(file)


def test_the_chosen_folder_is_remembered_and_the_command_uses_it(qapp, session, tmp_path):
    memory = Memory(QSettings(str(tmp_path / "memory.ini"), QSettings.Format.IniFormat))
    first = PanelSession(session.model, memory)
    session.model.set_choices(folder="../baked")
    first.close()
    again = FakeSession().model
    PanelSession(again, memory).close()
    assert again.state.choices.folder == "../baked"
    assert again.scene.result_folder == result_folder(Path("/scene/shot.ma"))
    assert again.scene.result_folder == Path("/scene/../baked")
