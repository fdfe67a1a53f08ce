"""Live inputs in the panel: what is offered and chosen, sliders, pictures, undo and memory."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPointF, QSettings, Qt
from PySide6.QtTest import QTest

from verdigris.core.worker.protocol import commands
from verdigris.ui.memory import Memory
from verdigris.ui.model import open_document, view_sync
from verdigris.ui.model.parts.choices import BakeChoices
from verdigris.ui.model.parts.live_values import find_wanted, offers_of, with_request

from .fake_session import REPORT


def offer(name, value=(0.3,), low=(0.0,), high=(1.0,), reaches=("base_color",), **more):
    kind = "color3" if len(value) == 3 else "float"
    given = {"name": name, "kind": kind, "value": value, "low": low, "high": high, **more}
    return {"name": name, "inputs": reaches, "only_by_uv": False, "input": given}


OFFERS = [
    offer("specular", is_of_surface=True),
    offer("wetness", label="Wetness", reaches=("base_color", "bsdf")),
    offer("tint", (0.5, 0.2, 0.1), (0.5, 0.2, 0.1), (1, 1, 1)),
    {**offer("age", (4,), (0,), (10,)), "keeps_heights": True},
]


def opened(*requests):
    """The worker's answer to these requests."""
    live = []
    for text in requests:
        wanted = find_wanted((text,), text.partition("=")[0])
        is_colour = len(wanted.low) == 3
        low, high = (wanted.low, wanted.high) if is_colour else (wanted.low[0], wanted.high[0])
        default = 0.0 if wanted.default is None else wanted.default
        share = default if is_colour else (default - low) / (high - low)
        kind = "color3" if is_colour else "float"
        live.append({"name": wanted.name, "type": kind, "low": low, "high": high, "default": share})
        live[-1]["request"] = text
    report = {**REPORT, "live": OFFERS}
    return {"chosen": "clay", "materials": [report], "trainer": "numpy", "live": live}


@pytest.fixture
def living(fake_panel, monkeypatch):
    monkeypatch.setattr(open_document, "LIVE_INTERVAL", -1.0)
    monkeypatch.setattr(view_sync, "RANGE_INTERVAL", -1.0)
    session, panel = fake_panel
    model = session.model
    session.ready()
    model.set_choices(live=())
    session.receive("opened", **opened())
    session.client.sent.clear()
    panel.pages.show_only(["Live"])
    session.row = lambda name: next(
        each for each in panel.pages.live.rows if each.offer.name == name
    )
    yield SimpleNamespace(session=session, panel=panel, model=model, row=session.row)
    if model.link.is_busy:
        model.cancel()
    session.receive("state", state="idle")
    model.set_choices(live=(), preset="")
    model.state.living.clear()
    model.tick()


def sent(living, kind):
    return [each for each in living.session.client.sent if isinstance(each, kind)]


def test_inputs_of_the_graph_come_first_and_say_what_they_reach(living):
    names = [row.offer.name for row in living.panel.pages.live.rows]
    assert names == ["wetness", "tint", "age", "specular"]
    wetness = living.row("wetness")
    assert wetness.check.text() == "Wetness"
    # in words of artists
    assert wetness.reach.text() == "base color, reflection"
    assert "0.3" in wetness.reach.toolTip()
    assert living.row("age").reach.text() == "base color; not the displacement"
    assert "the displacement keeps the document's value" in living.row("age").reach.toolTip()
    # those of the surface are folded
    assert wetness.isVisible() and not living.row("specular").isVisible()
    assert living.panel.pages.live.fold.text() == "More inputs (1)"


def test_a_tick_opens_the_material_with_the_input_and_the_bake_has_it(living):
    QTest.mouseClick(living.row("wetness").check, Qt.MouseButton.LeftButton)
    assert living.model.state.choices.live == ("wetness=0..1",)
    living.model.tick()
    (opening,) = sent(living, commands.Open)
    assert opening.live == ("wetness=0..1",)
    living.session.receive("opened", **opened("wetness=0..1"))
    (row,) = living.panel.live_bar.rows
    # by the application's name
    assert (row.input.name, row.label.text()) == ("wetness", "Wetness")
    living.session.client.sent.clear()
    living.model.start()
    # it is open already
    assert not sent(living, commands.Open) and len(sent(living, commands.Start)) == 1
    assert not living.panel.pages.live.isEnabled()


