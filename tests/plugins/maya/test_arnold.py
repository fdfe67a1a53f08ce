"""Arnold's standard surface: read from its nodes, or through Arnold's own export."""

import sys

import MaterialX as mx
import numpy as np
import pytest
from fake_maya import load_arnold

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import HostError
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.plugins.maya.arnold_document import PARAMETERS, mtlx_name

from ..hosts import by_name
from .scenes import DATA, SHAPE, open_scene

EXPORT = (DATA / "arnold_export.mtlx").read_text()


@pytest.fixture
def arnold(maya):
    host = open_scene(maya, "stack.ma")
    maya.add("gold", "aiStandardSurface")
    maya.add("goldSG", "shadingEngine")
    maya.connections["goldSG.surfaceShader"] = "gold.outColor"
    maya.members["goldSG"] = [SHAPE]
    return host


def read(host):
    found = host.document(by_name(host, "gold"))
    loaded = parse_document(found.text, found.search)
    material = loaded.require_material(found.material)
    loaded.check(material)
    return found, loaded, material


def add(maya, name, kind, **attributes):
    return maya.add(name, kind, **attributes)


def picture(maya, name, **attributes):
    file = (DATA / "plain.png").as_posix()
    return add(maya, name, "file", **{"fileTextureName": file, **attributes})


def test_the_parameters_are_those_of_materialx():
    library = mx.createDocument()
    folders, search = mx.getDefaultDataLibraryFolders(), mx.getDefaultDataSearchPath()
    mx.loadLibraries(folders, search, library)
    definition = library.getNodeDef("ND_standard_surface_surfaceshader")
    known = {port.getName(): port.getType() for port in definition.getActiveInputs()}
    ours = {mtlx_name(name): kind for name, kind in PARAMETERS.items()}
    geometry = {name: known.pop(name) for name in ("normal", "coat_normal", "tangent")}
    assert ours == known and set(geometry.values()) == {"vector3"}


def test_values_of_a_standard_surface_reach_the_teacher(arnold, maya):
    gold = maya.nodes["gold"]["attributes"]
    gold.update(base=0.5, baseColor=(0.9, 0.6, 0.2), specular=0.0, emission=2.0)
    gold.update(emissionColor=(0.0, 1.0, 0.0), opacity=(0.25, 0.25, 0.25), thinWalled=True)
    maya.rendering_space = "scene-linear Rec.709-sRGB"
    before = maya.state()
    _, loaded, material = read(arnold)
    assert maya.state() == before
    teacher = Teacher(loaded, material, open_device("software"))
    uv, straight = np.full((1, 2), 0.5, np.float32), np.float32([[0, 0, 1]])
    wanted = 0.25 * 0.5 * np.array([0.9, 0.6, 0.2]) / np.pi
    np.testing.assert_allclose(teacher.response(uv, straight, straight)[0], wanted, rtol=1e-4)
    unlit = teacher.unlit(uv, straight)[0]
    np.testing.assert_allclose(unlit, [0, 0.5, 0, 0.25], atol=1e-5)


@pytest.mark.parametrize("is_managed", [True, False])
def test_colours_are_in_the_rendering_space(arnold, maya, is_managed):
    maya.has_color_management = is_managed
    found, _, _ = read(arnold)
    assert f'colorspace="{"ACEScg" if is_managed else "lin_rec709"}"' in found.text


def test_the_shader_that_arnold_renders_replaces_that_of_the_viewport(arnold, maya):
    maya.add("plain", "standardSurface")
    maya.connections["goldSG.surfaceShader"] = "plain.outColor"
    maya.nodes["goldSG"]["attributes"]["aiSurfaceShader"] = None
    maya.connections["goldSG.aiSurfaceShader"] = "gold.outColor"
    maya.nodes["gold"]["attributes"]["baseColor"] = (0.125, 0.25, 0.5)
    found = arnold.document(by_name(arnold, "plain"))
    assert 'value="0.125, 0.25, 0.5"' in found.text


def test_textures_feed_colours_numbers_and_normals(arnold, maya):
    picture(maya, "color")
    picture(maya, "rough", colorSpace="Raw", alphaIsLuminance=True)
    picture(maya, "metal", colorSpace="Raw")
    picture(maya, "bumps", colorSpace="Raw")
    add(maya, "bumpMap", "aiNormalMap", strength=0.5)
    add(maya, "place", "place2dTexture", repeatU=4.0, repeatV=2.0, offsetU=0.25)
    maya.connections.update(
        {
            "gold.baseColor": "color.outColor",
            "color.uvCoord": "place.outUV",
            "gold.specularRoughness": "rough.outAlpha",
            "gold.metalness": "metal.outColorR",
            "gold.normalCamera": "bumpMap.outValue",
            "bumpMap.input": "bumps.outColor",
        }
    )
    found, loaded, _ = read(arnold)
    node = loaded.root.getNode("gold_surface")

    def feed(port):
        return node.getInput(port).getConnectedNode()

    assert feed("base_color").getCategory() == "image"
    assert feed("specular_roughness").getInput("in").getConnectedNode().getCategory() == "luminance"
    assert feed("metalness").getInput("index").getValueString() == "0"
    assert feed("normal").getInput("scale").getValueString() == "0.5"
    uv = feed("base_color").getInput("texcoord").getConnectedNode()
    assert uv.getInput("in2").getValueString() == "0.25, 0"
    assert uv.getInput("in1").getConnectedNode().getInput("in2").getValueString() == "4, 2"
    assert DATA in found.search and found.notes[-1:] == ()


