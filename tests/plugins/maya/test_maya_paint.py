"""Painting in Maya: the artist sees the weights, and the scene keeps its materials."""

import numpy as np
import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import BRUSH_WEIGHTS

from ..hosts import by_name
from .scenes import BY_FACE, DATA, QUAD, SHAPE, TRIANGLE, assigned, paint_colours


def display_of(maya):
    facts = maya.nodes[SHAPE]["attributes"]
    return facts["displayColors"], facts["displayColorChannel"]


def test_the_brush_is_armed_and_a_plain_shader_displays_the_weights(painting, maya):
    painting.start_painting(SHAPE)
    assert maya.tool == "artAttrColorPerVertexContext" and maya.selection == [SHAPE]
    assert maya.brush == {"color": (0.5, 0.5, 0.5), "operation": "absolute", "opacity": 1.0}
    ((engine, members),) = assigned(maya).items()
    assert members == [SHAPE] and display_of(maya) == (True, "Ambient+Diffuse")
    shader = maya.connections[f"{engine}.surfaceShader"].partition(".")[0]
    assert maya.nodes[shader]["type"] == "lambert"
    # the normal weight is a dark grey, and brighter places matter more
    colours = maya.nodes[SHAPE]["attributes"]["mesh"]["colours"]["verdigris_weights"]
    assert set(colours.values()) == {(0.125, 0.125, 0.125)}


@pytest.mark.parametrize("weight", BRUSH_WEIGHTS)
def test_each_weight_of_the_brush_comes_back_in_full(painting, maya, weight):
    painting.start_painting(SHAPE)
    assert painting.set_brush_weight(weight)
    (color, *_) = maya.brush["color"]
    assert 0 <= color <= 1
    colours = maya.nodes[SHAPE]["attributes"]["mesh"]["colours"]["verdigris_weights"]
    colours.update(dict.fromkeys(range(4), maya.brush["color"]))
    weights = painting.mesh(SHAPE).weights
    assert weights.tolist() == [[weight] * 3, [weight] * 3, [1, 1, 1]]


def test_starting_is_one_undo_step_and_so_is_stopping(painting, maya):
    before = maya.state()
    painting.start_painting(SHAPE)
    assert len(maya.undo_stack) == 1
    painted = maya.state()
    painting.stop_painting()
    assert len(maya.undo_stack) == 2
    maya.undo()
    assert maya.state() == painted
    maya.undo()
    assert maya.state() == before


def test_stopping_assigns_the_former_materials_by_face(painting, maya):
    nodes, connections = set(maya.nodes), dict(maya.connections)
    maya.nodes[SHAPE]["attributes"].update(displayColors=False, displayColorChannel="None")
    painting.start_painting(SHAPE)
    paint_colours(maya, SHAPE, (0, 1), 8.0)
    painting.stop_painting()
    assert assigned(maya) == BY_FACE and maya.tool == "selectSuperContext"
    assert (set(maya.nodes), maya.connections) == (nodes, connections)
    assert display_of(maya) == (False, "None")
    assert painting.mesh(SHAPE).weights.max() == 8
    maya.idle()
    assert maya.jobs == {}


def test_leaving_the_tool_assigns_the_former_materials(painting, maya):
    painting.start_painting(SHAPE)
    maya.idle()
    assert assigned(maya) != BY_FACE
    maya.choose_tool("moveSuperContext")
    maya.idle()
    assert assigned(maya) == BY_FACE and maya.tool == "moveSuperContext"
    assert maya.jobs == {}


def test_the_scene_is_never_saved_with_the_plain_shader(painting, maya):
    painting.start_painting(SHAPE)
    painting.save_scene()
    _, nodes, _, members = maya.saved[0]
    assert {engine: names for engine, names in members.items() if names} == BY_FACE
    assert not any("verdigrisWeights" in name for name in nodes)
    # the brush is still in use
    assert assigned(maya) != BY_FACE and display_of(maya)[0] and not maya.is_modified
    painting.stop_painting()
    assert assigned(maya) == BY_FACE


def test_an_export_never_has_the_plain_shader(painting, maya):
    painting.start_painting(SHAPE)
    maya.report("kBeforeExport")
    assert assigned(maya) == BY_FACE
    maya.report("kAfterExport")
    assert assigned(maya) != BY_FACE


def test_undoing_the_end_does_not_put_the_plain_shader_into_a_file(painting, maya):
    painting.start_painting(SHAPE)
    painting.stop_painting()
    maya.undo()
    assert assigned(maya) != BY_FACE
    painting.save_scene()
    assert {e: m for e, m in maya.saved[0][3].items() if m} == BY_FACE == assigned(maya)


def test_a_scene_from_a_crash_gets_its_materials_back(painting, maya):
    painting.start_painting(SHAPE)
    maya.files["crash.ma"] = (*maya.state(), dict(maya.uuids))
    painting.stop_painting()
    from maya import cmds

    cmds.file("crash.ma", open=True, force=True)
    assert assigned(maya) == BY_FACE
    assert not any("verdigrisWeights" in name for name in maya.nodes)


