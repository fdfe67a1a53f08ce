"""The panel opens in each host's fake, and what is painted there reaches the bake."""

import importlib
import os
import sys

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6", reason="the panel needs PySide6: pip install 'verdigris[panel]'")

import fake_houdini
import fake_maya

from verdigris.core.importance.from_mesh import MapSettings, weight_maps
from verdigris.core.material.document import parse_document
from verdigris.core.material.teacher import Teacher
from verdigris.core.network.spec import LatentLayout
from verdigris.core.sampling.draw_samples import DrawnSamples, DrawSettings
from verdigris.core.worker import commands as say

from .maya.test_maya_host import SHAPE, open_scene


@pytest.fixture
def maya(monkeypatch):
    scene = fake_maya.Scene()
    fake_maya.install(monkeypatch, scene)
    return scene


def test_the_panel_opens_in_maya_and_lists_its_materials(maya, qtbot):
    from verdigris.plugins.common.panel import make_panel

    panel = make_panel(open_scene(maya, "stack.ma"))
    qtbot.addWidget(panel)
    panel.show()
    panel.model.refresh_materials()
    assert [each.name for each in panel.model.materials][:2] == ["Standard_Surface1", "Plate"]
    panel.shutdown()


def test_the_panel_opens_in_houdini_and_says_that_there_is_no_material(monkeypatch, qtbot):
    from verdigris.plugins.common.panel import make_panel

    fake_houdini.install(monkeypatch, fake_houdini.Scene())
    adapter = importlib.import_module("verdigris.plugins.houdini.adapter")
    panel = make_panel(adapter.HoudiniHost())
    qtbot.addWidget(panel)
    panel.show()
    panel.model.refresh_materials()
    assert panel.model.materials == ()
    panel.shutdown()


def test_without_the_panels_packages_the_remedy_is_told(monkeypatch):
    from verdigris.core.errors import HostError
    from verdigris.plugins.common.panel import make_panel

    monkeypatch.setitem(sys.modules, "verdigris.ui.panel", None)
    with pytest.raises(HostError, match=r"build the plug-in's tree again with packaging/stage\.py"):
        make_panel(None)


def test_weights_painted_in_maya_steer_where_a_bake_draws(maya, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")
    host = open_scene(maya, "stack.ma")
    maya.members["Standard_Surface1SG"] = [SHAPE]
    material = host.materials()[0]
    host.start_painting(SHAPE)
    colours = maya.nodes[SHAPE]["attributes"]["mesh"]["colours"]["verdigris_weights"]
    # the triangle is the right half of the plate's uv; the quad on the left is left out
    colours.update(dict.fromkeys(range(4), (0.0,) * 3))
    colours.update(dict.fromkeys(range(4, 7), (4.0,) * 3))
    mesh = host.mesh(SHAPE, material)
    (tile,) = weight_maps(mesh.uv, mesh.weights, MapSettings(size=16, dilation=0)).tiles.values()
    assert tile.weights[2, 13] == 4 and tile.weights[2, 2] == 0

    told = say.SetImportance(16, 16, tile.weights.astype("<f4").tobytes())
    document = host.document(material)
    loaded = parse_document(document.text, document.search, document.name)
    teacher = Teacher(loaded, loaded.require_material(document.material))
    layout = LatentLayout(16, 16)
    plain, painted = (
        DrawnSamples([teacher], layout, 0, DrawSettings(pairs=1, coarse_share=0.0), weights).draw(
            0, 4096
        )["uv"][:, 0]
        % 1
        for weights in (None, told.weights())
    )
    halves = slice(0, 0.4), slice(0.6, 1)
    shares = [
        [float(((u >= part.start) & (u < part.stop)).mean()) for part in halves]
        for u in (plain, painted)
    ]
    assert abs(shares[0][0] - 0.4) < 0.05 and abs(shares[0][1] - 0.4) < 0.05
    assert shares[1][0] < 0.01 and shares[1][1] > 0.6
