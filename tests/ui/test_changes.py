"""What is baked is what the scene holds when the bake starts, not what it held when it was read."""

import sys

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from dataclasses import replace
from pathlib import Path

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.hosts.host import HostMaterial
from verdigris.core.worker.protocol import commands as say
from verdigris.ui.notices import ERROR
from verdigris.ui.weights import Brush

from .bench import CLAY, REPORT, Bench, FakeHost
from .test_panel import WAIT, click, start

WAX = """<standard_surface name="t" type="surfaceshader"/>
<surfacematerial name="wax" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="t"/></surfacematerial></materialx>"""


class ChangingHost(FakeHost):
    """Whose documents a test may change."""

    text = "<materialx/>"
    search = (Path("/textures"),)

    def document(self, material):
        return replace(super().document(material), text=self.text, search=self.search)


@pytest.fixture
def bench():
    return Bench(ChangingHost())


def sent(bench, kind):
    return [each for each in bench.client.sent if isinstance(each, kind)]


def opened(bench, **values):
    report = {**REPORT, **values}
    chosen = "" if "problem" in values else "clay"
    bench.hear("state", state="idle", doing="compiling the material")
    bench.hear("opened", chosen=chosen, materials=[report], trainer="numpy", device="cpu")
    bench.hear("state", state="idle", doing="")


@pytest.mark.parametrize("again", ["refresh_materials", "start"])
def test_what_is_painted_stays_with_a_scene_that_is_saved_at_last(again, bench, monkeypatch):
    places = [None]
    monkeypatch.setattr(bench.host, "scene_file", lambda: places[0])
    model = bench.ready()
    first, second = model.materials
    model.weights.fill(3.0)
    model.choose(second)
    opened(bench)
    model.weights.fill(2.0)
    # where its files are looked for, too, is another place
    places[0] = Path("/scene/shot.ma")
    bench.host.search = (places[0].parent,)
    getattr(model, again)()
    assert (model.weights.values == 2).all() and model.weights.can_undo
    opened(bench)
    model._set_state("idle")
    model.choose(first)
    assert (model.weights.values == 3).all()


def test_what_is_painted_in_one_scene_is_not_in_another_with_a_material_of_that_name(
    bench, monkeypatch
):
    places = [None]
    monkeypatch.setattr(bench.host, "scene_file", lambda: places[0])
    model = bench.ready()
    model.weights.dab(0.5, 0.5, Brush())
    places[0], bench.host.opened = Path("/scene/other.ma"), "second"
    model.refresh_materials()
    assert model.weights.is_plain


def open_at(bench, monkeypatch, name, opened="first"):
    """The scene that is open from now on, under this name."""
    monkeypatch.setattr(bench.host, "scene_file", lambda: Path(f"/scene/{name}.ma"))
    bench.host.opened = opened


@pytest.mark.parametrize("again", ["refresh_materials", "start"])
def test_what_is_painted_is_in_a_scene_that_is_saved_under_another_name_and_in_the_old_one(
    again, bench, monkeypatch
):
    model = bench.ready()
    first, second = model.materials
    model.weights.fill(3.0)
    model.choose(second)
    opened(bench)
    model.weights.fill(2.0)
    open_at(bench, monkeypatch, "version_2")
    # edited since, too
    bench.host.text = "<materialx><!-- edited --></materialx>"
    getattr(model, again)()
    assert (model.weights.values == 2).all() and model.weights.can_undo
    if again == "refresh_materials":
        assert "painted in shot.ma was taken over for version_2.ma" in model.notices[-1].text
    opened(bench)
    model._set_state("idle")
    model.choose(first)
    assert (model.weights.values == 3).all()
    # what is painted from here on is the new scene's
    model.weights.undo()
    model.weights.dab(0.5, 0.5, Brush(weight=8.0))
    open_at(bench, monkeypatch, "shot")
    model.refresh_materials()
    assert (model.weights.values == 3).all()
    model.weights.undo()
    assert (model.weights.values == 1).all()
    open_at(bench, monkeypatch, "version_2")
    model.refresh_materials()
    assert model.weights.values.max() > 3


