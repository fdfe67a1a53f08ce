"""The baked look of a material in the viewport, and results in a scene that is opened again."""

import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import BakedResult

from ..hosts import by_name, flattened
from .scenes import BY_FACE, QUAD, SHAPE, TRIANGLE, assigned

LOOK = "Standard_Surface1_verdigrisSG"


@pytest.fixture
def baked(painting, maya, tmp_path):
    """The first of two materials has a baked look."""
    first = by_name(painting, "Standard_Surface1")
    painting.attach(first, BakedResult(tmp_path / "a.vdg", flattened(tmp_path)))
    maya.undo_stack.clear()
    maya.selection = [SHAPE]
    return first


def test_the_look_is_assigned_to_the_faces_of_its_material_and_back(painting, maya, baked):
    before = maya.state()
    said = painting.switch_look([baked])
    assert said == "Baked looks are shown: Standard_Surface1"
    assert assigned(maya) == {LOOK: [QUAD], "standardSurface2SG": [TRIANGLE]}
    # the material is known by its mesh
    assert painting.meshes(baked) == (SHAPE,) and baked in painting.selected_materials()
    assert len(painting.mesh(SHAPE, baked).uv) == 2
    assert painting.switch_look([baked]).startswith("The materials are shown again")
    assert assigned(maya) == BY_FACE
    assert len(maya.undo_stack) == 2
    maya.undo()
    maya.undo()
    assert maya.state() == before


def test_the_button_switches_the_selected_material(painting, maya, baked):
    from verdigris.plugins.maya import actions

    actions.switch_look()
    actions.switch_look()
    assert maya.dialogs == [
        "Baked looks are shown: Standard_Surface1",
        "The materials are shown again: Standard_Surface1",
    ]
    maya.selection = []
    actions.switch_look()
    assert maya.dialogs[-1].startswith("no material is selected")


def test_a_material_without_a_look_is_refused_with_the_remedy(painting, maya):
    before = maya.state()
    with pytest.raises(HostError, match="standardSurface2: no baked look for a mesh: bake with"):
        painting.switch_look([by_name(painting, "standardSurface2")])
    assert maya.state() == before and maya.undo_stack == []


def test_painting_on_a_look_comes_back_to_the_look(painting, maya, baked):
    painting.switch_look([baked])
    shown = assigned(maya)
    painting.start_painting(SHAPE)
    assert painting.meshes(baked) == (SHAPE,)
    painting.stop_painting()
    assert assigned(maya) == shown
    painting.start_painting(SHAPE)
    # switching ends painting
    painting.switch_look([baked])
    assert assigned(maya) == BY_FACE and maya.tool == "selectSuperContext"


def test_a_look_survives_saving_and_opening(painting, maya, baked, tmp_path):
    from maya import cmds

    maya.path = (tmp_path / "shot.ma").as_posix()
    painting.switch_look([baked])
    painting.save_scene()
    cmds.file(newFile=True, force=True)
    assert painting.materials() == ()
    cmds.file(maya_path := (tmp_path / "shot.ma").as_posix(), open=True, force=True)
    assert maya.path == maya_path
    assert assigned(maya)[LOOK] == [QUAD]
    painting.switch_look([baked])
    assert assigned(maya) == BY_FACE


def test_results_are_found_again_when_the_scene_is_opened(painting, maya, tmp_path):
    from maya import cmds

    path = (tmp_path / "shot.ma").as_posix()
    maya.path = path
    results = {}
    for material in painting.materials():
        results[material] = tmp_path / f"{material.name}.vdg"
        painting.attach(material, BakedResult(results[material]))
    assert {each.source for each in results} == {
        *("LookdevX material", "LookdevX document", "Maya shader")
    }
    painting.save_scene()
    cmds.file(newFile=True, force=True)
    cmds.file(path, open=True, force=True)
    assert {each: painting.attached(each) for each in painting.materials()} == results
