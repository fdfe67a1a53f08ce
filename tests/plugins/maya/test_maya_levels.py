"""The rungs of a ladder as display layers and materials of Maya."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import (
    BakedResult,
    LadderLook,
    RungLook,
    ShaderLook,
    ShaderTexture,
    ShowsRungs,
    StoredLight,
)

from ..hosts import by_name
from .scenes import ACESCG_TO_REC_709, BY_FACE, SHAPE, assigned


@pytest.fixture
def ladder(tmp_path):
    light = StoredLight({}, (0, 1, 0), uv_set="st", shown=tmp_path / "unlit_shown.png")
    position, colour = np.zeros((5, 3)), np.ones((5, 4))
    position[:, :2] = [(2, 0), (0, 1), (1, 1), (1, 0), (0.001, 0)]
    colour[:, 0] = np.arange(5)
    np.savez(tmp_path / "v.npz", position=position, colour=colour)
    return LadderLook(
        "stone",
        (
            RungLook("neural", "Neural material"),
            RungLook("pbr", "glTF textures", 512, shader=standard_surface(tmp_path)),
            RungLook("unlit", "One unlit texture", 64, light=light, has_alpha=True),
            RungLook("vertex", "Vertex colours", vertices=tmp_path / "v.npz"),
        ),
        None,
        BakedResult(tmp_path / "stone.vdg"),
    )  # fmt: skip


LAYERS = ("LOD0_neural", "LOD1_pbr", "LOD2_unlit", "LOD3_vertex")


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
        ["|plate"], ["|plate_pbr"], ["|plate_unlit"], ["|plate_vertex"]
    ]  # fmt: skip
    assert [each["visibility"] for each in layers] == [True, False, False, False]
    assert layers[1]["verdigrisBelowPixels"] == "512"
    # the other face of a copy keeps its material, and the mesh has what it had
    shown = assigned(maya)
    assert shown.pop("Standard_Surface1_pbr_verdigrisSG") == ["|plate_pbr.f[0:0]"]
    assert shown.pop("Standard_Surface1_unlit_verdigrisSG") == ["|plate_unlit.f[0:0]"]
    assert shown["Standard_Surface1SG"] == BY_FACE["Standard_Surface1SG"]
    assert "|plate_pbr.f[1:1]" in shown["standardSurface2SG"]
    assert maya.nodes["Standard_Surface1_pbr_verdigris"]["attributes"]["coat"] == 0.4
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


def value_of(maya, plug, texels):
    """What a plug holds, by the definitions of Maya's nodes."""
    node, _, output = plug.partition(".")
    facts = maya.nodes[node]["attributes"]

    def fed(port):
        return value_of(maya, maya.connections[f"{node}.{port}"], texels)

    kind = maya.nodes[node]["type"]
    if kind == "file":
        assert output == "outColor"
        colour = np.array(texels[facts["fileTextureName"].rpartition("/")[2]])
        return colour * maya.value(f"{node}.colorGain") + maya.value(f"{node}.colorOffset")
    if kind == "multiplyDivide":
        # 1 multiplies
        assert maya.value(f"{node}.operation") == 1
        return fed("input1") * fed("input2")
    assert kind == "reverse"
    return 1 - fed("input")


def test_detail_is_its_square_times_the_colours_on_another_uv_set(painting, maya, ladder, tmp_path):
    maya.nodes[SHAPE]["attributes"]["mesh"]["uv_sets"] = {"map1": 0, "spare": 1, "light": 3}
    files = {use: tmp_path / f"{use}.png" for use in ("colour", "detail", "opacity")}
    light = StoredLight(
        files, (0, 1, 0), None, "light", "st", 4.0, tmp_path / "colour_shown.png", 2.5
    )
    first, before = by_name(painting, "Standard_Surface1"), maya.state()
    rung = RungLook("detail", "Detail", light=light, has_alpha=True)
    painting.attach_rungs(first, replace(ladder, rungs=(rung,)))
    shader = "Standard_Surface1_detail_verdigris"
    texels = {
        "colour_shown.png": (0.5, 0.25, 1),
        "detail.png": (0.6,) * 3,
        "opacity.png": (0.7,) * 3,
    }
    shown = value_of(maya, maya.connections[f"{shader}.outColor"], texels)
    assert shown == pytest.approx(4 * 0.6**2 * 2.5 * np.array([0.5, 0.25, 1]))
    holes = value_of(maya, maya.connections[f"{shader}.outTransparency"], texels)
    assert holes == pytest.approx(0.3)
    spaces = {
        facts["attributes"]["fileTextureName"].rpartition("/")[2]: facts["attributes"]["colorSpace"]
        for facts in maya.nodes.values()
        if facts["type"] == "file"
    }
    assert spaces == {"colour_shown.png": "sRGB", "detail.png": "Raw", "opacity.png": "Raw"}
    # colours alone have a set that is not the first
    [chooser] = [name for name, facts in maya.nodes.items() if facts["type"] == "uvChooser"]
    assert maya.connections[f"{chooser}.uvSets[0]"] == (
        "|plate_detail|plateShape.uvSet[3].uvSetName"
    )
    placement = next(to for to, source in maya.connections.items() if source == f"{chooser}.outUv")
    file = next(
        to for to, source in maya.connections.items()
        if source == f"{placement.partition('.')[0]}.outUV"
    )  # fmt: skip
    assert file == "Standard_Surface1_detail_light.uvCoord"
    # the chooser goes with the rest
    painting.attach_rungs(first, replace(ladder, rungs=ladder.rungs[:1]))
    assert chooser not in maya.nodes
    maya.undo()
    maya.undo()
    assert maya.state() == before