def test_a_start_right_after_the_choice_opens_first(living, monkeypatch):
    monkeypatch.setattr(open_document, "LIVE_INTERVAL", 1e9)
    living.row("age").check.click()
    living.model.start()
    assert len(sent(living, commands.Open)) == 1 and not sent(living, commands.Start)
    living.session.receive("opened", **opened("age=0..10"))
    assert len(sent(living, commands.Start)) == 1


def test_the_range_is_changed_and_cannot_be_empty(living):
    row = living.row("age")
    row.check.click()
    # the material's value, until the artist has another one
    assert (row.low.value(), row.high.value(), row.start.value()) == (0, 10, 4)
    row.high.setValue(3)
    assert living.model.state.choices.live == ("age=0..3",)
    assert row.start.value() == 3
    row.start.setValue(2)
    row.low.setValue(5)
    (text,) = living.model.state.choices.live
    wanted = find_wanted((text,), "age")
    assert wanted.low < wanted.high and wanted.low[0] <= wanted.default <= wanted.high[0]
    colour = living.row("tint")
    colour.check.click()
    colour.high._change((0.0, 0.0, 0.5))
    assert "tint=0.5,0.2,0.1..0,0,0.5" in living.model.state.choices.live


def test_more_than_three_cannot_be_chosen(living):
    for name in ("wetness", "tint", "age"):
        living.row(name).check.click()
    assert not living.row("specular").check.isEnabled()
    assert "at most" in living.row("specular").check.toolTip()
    living.row("tint").check.click()
    assert living.row("specular").check.isEnabled()


def test_undo_takes_a_choice_back_but_not_that_of_another_material(living):
    model, history = living.model, living.panel.pages.settings.history
    living.row("wetness").check.click()
    model.set_choices(preset="final")
    history.undo()
    history.undo()
    assert model.state.choices.live == ()
    history.redo()
    assert model.state.choices.live == ("wetness=0..1",)
    wax = model.state.materials[1]
    model.choose(wax)
    assert model.state.choices.live == ()
    history.undo()
    # what came before, without live inputs of the other one
    assert model.state.choices.live == ()
    model.choose(model.state.materials[0])
    assert model.state.choices.live == ("wetness=0..1",)


def test_choices_are_kept_by_material_and_are_part_of_no_preset(living, tmp_path):
    living.row("wetness").check.click()
    stored = living.panel._memory.live()
    assert stored == {living.model.host.identity(living.model.state.current): ("wetness=0..1",)}
    memory = Memory(QSettings(str(tmp_path / "m.ini"), QSettings.Format.IniFormat))
    memory.store_choices(living.model.state.choices)
    assert memory.choices().live == ()
    living.model.state.own_presets.save("Mine", living.model.state.choices)
    own = living.model.state.own_presets.find("Mine")
    assert own.choices.live == ()
    assert own.applied_to(BakeChoices(live=("age=0..10",))).live == ("age=0..10",)


def test_a_slider_moves_the_view_by_mouse_and_keyboard(living):
    living.session.receive("opened", **opened("wetness=0..2@0.5", "age=0..10"))
    bar, model = living.panel.live_bar, living.model
    assert bar.isVisible()
    # at the defaults, the view has none of its own
    assert model.state.view.live == ()
    bar.rows[0].slider.setValue(1000)
    assert model.state.view.live == (1.0, 0.0) and bar.rows[0].box.value() == 2
    assert sent(living, commands.SetView)[-1].live == (1.0, 0.0)
    bar.rows[1].box.setValue(2.5)
    assert model.state.view.live == (1.0, 0.25)
    QTest.keyClick(bar.rows[1].slider, Qt.Key.Key_Right)
    assert model.state.view.live == pytest.approx((1.0, 0.26))
    for row in bar.rows:
        assert row.reset.isEnabled()
        row.reset.click()
    assert model.state.view.live == () and not bar.rows[0].reset.isEnabled()
    # the same input in another range keeps its value
    bar.rows[1].box.setValue(5)
    living.session.receive("opened", **opened("age=0..20"))
    assert model.state.view.live == (0.25,) and bar.rows[0].box.value() == 5
    living.session.receive("opened", **opened())
    assert not bar.isVisible() and model.state.view.live == ()


