"""What is baked is what the scene holds when the bake starts, not what it held when it was read."""

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from dataclasses import replace

from verdigris.core.hosts.files import FilesHost
from verdigris.core.worker import commands as say
from verdigris.ui.notices import ERROR

from .test_model import CLAY, REPORT, Bench, FakeHost
from .test_panel import WAIT, click, start

WAX = """<standard_surface name="t" type="surfaceshader"/>
<surfacematerial name="wax" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="t"/></surfacematerial></materialx>"""


class ChangingHost(FakeHost):
    """Whose documents a test may change."""

    text = "<materialx/>"

    def document(self, material):
        return replace(super().document(material), text=self.text)


@pytest.fixture
def bench():
    made = Bench()
    made.host = made.model.host = ChangingHost()
    return made


def sent(bench, kind):
    return [each for each in bench.client.sent if isinstance(each, kind)]


def opened(bench, **values):
    report = {**REPORT, **values}
    chosen = "" if "problem" in values else "clay"
    bench.hear("state", state="idle", doing="compiling the material")
    bench.hear("opened", chosen=chosen, materials=[report], trainer="numpy", device="cpu")
    bench.hear("state", state="idle", doing="")


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