def test_light_of_vertices_is_a_colour_set_of_the_copy_without_lighting(painting, maya, ladder):
    first = by_name(painting, "Standard_Surface1")
    maya.rendering_space = "scene-linear Rec.709-sRGB"
    own = maya.nodes[SHAPE]["attributes"]
    painting.attach_rungs(first, replace(ladder, rungs=ladder.rungs[3:]))
    copied = maya.nodes["|plate_vertex|plateShape"]["attributes"]
    corners = copied["mesh"]["colours"]["verdigrisLight"]
    # by place: vertices are 0 0, 1 0, 1 1, 0 1 and 2 0, and the ladder has the first beside it
    by_vertex = {v: corners[corner] for corner, v in enumerate(copied["mesh"]["vertices"])}
    assert [by_vertex[vertex][0] for vertex in range(5)] == [4, 3, 2, 1, 0]
    assert (copied["displayColors"], copied["displayColorChannel"]) == (True, "None")
    assert assigned(maya)["Standard_Surface1_vertex_verdigrisSG"] == ["|plate_vertex.f[0:0]"]
    # the artist's mesh has what it had
    assert "verdigrisLight" not in own["mesh"]["colours"] and not own["displayColors"]


def test_light_of_vertices_is_in_the_rendering_space(painting, maya, ladder):
    first = by_name(painting, "Standard_Surface1")
    painting.attach_rungs(first, replace(ladder, rungs=ladder.rungs[3:]))
    copied = maya.nodes["|plate_vertex|plateShape"]["attributes"]["mesh"]
    corners = copied["colours"]["verdigrisLight"]
    by_vertex = {v: corners[corner] for corner, v in enumerate(copied["vertices"])}
    for vertex in range(5):
        light = ACESCG_TO_REC_709 @ by_vertex[vertex][:3]
        assert light == pytest.approx([4 - vertex, 1, 1], abs=1e-4)


def test_without_a_window_what_fails_is_undone_too(painting, maya, ladder):
    before, maya.has_undo = maya.state(), False
    maya.refuses = {"createDisplayLayer"}
    with pytest.raises(HostError, match="Maya reports: createDisplayLayer"):
        painting.attach_rungs(by_name(painting, "Standard_Surface1"), ladder)
    assert maya.state() == before and not maya.has_undo


def test_steps_of_the_artist_stay_while_a_program_has_turned_undo_off(painting, maya, ladder):
    first = by_name(painting, "Standard_Surface1")
    painting.attach_rungs(first, ladder)
    steps, maya.has_undo = list(maya.undo_stack), False
    painting.attach_rungs(first, replace(ladder, rungs=ladder.rungs[:2]))
    assert maya.undo_stack[: len(steps)] == steps and not maya.has_undo


def test_what_fails_before_a_change_does_not_undo_the_ladder_before_it(painting, maya, ladder):
    first = by_name(painting, "Standard_Surface1")
    painting.attach_rungs(first, replace(ladder, result=None))
    before = maya.state()
    maya.refuses = {"delete"}
    with pytest.raises(HostError, match="Maya reports: delete"):
        painting.attach_rungs(first, replace(ladder, result=None))
    assert maya.state() == before


def test_what_an_artist_puts_under_a_copy_outlives_it(painting, maya, ladder):
    first = by_name(painting, "Standard_Surface1")
    painting.attach_rungs(first, ladder)
    maya.add("|plate_pbr|lamp", "transform")
    maya.add("|plate_pbr|lamp|lampShape", "mesh", mesh={})
    maya.add("|plate_pbr|follow", "pointConstraint")
    painting.attach_rungs(first, ladder)
    assert {"|plate_pbr", "|lamp", "|lamp|lampShape"} <= set(maya.nodes)
    assert not {"|plate_pbr|lamp", "|follow", "|plate_pbr|follow"} & set(maya.nodes)


def test_a_mesh_that_the_artist_has_moved_to_another_layer_stays_there(painting, maya, ladder):
    first = by_name(painting, "Standard_Surface1")
    maya.add("geometry", "displayLayer", visibility=True, members=["|plate"])
    painting.attach_rungs(first, ladder)
    maya.nodes["Standard_Surface1_LOD0_neural"]["attributes"]["members"] = []
    maya.add("props", "displayLayer", visibility=True, members=["|plate"])
    painting.attach_rungs(first, replace(ladder, rungs=ladder.rungs[1:]))
    members = {each: maya.nodes[each]["attributes"]["members"] for each in ("geometry", "props")}
    assert members == {"geometry": [], "props": ["|plate"]}


