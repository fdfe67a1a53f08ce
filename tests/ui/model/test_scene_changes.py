"""Changes of the scene: edited, renamed and deleted materials, saved and copied scenes."""

import sys

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from dataclasses import replace
from pathlib import Path

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.hosts.host import HostMaterial
from verdigris.core.worker.protocol import commands
from verdigris.ui.paint.weight_map import Brush
from verdigris.ui.signals import ERROR

from ..fake_session import CLAY, REPORT, FakeHost, Session

WAX = """<standard_surface name="t" type="surfaceshader"/>
<surfacematerial name="wax" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="t"/></surfacematerial></materialx>"""


class ChangingHost(FakeHost):
    """A host whose documents a test can change."""

    text = "<materialx/>"
    search = (Path("/textures"),)

    def document(self, material):
        return replace(super().document(material), text=self.text, search=self.search)


@pytest.fixture
def session():
    return Session(ChangingHost())


def sent(session, kind):
    return [each for each in session.client.sent if isinstance(each, kind)]


def opened(session, **values):
    report = {**REPORT, **values}
    chosen = "" if "problem" in values else "clay"
    session.receive("state", state="idle", doing="compiling the material")
    session.receive("opened", chosen=chosen, materials=[report], trainer="numpy", device="cpu")
    session.receive("state", state="idle", doing="")


@pytest.mark.parametrize("again", ["refresh_materials", "start"])
def test_weights_stay_when_an_unsaved_scene_is_saved(again, session, monkeypatch):
    places = [None]
    monkeypatch.setattr(session.host, "scene_file", lambda: places[0])
    model = session.ready()
    first, second = model.state.materials
    model.state.weights.fill(3.0)
    model.choose(second)
    opened(session)
    model.state.weights.fill(2.0)
    # the search folders change as well
    places[0] = Path("/scene/shot.ma")
    session.host.search = (places[0].parent,)
    getattr(model, again)()
    assert (model.state.weights.values == 2).all() and model.state.weights.can_undo
    opened(session)
    model.link.set_state("idle")
    model.choose(first)
    assert (model.state.weights.values == 3).all()


def test_weights_stay_in_their_scene_when_materials_share_a_name(session, monkeypatch):
    places = [None]
    monkeypatch.setattr(session.host, "scene_file", lambda: places[0])
    model = session.ready()
    model.state.weights.dab(0.5, 0.5, Brush())
    places[0], session.host.opened = Path("/scene/other.ma"), "second"
    model.refresh_materials()
    assert model.state.weights.is_constant


def open_at(session, monkeypatch, name, opened="first"):
    """Opens another scene under this name."""
    monkeypatch.setattr(session.host, "scene_file", lambda: Path(f"/scene/{name}.ma"))
    session.host.opened = opened


@pytest.mark.parametrize("again", ["refresh_materials", "start"])
def test_weights_are_copied_when_a_scene_is_saved_under_another_name(again, session, monkeypatch):
    model = session.ready()
    first, second = model.state.materials
    model.state.weights.fill(3.0)
    model.choose(second)
    opened(session)
    model.state.weights.fill(2.0)
    open_at(session, monkeypatch, "version_2")
    # edited as well
    session.host.text = "<materialx><!-- edited --></materialx>"
    getattr(model, again)()
    assert (model.state.weights.values == 2).all() and model.state.weights.can_undo
    if again == "refresh_materials":
        assert "weights of shot.ma were copied to version_2.ma" in model.state.notices[-1].text
    opened(session)
    model.link.set_state("idle")
    model.choose(first)
    assert (model.state.weights.values == 3).all()
    # later changes stay in the new scene
    model.state.weights.undo()
    model.state.weights.dab(0.5, 0.5, Brush(weight=8.0))
    open_at(session, monkeypatch, "shot")
    model.refresh_materials()
    assert (model.state.weights.values == 3).all()
    model.state.weights.undo()
    assert (model.state.weights.values == 1).all()
    open_at(session, monkeypatch, "version_2")
    model.refresh_materials()
    assert model.state.weights.values.max() > 3


def test_a_bake_in_a_renamed_scene_keeps_the_weights_of_the_old_one(session, monkeypatch):
    model = session.ready()
    model.state.weights.fill(3.0)
    open_at(session, monkeypatch, "version_2")
    model.start()
    assert len(sent(session, commands.Open)) == 1
    model.state.weights.fill(5.0)
    model.link.set_state("idle")
    open_at(session, monkeypatch, "shot")
    model.refresh_materials()
    assert (model.state.weights.values == 3).all()


def test_weights_of_a_scene_are_not_replaced_by_those_of_a_copy(session, monkeypatch):
    model = session.ready()
    model.state.weights.fill(3.0)
    open_at(session, monkeypatch, "other", "second")
    model.refresh_materials()
    opened(session)
    model.state.weights.fill(5.0)
    open_at(session, monkeypatch, "shot")
    model.refresh_materials()
    assert (model.state.weights.values == 3).all()
    # Maya cannot distinguish a scene from a copy of its file
    open_at(session, monkeypatch, "other")
    model.refresh_materials()
    assert (model.state.weights.values == 5).all()


def test_an_edited_material_is_read_again_before_its_bake(session):
    model = session.ready()
    session.host.text = "<materialx><!-- edited --></materialx>"
    model.start()
    assert [each.payload for each in sent(session, commands.Open)][1:] == [
        session.host.text.encode()
    ]
    # the worker has to open it first
    assert sent(session, commands.Start) == [] and not model.can("start")
    opened(session)
    assert len(sent(session, commands.Start)) == 1
    assert model.link.state == "preparing"


def test_an_unchanged_material_is_baked_at_once(session):
    model = session.ready()
    model.start()
    assert len(sent(session, commands.Open)) == len(sent(session, commands.Start)) == 1


