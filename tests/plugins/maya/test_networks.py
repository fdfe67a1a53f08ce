"""Maya's shaders read from their nodes, in scenes of Maya ASCII."""

import importlib

import numpy as np
import pytest
from fake_maya.node_types import node_types as fake_types

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import MakesTextures
from verdigris.core.hosts.nodes.host_nodes import is_same
from verdigris.core.hosts.nodes.library import find_type
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher

from ..hosts import by_name
from .scenes import ACESCG_TO_REC_709, DATA, SHAPE, open_scene
from .test_fake_scenes import SCENES

UV = np.full((1, 2), 0.5, np.float32)
STRAIGHT = np.float32([[0, 0, 1]])
FILE = (DATA / "plain.png").as_posix()


def shader(kind, *lines):
    return f'createNode {kind} -n "gold";\n' + "".join(f"\t{line};\n" for line in lines)


def picture(name, *lines):
    own = f'setAttr ".ftn" -type "string" "{FILE}"', *lines
    return f'createNode file -n "{name}";\n' + "".join(f"\t{line};\n" for line in own)


def unlit(document, material):
    return Teacher(document, material, open_device("software")).unlit(UV, STRAIGHT)[0]


@pytest.mark.parametrize("kind", ["standardSurface", "aiStandardSurface"])
def test_the_values_of_a_surface_reach_the_teacher_in_its_rendering_space(read, kind):
    _, document, material = read(
        shader(
            kind,
            'setAttr ".emission" 2',
            'setAttr ".emissionColor" -type "float3" 0.5 0.4 0.3',
            'setAttr ".base" 0.5',
            'setAttr ".baseColor" -type "float3" 0.5 0.5 0.5',
            'setAttr ".specular" 0',
            'setAttr ".opacity" -type "float3" 0.25 0.25 0.25',
        )
    )
    wanted = 0.25 * 2 * ACESCG_TO_REC_709 @ [0.5, 0.4, 0.3]
    np.testing.assert_allclose(unlit(document, material), [*wanted, 0.25], atol=1e-5)
    teacher = Teacher(document, material, open_device("software"))
    response = teacher.response(UV, STRAIGHT, STRAIGHT)[0]
    np.testing.assert_allclose(response, 0.25 * 0.25 / np.pi, rtol=1e-3)


def test_a_network_computes_in_the_rendering_space(read, maya):
    """The texture is white in every space; a tint in ACEScg multiplies it there."""
    body = shader(
        "standardSurface", 'setAttr ".e" 1', 'setAttr ".b" 0', 'setAttr ".s" 0'
    ) + picture("tex", 'setAttr ".cs" -type "string" "Raw"')
    body += """createNode multiplyDivide -n "tint";
	setAttr ".i2" -type "float3" 0.9 0.8 0.7;
connectAttr "tex.oc" "tint.i1";
connectAttr "tint.oy" "gold.ecr";
connectAttr "tint.ox" "gold.ecg";
"""
    found, document, material = read(body)
    texel = unlit(
        *read(
            shader("standardSurface", 'setAttr ".e" 1', 'setAttr ".b" 0', 'setAttr ".s" 0')
            + picture("tex", 'setAttr ".cs" -type "string" "Raw"')
            + 'connectAttr "tex.oc" "gold.ec";'
        )[1:]
    )[:3]
    raw = np.linalg.solve(ACESCG_TO_REC_709, texel)
    swapped = [raw[1] * 0.8, raw[0] * 0.9, 1.0]
    np.testing.assert_allclose(
        unlit(document, material)[:3], ACESCG_TO_REC_709 @ swapped, atol=1e-4
    )
    assert found.notes == ()


def test_a_node_that_is_not_translated_is_named_with_its_remedy(read):
    body = shader("standardSurface", 'setAttr ".bc" -type "float3" 0.5 0.25 0.125')
    body += 'createNode marble -n "stone";\ncreateNode animCurveTU -n "turn";\n'
    body += 'connectAttr "stone.oc" "gold.bc";\nconnectAttr "stone.oa" "gold.sr";\n'
    body += 'connectAttr "turn.o" "gold.m";\n'
    found, document, _ = read(body)
    assert found.notes[:3] == (
        "stone (marble) feeds baseColor of gold and is not translated: the value 0.5 0.25 0.125 is "
        "used: convert it to a file texture, or replace it",
        "turn (animCurveTU) feeds metalness of gold: the value 0 is used, that of this frame",
        "stone (marble) feeds specularRoughness of gold and is not translated: the value 0.2 is "
        "used: convert it to a file texture, or replace it",
    )
    surface = document.root.getNode("gold_surface")
    assert surface.getInput("base_color").getValueString() == "0.5, 0.25, 0.125"