def test_meshes_return_to_the_display_layers_that_they_were_in(painting, maya, ladder):
    first = by_name(painting, "Standard_Surface1")
    maya.add("geometry", "displayLayer", visibility=True, members=["|plate"])
    own = maya.nodes["geometry"]["attributes"]["members"]
    for _ in range(2):
        painting.attach_rungs(first, ladder)
        neural = maya.nodes["Standard_Surface1_LOD0_neural"]["attributes"]
        assert neural["members"] == ["|plate"]
        assert maya.nodes["geometry"]["attributes"]["members"] == []
    # a ladder without the mesh itself leaves it where it was
    painting.attach_rungs(first, replace(ladder, rungs=ladder.rungs[1:]))
    assert maya.nodes["geometry"]["attributes"]["members"] == own == ["|plate"]


def test_files_have_the_names_of_the_studios_colour_spaces(painting, maya, ladder, tmp_path):
    maya.input_spaces = ["ACES - ACEScg", "Utility - Raw", "Utility - sRGB - Texture"]
    rung = RungLook("surface", "Textures", shader=standard_surface(tmp_path))
    first = by_name(painting, "Standard_Surface1")
    painting.attach_rungs(first, replace(ladder, rungs=(rung,)))
    spaces = {
        facts["attributes"]["fileTextureName"].rpartition("/")[2]: facts["attributes"]["colorSpace"]
        for facts in maya.nodes.values()
        if facts["type"] == "file"
    }
    assert spaces == {
        "c.png": "Utility - sRGB - Texture", "s.png": "Utility - Raw", "n.png": "Utility - Raw"
    }  # fmt: skip


def test_vertices_that_cannot_be_read_leave_the_scene_unchanged(painting, maya, ladder, tmp_path):
    (tmp_path / "v.npz").write_bytes(b"")
    before = maya.state()
    with pytest.raises(HostError, match=r"v.npz: cannot be read .* bake the ladder again"):
        painting.attach_rungs(by_name(painting, "Standard_Surface1"), ladder)
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
    # the rendering space is ACEScg
    coat = ACESCG_TO_REC_709 @ found["coatColor"]
    assert coat == pytest.approx([0.2, 0.5, 0.8], abs=1e-5) and "ofAnotherVersion" not in found
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


def test_openpbr_becomes_a_node_of_the_maya_that_has_one(painting, maya, ladder, tmp_path):
    """The names of its attributes: Autodesk/maya-usd, lib/usd/translators/shading/shadingTokens.h
    and the table of mtlxOpenPBRSurfaceWriter.cpp."""
    look = ShaderLook(
        "open_pbr_surface",
        {"specular_ior": 1.4, "coat_ior": 1.7, "base_metalness": 0.5, "thin_film_ior": 1.2,
         "emission_luminance": 3.0, "coat_color": (0.2, 0.5, 0.8), "of_another_version": 1.0},
        {
            "base_color": ShaderTexture(tmp_path / "c.png", True, False),
            "geometry_opacity": ShaderTexture(tmp_path / "o.png", False, False),
            "geometry_normal": ShaderTexture(tmp_path / "n.png", False, True),
            "geometry_tangent": ShaderTexture(tmp_path / "t.png", False, True),
        },
    )  # fmt: skip
    first = by_name(painting, "Standard_Surface1")
    rung = RungLook("surface", "Textures", shader=look)
    said = painting.attach_rungs(first, replace(ladder, rungs=(rung,)))
    shader = "Standard_Surface1_surface_verdigris"
    assert maya.nodes[shader]["type"] == "openPBRSurface" and "surface.mtlx" not in said
    found = maya.nodes[shader]["attributes"]
    numbers = ("specularIOR", "coatIOR", "baseMetalness", "thinFilmIOR", "emissionLuminance")
    assert [found[name] for name in numbers] == [1.4, 1.7, 0.5, 1.2, 3.0]
    fed = {port.partition(".")[2] for port in maya.connections if port.startswith(f"{shader}.")}
    assert fed == {"baseColor", "geometryOpacity", "normalCamera"}


def test_a_surface_shader_without_a_node_of_maya_is_named(painting, maya, ladder, tmp_path):
    first = by_name(painting, "Standard_Surface1")
    # Maya before openPBRSurface
    maya.missing_types = {"openPBRSurface"}
    rung = RungLook("surface", "Textures", shader=standard_surface(tmp_path, "open_pbr_surface"))
    said = painting.attach_rungs(first, replace(ladder, rungs=(*ladder.rungs[:2], rung)))
    assert "open_pbr_surface" in said and "surface_verdigris" not in str(list(maya.nodes))