def test_an_edit_that_cannot_be_baked_is_reported(session):
    model = session.ready()
    session.host.text = "<materialx><!-- broken --></materialx>"
    model.start()
    opened(session, problem="clay: has no surface")
    assert sent(session, commands.Start) == [] and model.link.state == "idle"
    assert (model.state.notices[-1].severity, model.state.notices[-1].text) == (
        ERROR,
        "clay: has no surface",
    )


def test_a_deleted_material_is_reported_and_not_baked(session):
    model = session.ready()
    session.host.fails = True
    model.start()
    assert sent(session, commands.Start) == []
    assert model.state.notices[-1].text == "the material has gone"


def test_choosing_another_material_cancels_a_pending_start(session):
    model = session.ready()
    session.host.text = "<materialx><!-- edited --></materialx>"
    model.start()
    model.choose(model.state.materials[1])
    opened(session)
    opened(session)
    assert model.state.current != CLAY and sent(session, commands.Start) == []


def test_a_refresh_reads_the_material_again_except_during_a_bake(session):
    model = session.ready()
    model.refresh_materials()
    assert len(sent(session, commands.Open)) == 2 and model.state.report is None
    opened(session)
    model.start()
    model.refresh_materials()
    assert len(sent(session, commands.Open)) == 2


def test_a_file_that_another_program_saved_is_read_again(document):
    host = FilesHost(document)
    (clay,) = host.materials()
    before = host.document(clay)
    document.write_text(document.read_text().replace("</materialx>", WAX).replace("0.7,", "0.2,"))
    assert [each.name for each in host.materials()] == ["clay", "wax"]
    now = host.document(clay)
    assert "0.2, 0.3, 0.1" in now.text and "0.7, 0.3, 0.1" in before.text


def rename(session, name):
    """Renames the first material of the scene."""
    renamed = HostMaterial(name, name, CLAY.source)
    others = session.host.materials()[1:]
    session.host.materials = lambda: (renamed, *others)
    named = session.host.identity

    def attach(material, result):
        if material == CLAY:
            raise HostError("clay: is not in the scene")
        session.host.attached_results.append((material, result.bundle))

    session.host.identity = lambda each: named(CLAY if each == renamed else each)
    session.host.attach = attach
    return renamed


@pytest.mark.parametrize("is_refreshed", [False, True])
def test_a_result_is_noted_at_a_material_that_was_renamed_during_its_bake(is_refreshed, session):
    model = session.training()
    model.state.weights.fill(3.0)
    renamed = rename(session, "fine_clay")
    if is_refreshed:
        model.refresh_materials()
        assert model.state.current == renamed and not model.state.notices
    session.receive("finished", step=9, results=["/out/clay.vdg"])
    session.receive("state", state="finishing")
    session.receive("state", state="done")
    assert session.host.attached_results == [(renamed, Path("/out/clay.vdg"))]
    model.refresh_materials()
    assert model.state.current == renamed
    assert (model.state.weights.values == 3).all()


def test_a_renamed_material_in_a_copied_scene_gets_a_copy_of_the_weights(session, monkeypatch):
    model = session.ready()
    listed, identity = session.host.materials, session.host.identity
    model.state.weights.fill(3.0)
    rename(session, "fine_clay")
    open_at(session, monkeypatch, "copy")
    model.refresh_materials()
    assert model.state.current.name == "fine_clay" and (model.state.weights.values == 3).all()
    opened(session)
    model.state.weights.fill(5.0)
    session.host.materials, session.host.identity = listed, identity
    open_at(session, monkeypatch, "shot")
    model.refresh_materials()
    assert model.state.current == CLAY and (model.state.weights.values == 3).all()


def test_a_different_material_is_not_taken_for_a_renamed_one(session):
    model = session.training()
    rename(session, "gold")
    session.host.identity = lambda each: each.key
    model.refresh_materials()
    assert model.state.current == CLAY
    assert model.state.notices[-1].text.startswith("clay is no longer in the scene.")
    session.receive("finished", step=9, results=["/out/clay.vdg"])
    assert session.host.attached_results == []
    assert "not noted in the scene: clay: is not in the scene" in model.state.notices[-1].text


def test_the_list_and_the_progress_show_a_deleted_material(make_panel, document):
    panel = make_panel(document, [sys.executable, "-c", "import time; time.sleep(60)"])
    model, picker = panel.model, panel.picker.combo
    model.refresh_materials()
    assert picker.currentText().startswith("clay")
    model.link.set_state("training")
    document.write_text(document.read_text().replace('"clay"', '"wax"'))
    model.refresh_materials()
    assert picker.currentIndex() == -1
    assert picker.placeholderText() == "clay  (no longer in the scene)"
    model.link.set_state("done")
    model.state.bake.handle({"event": "finished", "step": 9, "stopped_by": "request"})
    model.documents.read()
    model.link.set_state("done")
    assert panel.status.progress.now.text() == "Cannot be baked: see the section Material"
    model.refresh_materials()
    assert picker.currentText().startswith("wax") and picker.placeholderText() == ""


def test_a_result_is_noted_at_its_material_when_another_one_is_chosen(session):
    """The bake is kept, and its figures come while the artist looks at another material."""
    model = session.training()
    session.receive("step", step=50, steps=100, loss=0.1)
    model.finish()
    session.receive("state", state="finishing")
    session.receive("state", state="refining")
    model.choose(model.state.materials[1])
    session.receive("finished", step=100, stopped_by="request", results=["/out/clay.vdg"])
    assert session.host.attached_results == [(CLAY, Path("/out/clay.vdg"))]
    assert model.state.notices[-1].text == f"Written: {Path('/out/clay.vdg')}"