def test_a_normal_map_of_mayas_own_node_is_read_and_a_height_map_left_out(arnold, maya):
    picture(maya, "bumps", colorSpace="Raw")
    add(maya, "bump", "bump2d", bumpInterp=1)
    maya.connections["gold.normalCamera"] = "bump.outNormal"
    maya.connections["bump.bumpValue"] = "bumps.outAlpha"
    _, loaded, _ = read(arnold)
    assert loaded.root.getNode("gold_surface").getInput("normal") is not None
    maya.nodes["bump"]["attributes"]["bumpInterp"] = 0
    found, loaded, _ = read(arnold)
    assert loaded.root.getNode("gold_surface").getInput("normal") is None
    assert found.notes[0] == "bump: a bump map of heights is left out: use a normal map"


def test_an_image_of_arnold_is_read(arnold, maya):
    file = (DATA / "plain.png").as_posix()
    add(maya, "image", "aiImage", filename=file, sscale=2.0, colorSpace="ACEScg")
    maya.connections["gold.baseColor"] = "image.outColor"
    found, loaded, _ = read(arnold)
    assert 'colorspace="ACEScg"' in found.text
    assert loaded.root.getNode("image_repeat").getInput("in2").getValueString() == "2, 1"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("gold.baseColor", "noise.outColor"),
            "gold.baseColor is fed by noise \\(aiNoise\\), which",
        ),
        (("gold.baseColorR", "color.outColorR"), "baseColorR is connected by itself"),
    ],
)
def test_other_nodes_need_arnold_and_the_error_names_them(arnold, maya, change, message):
    picture(maya, "color")
    add(maya, "noise", "aiNoise")
    maya.connections[change[0]] = change[1]
    with pytest.raises(HostError, match=f"{message}.*only Arnold can export: load Arnold"):
        read(arnold)
    maya.members["goldSG"] = []
    with pytest.raises(HostError, match="assign the material to a mesh, or bake it"):
        read(arnold)


def test_a_turned_texture_is_not_baked_as_if_it_were_straight(arnold, maya):
    picture(maya, "color")
    add(maya, "place", "place2dTexture", rotateUV=30.0)
    maya.connections.update({"gold.baseColor": "color.outColor", "color.uvCoord": "place.outUV"})
    with pytest.raises(HostError, match=r"place\.rotateUV is 30, which only Arnold can export"):
        read(arnold)


def test_a_texture_without_a_file_is_refused(arnold, maya):
    picture(maya, "color", fileTextureName="")
    maya.connections["gold.baseColor"] = "color.outColor"
    with pytest.raises(HostError, match="color has no file: choose one"):
        read(arnold)


def test_the_export_of_arnold_is_translated_to_the_standard_library(arnold, maya):
    add(maya, "noise", "aiNoise")
    maya.connections["gold.baseColor"] = "noise.outColor"
    called = load_arnold(sys.modules["maya.cmds"], EXPORT)
    maya.path = (DATA / "stack.ma").as_posix()
    found, loaded, material = read(arnold)
    assert called == [(SHAPE, "gold", True)] and found.material == "gold_SG"
    teacher = Teacher(loaded, material, open_device("software"))
    uv, straight = np.full((1, 2), 0.5, np.float32), np.float32([[0, 0, 1]])
    assert teacher.response(uv, straight, straight)[0].min() > 0
    assert "caustics" not in found.text and "include" not in found.text


def test_a_node_that_no_library_has_is_named(arnold, maya):
    add(maya, "noise", "aiNoise")
    maya.connections["gold.baseColor"] = "noise.outColor"
    cmds = sys.modules["maya.cmds"]
    load_arnold(
        cmds,
        EXPORT.replace("multiply name", "color_jitter name").replace(
            "</multiply", "</color_jitter"
        ),
    )
    with pytest.raises(HostError, match="gold: 'color_jitter' is a node of Arnold that MaterialX"):
        read(arnold)
    load_arnold(cmds, "")
    with pytest.raises(HostError, match="Arnold did not export gold: end the render"):
        read(arnold)