def test_the_materials_are_known_while_the_weights_are_displayed(painting, maya):
    first, second = (by_name(painting, name) for name in ("Standard_Surface1", "standardSurface2"))
    listed = painting.materials()
    painting.start_painting(SHAPE)
    assert painting.materials() == listed
    assert painting.meshes(first) == painting.meshes(second) == (SHAPE,)
    assert len(painting.mesh(SHAPE, first).uv) == 2 and len(painting.mesh(SHAPE, second).uv) == 1
    assert set(painting.selected_materials()) == {first, second}


def test_a_renamed_mesh_and_new_faces_get_their_materials(painting, maya):
    painting.start_painting(SHAPE)
    for kept in (maya.nodes, maya.uuids):
        kept["|dish"] = kept.pop("|plate")
        kept["|dish|dishShape"] = kept.pop(SHAPE)
    data = maya.nodes["|dish|dishShape"]["attributes"]["mesh"]
    data["counts"] = [4, 3, 3]
    maya.members = {
        engine: ["|dish|dishShape"] for engine, members in maya.members.items() if members
    }
    painting.stop_painting()
    assert assigned(maya) == {
        "Standard_Surface1SG": ["|dish.f[0:0]", "|dish.f[2:2]"],
        "standardSurface2SG": ["|dish.f[1:1]"],
    }


def test_a_deleted_mesh_or_material_does_not_stop_the_rest(painting, maya):
    painting.start_painting(SHAPE)
    maya.add("initialShadingGroup", "shadingEngine")
    del maya.nodes["standardSurface2SG"], maya.members["standardSurface2SG"]
    painting.stop_painting()
    assert assigned(maya) == {"Standard_Surface1SG": [QUAD], "initialShadingGroup": [TRIANGLE]}
    painting.start_painting(SHAPE)
    del maya.nodes[SHAPE], maya.uuids[SHAPE]
    maya.members.clear()
    painting.stop_painting()
    assert not any("verdigrisWeights" in name for name in maya.nodes)


def test_painting_another_mesh_puts_the_first_one_back(painting, maya):
    import fake_maya

    maya.add("|other", "transform")
    other = maya.add("|other|otherShape", "mesh", mesh=fake_maya.plate())
    painting.start_painting(SHAPE)
    painting.start_painting(other)
    assert {e: m for e, m in assigned(maya).items() if e in BY_FACE} == BY_FACE
    painting.stop_painting()
    # it had no material
    assert assigned(maya) == BY_FACE


def test_painting_twice_keeps_the_weights(painting, maya):
    painting.start_painting(SHAPE)
    paint_colours(maya, SHAPE, (0, 1, 2), 8.0)
    painting.start_painting(SHAPE)
    assert (painting.mesh(SHAPE).weights == 8).any()
    painting.stop_painting()
    assert assigned(maya) == BY_FACE


def test_a_colour_set_without_a_scale_is_read_as_it_is_and_not_painted(painting, maya):
    data = maya.nodes[SHAPE]["attributes"]["mesh"]
    data["colours"]["verdigris_weights"] = dict.fromkeys(range(4), (0.25, 0.25, 0.25))
    np.testing.assert_array_equal(painting.mesh(SHAPE).weights[0], [0.25] * 3)
    before = maya.state()
    with pytest.raises(HostError, match=r"holds weights of 0 to 1, .*: rename it"):
        painting.start_painting(SHAPE)
    assert maya.state() == before and maya.undo_stack == []


def test_a_failure_while_starting_changes_nothing(painting, maya):
    before = maya.state()
    maya.refuses = {"connectAttr"}
    with pytest.raises(HostError, match="Maya reports: connectAttr failed"):
        painting.start_painting(SHAPE)
    assert maya.state() == before and maya.tool == "selectSuperContext"


def test_a_brush_that_does_not_start_leaves_the_materials(painting, maya):
    maya.refuses = {"brush"}
    with pytest.raises(HostError, match="cannot start its brush: no tool: paint in the panel"):
        painting.start_painting(SHAPE)
    assert assigned(maya) == BY_FACE


def test_a_weight_needs_a_brush_and_a_range(painting, maya):
    assert not painting.set_brush_weight(2.0)
    painting.start_painting(SHAPE)
    with pytest.raises(HostError, match="the weight 9 is outside of 0 to 8"):
        painting.set_brush_weight(9.0)


def test_the_plain_shader_is_not_baked(painting, maya):
    painting.open_scene(DATA / "stack.ma")
    assert "verdigris" not in " ".join(each.name for each in painting.materials())


def test_colour_sets_are_listed_without_the_geometry(painting, maya):
    maya.require(SHAPE)["attributes"]["mesh"]["colours"] = {"weathering": {}}
    maya.add("createColorSet1", "createColorSet", colorSetName="verdigris_weights")
    maya.connections[f"{SHAPE}.inMesh"] = "createColorSet1.outputGeometry"
    maya.evaluated.clear()
    assert painting.weight_sets(SHAPE) == ("weathering", "verdigris_weights")
    assert maya.evaluated == []
