"""What the materials of an application publish is offered in the panel, with the application's
names and present values."""

import base64
import json
import os
import zlib

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6", reason="the panel needs PySide6: pip install 'verdigris[panel]'")
pytest.importorskip("pxr")

from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe
from verdigris.core.worker.protocol import commands

from ..ui.fake_session import FakeClient
from .hosts import by_name
from .houdini.scenes import LIBRARY, USD_DATA
from .maya.scenes import open_scene

COMPOUND = """<materialx version="1.39"><nodegraph name="compound1">
<input name="in_wet" type="float" value="{wet}" uiname="Wetness" uimin="0" uimax="2"/>
<input name="steps" type="integer" value="2"/>
<multiply name="m" type="float"><input name="in1" type="float" interfacename="in_wet"/>
<input name="in2" type="float" value="0.5"/></multiply>
<output name="out" type="float" nodename="m"/></nodegraph>
<standard_surface name="s" type="surfaceshader">
<input name="coat" type="float" nodegraph="compound1" output="out"/>
<input name="base" type="float" value="0.8"/></standard_surface>
<surfacematerial name="Plain" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="s"/></surfacematerial></materialx>"""


@pytest.fixture
def panel_of(qtbot, tmp_path, monkeypatch):
    """A panel whose worker reports the opened document and compiles nothing."""
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "config"))
    from PySide6.QtCore import QSettings

    from verdigris.ui.memory import Memory
    from verdigris.ui.model.panel_model import PanelModel
    from verdigris.ui.panel import Panel

    made = []

    def make(host, name):
        client = FakeClient()
        settings = QSettings(str(tmp_path / "memory.ini"), QSettings.Format.IniFormat)
        panel = Panel(PanelModel(host, lambda: client), None, Memory(settings))
        qtbot.addWidget(panel)
        made.append(panel)
        panel.pages.show_only(["Live"])
        panel.model.choose(by_name(host, name))
        return panel, client

    yield make
    for panel in made:
        panel.shutdown()


def answer(panel, client):
    """The worker's report of what it was sent last."""
    opening = [each for each in client.sent if isinstance(each, commands.Open)][-1]
    document = parse_document(opening.payload.decode(), opening.search, opening.name)
    reports = [each.as_json() for each in describe(document, probe=False)]
    # as it comes through the pipe
    reports = json.loads(json.dumps(reports))
    client.emit("opened", chosen=opening.material, materials=reports, trainer="numpy", live=[])
    panel.model.tick()
    rows = {row.offer.name: row for row in panel.pages.live.rows}
    return rows, opening


def test_promoted_parameters_of_houdini_are_offered(houdini, in_houdini, panel_of, tmp_path):
    panel, client = panel_of(in_houdini, "nested")
    rows, _ = answer(panel, client)
    assert [*rows][:2] == ["shine", "tint"]
    assert rows["shine"].check.text() == "Shine" and rows["shine"].offer.value == (0.35,)
    rows["shine"].check.click()
    assert rows["shine"].start.value() == pytest.approx(0.35)
    # the artist turns the parameter in the scene: the panel reads it again
    turned = (USD_DATA / "solaris.usda").read_text().replace("shine = 0.35", "shine = 0.6")
    (tmp_path / "turned.usda").write_text(turned)
    houdini.stages[LIBRARY] = str(tmp_path / "turned.usda")
    panel.model.refresh_materials()
    rows, opening = answer(panel, client)
    assert rows["shine"].offer.value == (0.6,)
    # what was chosen stays, and follows the value of the scene
    assert opening.live == ("shine=0..1",) and rows["shine"].start.value() == pytest.approx(0.6)


def test_published_inputs_of_a_compound_of_lookdevx_are_offered(maya, panel_of):
    host = open_scene(maya, "stack.ma")
    stack = maya.nodes["|materialXStack1|materialXStackShape1"]["attributes"]

    def write(wet):
        data = COMPOUND.format(wet=wet).encode()
        packed = len(data).to_bytes(4, "big") + zlib.compress(data)
        document = base64.b64encode(packed).decode()
        stack["documents"] = json.dumps([{"name": "d", "document": document}])

    write(0.25)
    panel, client = panel_of(host, "Plain")
    rows, _ = answer(panel, client)
    # numbers and colours only, those of the compound before those of the surface
    assert [*rows] == ["in_wet", "base"]
    row = rows["in_wet"]
    assert (row.check.text(), row.reach.text()) == ("Wetness", "coat")
    row.check.click()
    assert panel.model.state.choices.live == ("in_wet=0..2",) and row.start.value() == 0.25
    write(1.5)
    panel.model.start()
    # the document has changed: it is opened with the live input before the bake
    rows, opening = answer(panel, client)
    assert opening.live == ("in_wet=0..2",) and rows["in_wet"].start.value() == 1.5
    assert isinstance(client.sent[-1], commands.Start)