def test_a_node_that_is_not_translated_can_become_a_file(read, maya, tmp_path):
    maya.project = tmp_path.as_posix()
    body = shader("standardSurface") + 'createNode marble -n "stone";\n'
    body += 'connectAttr "stone.oc" "gold.bc";\nconnectAttr "stone.oa" "gold.sr";\n'
    found, _, _ = read(body)
    assert found.convertible == ("stone",)
    host = importlib.import_module("verdigris.plugins.maya.adapter").MayaHost()
    material = by_name(host, "gold")
    assert isinstance(host, MakesTextures)
    with pytest.raises(HostError, match="gold is not assigned to a mesh: assign it to convert"):
        host.make_textures(material)
    maya.members["goldSG"] = [SHAPE]
    before = dict(maya.connections)
    assert host.make_textures(material) == (
        "Converted stone to the file texture stone_file: Edit > Undo takes it back"
    )
    assert maya.connections["gold.specularRoughness"] == "stone_file.outAlpha"
    file = tmp_path / "sourceimages" / "verdigris" / "stone.tif"
    assert file.parent.is_dir()
    text = host.document(material).text
    assert f'value="{file.as_posix()}"' in text and "specular_roughness" in text
    with pytest.raises(HostError, match="gold has no texture to convert"):
        host.make_textures(material)
    maya.undo()
    assert maya.connections == before and "stone_file" not in maya.nodes


def test_what_is_approximated_is_told(read):
    body = shader("lambert", 'setAttr ".tc" 0.5') + 'createNode bump2d -n "bumps";\n'
    body += picture("tex") + 'connectAttr "tex.oa" "bumps.bv";\nconnectAttr "bumps.o" "gold.n";\n'
    found, document, _ = read(body)
    assert found.notes[:2] == (
        "gold (lambert): its translucence passes light through a thin wall, which returns no more "
        "than it receives.",
        "bumps (bump2d): a height of 1 counts as the width of the texture.",
    )
    surface = document.root.getNode("gold_surface")
    assert surface.getInput("normal").getConnectedNode().getCategory() == "normalmap"


def test_files_have_their_space_tiles_and_frames(read, tmp_path):
    def of_file(*lines):
        shown = 'connectAttr "tex.oc" "gold.bc";\n'
        return read(shader("standardSurface") + picture("tex", *lines) + shown)[0]

    def tiles(mode, pattern):
        name = "computedFileTextureNamePattern"
        return f'setAttr ".uvt" {mode}', f'setAttr ".{name}" -type "string" "{pattern}"'

    (tmp_path / "skin.1001.png").write_bytes((DATA / "plain.png").read_bytes())
    skin = (tmp_path / "skin.<UDIM>.png").as_posix()
    found = of_file(*tiles(3, skin), 'setAttr ".cs" -type "string" "ACEScg"')
    assert 'skin.&lt;UDIM&gt;.png" colorspace="ACEScg"' in found.text
    with pytest.raises(HostError, match=r"tex: tiles named skin\.u<u>_v<v>\.png cannot be read"):
        of_file(*tiles(1, "skin.u<u>_v<v>.png"))
    frame = f'setAttr ".ftn" -type "string" "{(tmp_path / "fire.0007.png").as_posix()}"'
    assert "fire.0041.png" in of_file(frame, 'setAttr ".ufe" yes', 'setAttr ".fe" 41').text


def test_a_texture_without_a_file_shows_its_default_colour(read):
    body = shader("standardSurface")
    body += 'createNode file -n "tex";\n\tsetAttr ".dc" -type "float3" 0.25 0.5 1;\n'
    found, document, _ = read(body + 'connectAttr "tex.oc" "gold.bc";\n')
    surface = document.root.getNode("gold_surface")
    assert surface.getInput("base_color").getValueString() == "0.25, 0.5, 1"
    assert found.notes[0] == "tex has no file: its default colour is used: choose a file"


def test_the_shader_that_arnold_renders_replaces_that_of_the_viewport(read):
    # MtoA adds this attribute
    body = '\taddAttr -ci true -sn "aiss" -ln "aiSurfaceShader" -at "message";\n'
    body += shader("lambert") + 'createNode aiStandardSurface -n "real";\n'
    body += 'connectAttr "real.out" "goldSG.aiSurfaceShader";\n'
    body += 'createNode volumeShader -n "mist";\nconnectAttr "mist.oc" "goldSG.vs";\n'
    found, document, _ = read(body)
    assert found.notes == (
        "mist of goldSG is left out, because it is a volume: only surfaces are baked",
    )
    assert document.root.getNode("real_surface") is not None


def test_a_texture_in_place_of_a_shader_is_named(read):
    with pytest.raises(
        HostError, match=r"gold \(marble\) is not a shader: connect it to the color"
    ):
        read('createNode marble -n "gold";\n')


LAYERS = """createNode lambert -n "a";
	setAttr ".ic" -type "float3" 0.5 0.5 0.5;
	setAttr ".it" -type "float3" 0.25 0.25 0.25;
createNode surfaceShader -n "b";
	setAttr ".oc" -type "float3" 2 2 2;
"""


