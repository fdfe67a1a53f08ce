"""The brush in Houdini."""

import importlib

import pytest

from verdigris.core.base.errors import HostError

from .scenes import LIBRARY, PLATE

BRUSH = f"{PLATE}/verdigris_paint"


def actions():
    return importlib.import_module("verdigris.plugins.houdini.actions")


def test_the_viewer_enters_the_state_of_the_brush_and_not_that_of_the_object(harness):
    assert harness.houdini.viewer_pwd == "/obj"
    harness.host.start_painting(PLATE)
    assert harness.houdini.viewer_pwd == PLATE
    assert harness.houdini.viewer_states == [BRUSH]


def test_a_first_stroke_changes_weights_of_one(harness):
    harness.host.start_painting(PLATE, "wear")
    parms = harness.houdini.nodes[BRUSH]["parms"]
    # 1 is Float in the menus of the node
    assert (parms["attribname1"], parms["attribtype1"]) == ("wear", 1)
    assert (parms["stroke_attrib"], parms["stroke_attribtype"]) == ("wear", 1)
    assert parms["stroke_float"] == parms["fgfloat"] == 4 and parms["bgfloat"] == 0


def test_a_brush_without_a_parameter_of_strokes_still_paints(harness, monkeypatch):
    import fake_houdini

    monkeypatch.setitem(fake_houdini.PARMS, "attribpaint", ("attribname1", "attribtype1"))
    harness.host.start_painting(PLATE)
    assert harness.houdini.viewer_states == [BRUSH]


def test_the_viewport_shows_the_weights_while_painting(harness):
    for _ in range(2):
        harness.host.start_painting(PLATE)
    (shown,) = harness.houdini.nodes[BRUSH]["visualizers"]
    assert (shown["attrib"], shown["class"], shown["active"]) == (
        "verdigris_weights",
        "point",
        True,
    )
    # colours do not clamp at 1: 4 differs from 1
    assert shown["colortype"] == "attribramped"
    assert shown["minscalar"] == 0 and shown["maxscalar"] > 4


def test_painting_twice_adds_one_brush_and_is_one_undo_step(harness):
    before = harness.snapshot()
    harness.host.start_painting(PLATE)
    assert [name for name, _ in harness.houdini.undo_stack] == ["Verdigris weights"]
    harness.undo()
    assert harness.snapshot() == before
    for _ in range(2):
        harness.host.start_painting(PLATE)
    kinds = [facts["type"] for facts in harness.houdini.nodes.values()]
    assert kinds.count("attribpaint") == kinds.count("attribcreate") == 1
    assert harness.houdini.viewer_states == [BRUSH] * 3


def test_stop_painting_hides_the_colours_and_keeps_the_weights(harness):
    harness.host.start_painting(PLATE)
    actions().stop_painting()
    assert harness.houdini.dialogs == []
    assert harness.houdini.viewer_states[-1] == "view"
    assert harness.houdini.viewer_pwd == "/obj"
    assert not harness.houdini.nodes[BRUSH]["visualizers"][0]["active"]
    assert (harness.host.mesh(PLATE, harness.first).weights == 1).all()
    actions().stop_painting()
    assert "the viewer shows no brush" in harness.houdini.dialogs[0]


def test_painting_on_a_stage_or_without_a_window_is_refused_with_the_remedy(harness):
    with pytest.raises(HostError, match="paint the attribute 'verdigris_weights' on the SOP"):
        harness.host.start_painting(f"{LIBRARY}:/plate")
    harness.houdini.window = False
    with pytest.raises(HostError, match="no window for the brush"):
        harness.host.start_painting(PLATE)
