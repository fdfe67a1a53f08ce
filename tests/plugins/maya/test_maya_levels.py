"""The rungs of a ladder as display layers and materials of Maya."""

from dataclasses import replace

import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import (
    BakedResult,
    LadderLook,
    RungLook,
    ShaderLook,
    ShaderTexture,
    ShowsRungs,
)

from ..hosts import by_name, flattened
from .scenes import BY_FACE, SHAPE, assigned


@pytest.fixture
def ladder(tmp_path):
    return LadderLook(
        "stone",
        (
            RungLook("neural", "Neural material"),
            RungLook("pbr", "glTF textures", 512, flattened(tmp_path)),
            RungLook("unlit", "One unlit texture", 64, {}, tmp_path / "unlit_shown.png", "st", None,
                     True),
            RungLook("vertex", "Vertex colours", None, {}, None, "", tmp_path / "v.npz"),
        ),
        None,
        BakedResult(tmp_path / "stone.vdg"),
    )  # fmt: skip


LAYERS = ("LOD0_neural", "LOD1_pbr", "LOD2_unlit")


def test_each_rung_is_a_layer_and_copies_show_its_material_on_the_same_faces(
    painting, maya, ladder, tmp_path
):
    first = by_name(painting, "Standard_Surface1")
    assert isinstance(painting, ShowsRungs)
    known = painting.materials()
    said = painting.attach_rungs(first, ladder)
    names = [f"Standard_Surface1_{each}" for each in LAYERS]
    assert said == f"Display layers: {', '.join(names)}"
    layers = [maya.nodes[name]["attributes"] for name in names]
    assert [each["members"] for each in layers] == [
        ["|plate"], ["|plate_pbr"], ["|plate_unlit"]
    ]  # fmt: skip
    assert [each["visibility"] for each in layers] == [True, False, False]
    assert layers[1]["verdigrisBelowPixels"] == "512"
    # the other face of a copy keeps its material, and the mesh has what it had
    shown = assigned(maya)
    assert shown.pop("Standard_Surface1_verdigrisSG") == ["|plate_pbr.f[0:0]"]
    assert shown.pop("Standard_Surface1_unlit_verdigrisSG") == ["|plate_unlit.f[0:0]"]
    assert shown["Standard_Surface1SG"] == BY_FACE["Standard_Surface1SG"]
    assert "|plate_pbr.f[1:1]" in shown["standardSurface2SG"]
    shader = "Standard_Surface1_unlit_verdigris"
    file = maya.connections[f"{shader}.outColor"].partition(".")[0]
    assert maya.nodes[file]["attributes"]["fileTextureName"] == (
        (tmp_path / "unlit_shown.png").as_posix()
    )
    assert maya.connections[f"{shader}.outTransparency"] == f"{file}.outTransparency"
    assert painting.attached(first) == tmp_path / "stone.vdg"
    # copies are no meshes to bake on, and shaders of rungs no materials
    assert painting.meshes(first) == (SHAPE,)
    assert painting.materials() == known


def test_attaching_is_one_undo_step_and_again_replaces_what_was_made(painting, maya, ladder):
    first, before = by_name(painting, "Standard_Surface1"), maya.state()
    painting.attach_rungs(first, ladder)
    assert len(maya.undo_stack) == 1
    layers = [each for each in maya.nodes if "_LOD" in each]
    painting.attach_rungs(first, replace(ladder, rungs=ladder.rungs[:2]))
    assert [each for each in maya.nodes if "_LOD" in each] == layers[:2]
    assert "|plate_unlit" not in maya.nodes and "|plate_pbr" in maya.nodes
    maya.undo()
    maya.undo()
    assert maya.state() == before


def test_what_cannot_be_attached_leaves_the_scene_unchanged(painting, maya, ladder):
    before = maya.state()
    maya.refuses = {"createDisplayLayer"}
    with pytest.raises(HostError, match="levels of detail: Maya reports: createDisplayLayer"):
        painting.attach_rungs(by_name(painting, "Standard_Surface1"), ladder)
    assert maya.state() == before
    maya.refuses = set()
    bare = next(each for each in painting.materials() if not painting.meshes(each))
    with pytest.raises(HostError, match="no mesh of Maya's has it: assign it to one"):
        painting.attach_rungs(bare, ladder)
    assert maya.state() == before


def standard_surface(folder, category="standard_surface"):
    return ShaderLook(
        category,
        {"specular_IOR": 1.3, "coat": 0.4, "coat_color": (0.2, 0.5, 0.8), "thin_walled": True,
         "of_another_version": 1.0},
        {
            "base_color": ShaderTexture(folder / "c.png", True, False, 0.0, 2.0),
            "sheen": ShaderTexture(folder / "s.png", False, False),
            "normal": ShaderTexture(folder / "n.png", False, True),
            "tangent": ShaderTexture(folder / "t.png", False, True),
        },
    )  # fmt: skip


def test_a_surface_shader_becomes_a_node_of_maya_with_its_numbers_and_textures(
    painting, maya, ladder, tmp_path
):
    first = by_name(painting, "Standard_Surface1")
    rung = RungLook("surface", "Textures", shader=standard_surface(tmp_path))
    ladder = replace(ladder, rungs=(rung,))
    before = maya.state()
    painting.attach_rungs(first, ladder)
    shader = "Standard_Surface1_surface_verdigris"
    node = maya.nodes[shader]
    assert node["type"] == "standardSurface"
    found = node["attributes"]
    assert (found["specularIOR"], found["coat"], found["thinWalled"]) == (1.3, 0.4, True)
    assert found["coatColor"] == (0.2, 0.5, 0.8) and "ofAnotherVersion" not in found
    fed = {
        port.partition(".")[2]: source
        for port, source in maya.connections.items()
        if port.startswith(f"{shader}.")
    }
    assert set(fed) == {"baseColor", "sheen", "normalCamera"}
    colour = maya.nodes[fed["baseColor"].partition(".")[0]]["attributes"]
    assert colour["fileTextureName"] == (tmp_path / "c.png").as_posix()
    assert colour["colorSpace"] == "sRGB" and colour["colorGain"] == (2.0, 2.0, 2.0)
    number = maya.nodes[fed["sheen"].partition(".")[0]]["attributes"]
    assert fed["sheen"].endswith(".outColorR") and number["colorSpace"] == "Raw"
    bump = fed["normalCamera"].partition(".")[0]
    assert maya.nodes[bump]["attributes"]["bumpInterp"] == 1
    assert assigned(maya)[f"{shader}SG"] == ["|plate_surface.f[0:0]"]
    # nodes are marked, and replaced
    count = len(maya.nodes)
    painting.attach_rungs(first, ladder)
    assert len(maya.nodes) == count
    maya.undo()
    maya.undo()
    assert maya.state() == before


def test_a_surface_shader_without_a_node_of_maya_is_named(painting, maya, ladder, tmp_path):
    first = by_name(painting, "Standard_Surface1")
    rung = RungLook("surface", "Textures", shader=standard_surface(tmp_path, "open_pbr_surface"))
    said = painting.attach_rungs(first, replace(ladder, rungs=(*ladder.rungs[:2], rung)))
    assert "open_pbr_surface" in said and "surface_verdigris" not in str(list(maya.nodes))