def test_shaders_are_layered_and_mixed(read, maya):
    """Layer Shader: a layer covers what its transparency leaves (Maya's layeredShader). Opacity of
    Standard Surface scales what it gives off."""
    body = LAYERS + shader("layeredShader") + 'connectAttr "b.oc" "gold.cs[3].c";\n'
    body += 'connectAttr "a.oc" "gold.cs[0].c";\nconnectAttr "a.ot" "gold.cs[0].t";\n'
    _, document, material = read(body)
    given = 0.75 * 0.75 * 0.5 + 0.25 * 2
    np.testing.assert_allclose(unlit(document, material)[:3], [given] * 3, rtol=1e-4)
    body = LAYERS + shader("aiMixShader", 'setAttr ".mix" 0.4')
    body += 'connectAttr "a.oc" "gold.shader1";\nconnectAttr "b.oc" "gold.shader2";\n'
    _, document, material = read(body)
    given = 0.6 * 0.75 * 0.5 + 0.4 * 2
    np.testing.assert_allclose(unlit(document, material)[:3], [given] * 3, rtol=1e-4)
    found, _, _ = read(body.replace('connectAttr "b.oc" "gold.shader2";', ""))
    assert found.notes[0] == "gold (aiMixShader): only its first shader is used."
    found, _, _ = read(body.replace("connectAttr", 'setAttr "gold.mode" 1;\nconnectAttr', 1))
    assert "gold (aiMixShader): MaterialX cannot add surfaces: only its first" in found.notes[0]


@pytest.mark.parametrize("kind", ["phong", "blinn"])
def test_older_shaders_shine(read, kind):
    body = shader(kind, 'setAttr ".ic" -type "float3" 0.5 0.25 0.25', 'setAttr ".it" 0.5 0.5 0.5')
    found, document, material = read(body.replace('".it"', '".it" -type "float3"'))
    assert found.notes[0] == f"gold ({kind}): its highlight is approximated by a microfacet lobe."
    teacher = Teacher(document, material, open_device("software"))
    assert teacher.unlit(UV, STRAIGHT)[0][3] == pytest.approx(0.5)
    tilted = np.float32([[0.8, 0, 0.6]])
    matte, mirrored = (
        teacher.response(UV, tilted, each)[0, 0] for each in (tilted, tilted * [-1, 1, 1])
    )
    assert mirrored > 2 * matte > 0


# What all textures share in the definitions, and only some have in Maya.
SHARED = {"exposure", "opacity", "alwaysLuminance", "outTransparency", "uvCoord", "uv"}


def test_definitions_have_the_attributes_of_the_nodes_with_their_defaults():
    checked = 0
    for kind, described in fake_types().items():
        found = find_type(kind)
        if found is None:
            continue
        for port in found.inputs.values():
            marks = port.attributes
            if "count" in marks:
                names = [each.partition(":")[2] for each in marks["children"].split()]
                last = [each.replace("#", marks["count"]) for each in names]
                assert set(last) <= described.by_name.keys()
                continue
            if "array" in marks or "from" in marks or port.reads in SHARED:
                continue
            own = described.by_name.get(port.reads.rpartition(".")[2].partition("[")[0])
            assert own is not None, f"{kind} has no attribute {port.reads}"
            checked += 1
            is_connection = port.geometry or port.type == "surfaceshader" or "[" in port.reads
            if is_connection or "output" in marks or own.default is None:
                continue
            default = own.default if isinstance(own.default, tuple) else (own.default,)
            assert is_same(default, port.value), f"{kind}.{port.reads}: {default}, {port.value}"
        for name in found.outputs.keys() - SHARED:
            assert name in described.by_name, f"{kind} has no output {name}"
    assert checked > 300


@pytest.mark.skipif(not SCENES.is_dir(), reason="../shared/scenes is not here")
def test_every_material_of_the_scenes_of_others_is_read_or_says_why_not(maya):
    refused, count = {}, 0
    for path in sorted(SCENES.glob("*.ma")):
        maya.__init__()
        host = open_scene(maya, path)
        for material in host.materials():
            count += 1
            try:
                found = host.document(material)
            except HostError as failure:
                refused[material.name] = str(failure)
                continue
            document = parse_document(found.text, found.search)
            document.check(document.require_material(found.material))
    assert count > 70 and set(refused) == {"MarbleShader"}
    assert refused["MarbleShader"].startswith("MarbleShader (marble) is not a shader: connect it")


@pytest.mark.parametrize("share", [0.25, 0.8])
def test_translucence_of_a_lambert_passes_its_share_of_the_light(read, share):
    """What passes is `translucence` of what is reflected, and both are at most all light."""
    lines = 'setAttr ".dc" 0.8', f'setAttr ".tc" {share}', 'setAttr ".c" -type "float3" 1 1 1'
    found, document, material = read(shader("lambert", *lines))
    assert "its translucence passes light through a thin wall" in found.notes[0]
    teacher = Teacher(document, material, open_device("software"))
    wo = np.float32([[0, 0.6, 0.8]])
    above, below = (
        teacher.response(UV, np.float32([[0.6, 0, side * 0.8]]), wo)[0, 0] * np.pi / 0.8
        for side in (1, -1)
    )
    seen = min(0.8, 1 / (1 + share))
    assert above == pytest.approx(seen, rel=1e-3) and below == pytest.approx(seen * share, rel=1e-3)