def test_a_bake_that_is_started_in_a_scene_of_a_new_name_leaves_the_old_scenes_paint_alone(
    bench, monkeypatch
):
    model = bench.ready()
    model.weights.fill(3.0)
    open_at(bench, monkeypatch, "version_2")
    model.start()
    assert len(sent(bench, say.Open)) == 1
    model.weights.fill(5.0)
    model._set_state("idle")
    open_at(bench, monkeypatch, "shot")
    model.refresh_materials()
    assert (model.weights.values == 3).all()


def test_what_a_scene_has_of_its_own_is_not_painted_over_by_another(bench, monkeypatch):
    model = bench.ready()
    model.weights.fill(3.0)
    open_at(bench, monkeypatch, "other", "second")
    model.refresh_materials()
    opened(bench)
    model.weights.fill(5.0)
    open_at(bench, monkeypatch, "shot")
    model.refresh_materials()
    assert (model.weights.values == 3).all()
    # as Maya tells no scene from a copy of its file
    open_at(bench, monkeypatch, "other")
    model.refresh_materials()
    assert (model.weights.values == 5).all()


def test_a_material_that_was_edited_is_read_again_and_then_baked(bench):
    model = bench.ready()
    bench.host.text = "<materialx><!-- edited --></materialx>"
    model.start()
    assert [each.payload for each in sent(bench, say.Open)][1:] == [bench.host.text.encode()]
    # not before the worker has it
    assert sent(bench, say.Start) == [] and not model.can("start")
    opened(bench)
    assert len(sent(bench, say.Start)) == 1
    assert model.state == "preparing"


def test_a_material_that_is_as_it_was_is_baked_at_once(bench):
    model = bench.ready()
    model.start()
    assert len(sent(bench, say.Open)) == len(sent(bench, say.Start)) == 1


def test_an_edit_that_cannot_be_baked_is_said_and_not_baked(bench):
    model = bench.ready()
    bench.host.text = "<materialx><!-- broken --></materialx>"
    model.start()
    opened(bench, problem="clay: has no surface")
    assert sent(bench, say.Start) == [] and model.state == "idle"
    assert (model.notices[-1].severity, model.notices[-1].text) == (ERROR, "clay: has no surface")


def test_a_material_that_is_gone_is_said_and_not_baked(bench):
    model = bench.ready()
    bench.host.fails = True
    model.start()
    assert sent(bench, say.Start) == []
    assert model.notices[-1].text == "the material has gone"


def test_choosing_another_material_meanwhile_starts_none(bench):
    model = bench.ready()
    bench.host.text = "<materialx><!-- edited --></materialx>"
    model.start()
    model.choose(model.materials[1])
    opened(bench)
    opened(bench)
    assert model.current != CLAY and sent(bench, say.Start) == []


def test_reading_the_scene_again_reads_its_material_again_but_not_while_it_trains(bench):
    model = bench.ready()
    model.refresh_materials()
    assert len(sent(bench, say.Open)) == 2 and model.report is None
    opened(bench)
    model.start()
    model.refresh_materials()
    assert len(sent(bench, say.Open)) == 2


def test_a_file_that_was_saved_by_another_program_is_read_again(document):
    host = FilesHost(document)
    (clay,) = host.materials()
    before = host.document(clay)
    document.write_text(document.read_text().replace("</materialx>", WAX).replace("0.7,", "0.2,"))
    assert [each.name for each in host.materials()] == ["clay", "wax"]
    now = host.document(clay)
    assert "0.2, 0.3, 0.1" in now.text and "0.7, 0.3, 0.1" in before.text