def test_the_pictures_show_the_range_and_a_click_sets_the_value(living):
    session, pictures = living.session, living.panel.live_bar.pictures
    session.receive("opened", **opened("wetness=0..1", "age=0..10"))
    living.model.tick()
    assert sent(living, commands.Range)[-1].input == 0
    pixels = np.zeros((8, 64, 3), np.uint8)
    pixels[:, 56:] = 255
    header = {"shape": [8, 64, 3], "type": "|u1", "part": "reference"}
    session.client.emit("rangedrawn", pixels.tobytes(), input=0, **header)
    # of an input that is not shown any more
    session.client.emit("rangedrawn", pixels[::-1].tobytes(), input=1, **header)
    living.model.tick()
    living.panel.resize(900, 900)
    places = pictures.places()
    shot = pictures.grab().toImage()
    lights = [shot.pixelColor(place.center().toPoint()).lightness() for place in places]
    assert lights == [0] * 7 + [255]
    QTest.mouseClick(pictures, Qt.MouseButton.LeftButton, pos=places[7].center().toPoint())
    assert living.model.state.live.share("wetness") == 1
    QTest.keyClick(pictures, Qt.Key.Key_Left)
    assert living.model.state.live.share("wetness") == pytest.approx(6 / 7)
    living.model.set_live("wetness", 0.5)
    QTest.keyClick(pictures, Qt.Key.Key_Right)
    assert living.model.state.live.share("wetness") == pytest.approx(4 / 7)
    QTest.keyClick(pictures, Qt.Key.Key_Home)
    assert living.model.state.live.share("wetness") == 0
    # the slider that is touched has the pictures
    session.client.sent.clear()
    living.panel.live_bar.rows[1].slider.setValue(10)
    living.model.tick()
    assert sent(living, commands.Range)[-1].input == 1
    # the light changes all of its pictures, and the value of its own input none
    session.client.sent.clear()
    living.panel.live_bar.rows[1].slider.setValue(20)
    living.model.tick()
    assert not sent(living, commands.Range)
    living.model.set_view(rotate=40.0)
    living.model.tick()
    assert len(sent(living, commands.Range)) == 1
    assert pictures.number_at(QPointF(places[3].center()).x()) == 3


def test_a_version_is_shown_with_its_own_live_inputs(living, tmp_path):
    from datetime import datetime

    from verdigris.core.bundle.history import Version

    def version(*live):
        return Version(tmp_path, "key", datetime.now().astimezone(), True, live=live)

    living.session.receive("opened", **opened("wetness=0..1@0.5"))
    living.model.set_choices(live=("wetness=0..1",))
    living.session.client.sent.clear()
    living.model.show_version(version("wetness=0..1@0.5"))
    assert not sent(living, commands.Open) and len(sent(living, commands.Show)) == 1
    living.model.show_version(version("age=0..5@1"))
    assert sent(living, commands.Open)[-1].live == ("age=0..5@1",)
    assert isinstance(living.session.client.sent[-1], commands.Show)
    assert living.model.state.choices.live == ("age=0..5@1",)


def test_requests_stay_in_their_order():
    first = find_wanted(("a=0..1", "b=0..2"), "a")
    assert with_request(("a=0..9", "b=0..2"), first) == ("a=0..1", "b=0..2")
    assert find_wanted(("nonsense",), "nonsense") is None
    assert offers_of(None) == () and offers_of({"live": [{"name": "old"}]}) == ()