def test_a_new_start_shows_and_trains_what_the_file_holds_by_now(qtbot, make_panel, document):
    panel = make_panel(document)
    model = panel.model
    start(qtbot, panel)
    click(qtbot, panel.status.transport.cancel)
    qtbot.waitUntil(lambda: model.state == "idle", timeout=WAIT)
    red = model.pictures.parts["texture"].pixels.reshape(-1, 3).mean(0)
    assert red[0] > 1.5 * red[2]
    document.write_text(document.read_text().replace("0.7, 0.3, 0.1", "0.1, 0.3, 0.7"))
    start(qtbot, panel)
    blue = model.pictures.parts["texture"].pixels.reshape(-1, 3).mean(0)
    assert blue[2] > 1.5 * blue[0]


def rename(bench, name):
    """The scene calls its first material so; what it is, it stays."""
    renamed = HostMaterial(name, name, CLAY.source)
    others = bench.host.materials()[1:]
    bench.host.materials = lambda: (renamed, *others)
    named = bench.host.identity

    def attach(material, result):
        if material == CLAY:
            raise HostError("clay: is not in the scene")
        bench.host.attached_results.append((material, result.bundle))

    bench.host.identity = lambda each: named(CLAY if each == renamed else each)
    bench.host.attach = attach
    return renamed


@pytest.mark.parametrize("is_refreshed", [False, True])
def test_a_result_is_noted_at_a_material_that_was_renamed_while_it_was_baked(is_refreshed, bench):
    model = bench.training()
    model.weights.fill(3.0)
    renamed = rename(bench, "fine_clay")
    if is_refreshed:
        model.refresh_materials()
        assert model.current == renamed and not model.notices
    bench.hear("finished", step=9, results=["/out/clay.vdg"])
    bench.hear("state", state="finishing")
    bench.hear("state", state="done")
    assert bench.host.attached_results == [(renamed, Path("/out/clay.vdg"))]
    model.refresh_materials()
    assert model.current == renamed
    assert (model.weights.values == 3).all()


def test_a_copy_of_a_scene_in_which_a_material_has_another_name_leaves_the_old_ones_paint(
    bench, monkeypatch
):
    model = bench.ready()
    listed, identity = bench.host.materials, bench.host.identity
    model.weights.fill(3.0)
    rename(bench, "fine_clay")
    open_at(bench, monkeypatch, "copy")
    model.refresh_materials()
    assert model.current.name == "fine_clay" and (model.weights.values == 3).all()
    opened(bench)
    model.weights.fill(5.0)
    bench.host.materials, bench.host.identity = listed, identity
    open_at(bench, monkeypatch, "shot")
    model.refresh_materials()
    assert model.current == CLAY and (model.weights.values == 3).all()


def test_another_material_in_its_place_is_not_taken_for_one_that_was_renamed(bench):
    model = bench.training()
    rename(bench, "gold")
    bench.host.identity = lambda each: each.key
    model.refresh_materials()
    assert model.current == CLAY
    assert model.notices[-1].text.startswith("clay: is not in the scene any more: it is baked as")
    bench.hear("finished", step=9, results=["/out/clay.vdg"])
    assert bench.host.attached_results == []
    assert "not noted in the scene: clay: is not in the scene" in model.notices[-1].text


def test_the_picker_and_the_bar_tell_of_a_material_that_is_gone(make_panel, document):
    panel = make_panel(document, [sys.executable, "-c", "import time; time.sleep(60)"])
    model, picker = panel.model, panel.picker.combo
    model.refresh_materials()
    assert picker.currentText().startswith("clay")
    model._set_state("training")
    document.write_text(document.read_text().replace('"clay"', '"wax"'))
    model.refresh_materials()
    assert picker.currentIndex() == -1
    assert picker.placeholderText() == "clay  (not in the scene any more)"
    model._set_state("done")
    model.bake.take({"event": "finished", "step": 9, "stopped_by": "request"})
    model._document_now()
    model._set_state("done")
    assert panel.status.progress.now.text() == "Cannot be baked: the page Material says why"
    model.refresh_materials()
    assert picker.currentText().startswith("wax") and picker.placeholderText() == ""
