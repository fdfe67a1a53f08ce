"""Displacement of Maya's shading groups, against heights in closed form."""

import xml.etree.ElementTree as xml

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.hosts.documents import with_length_unit
from verdigris.core.hosts.host import BakedResult
from verdigris.core.material.load.displaced import height_document
from verdigris.core.material.report import describe_material
from verdigris.core.material.teacher.heights import heights_at
from verdigris.core.material.teacher.teacher import Teacher

from ..hosts import by_name, flattened
from .conftest import GROUP, SHOWN
from .scenes import SHAPE, open_scene
from .test_networks import shader

GOLD = shader("standardSurface")
# Its red grows from 0 to 1 with v.
SLOPE = """createNode ramp -n "slope";
\tsetAttr ".cel[0].ep" 0;
\tsetAttr ".cel[0].ec" -type "float3" 0 0 0;
\tsetAttr ".cel[1].ep" 1;
\tsetAttr ".cel[1].ec" -type "float3" 1 1 1;
"""
MESH = """createNode transform -n "slab";
createNode mesh -n "slabShape" -p "slab";
\taddAttr -ci true -sn "ai_disp_height" -ln "aiDispHeight" -dv {height} -at "float";
\taddAttr -ci true -sn "ai_disp_zero_value" -ln "aiDispZeroValue" -dv {zero} -at "float";
connectAttr "slabShape.iog" "goldSG.dsm" -na;
"""
V = (np.arange(4) + 0.5) / 4


def displaced(*lines, feed='connectAttr "slope.ocr" "dents.d";\n'):
    node = 'createNode displacementShader -n "dents";\n' + "".join(f"\t{each};\n" for each in lines)
    return GOLD + SLOPE + node + feed + 'connectAttr "dents.d" "goldSG.ds";\n'


def heights_of(document, material):
    found = heights_at(Teacher(document, material, open_device("software")), 4, 4)
    return found.values.mean(1)


def test_heights_are_those_that_arnold_displaces_by_in_metres(read):
    """MtoA: a mesh moves by aiDispHeight (scale d - zero - aiDispZeroValue), in centimetres."""
    body = displaced('setAttr ".scl" 4', 'setAttr ".ai_displacement_zero_value" 0.5')
    found, document, material = read(body + MESH.format(height=2.5, zero=0.75))
    wanted = 2.5 * (4 * V - 0.5 - 0.75) / 100
    np.testing.assert_allclose(heights_of(document, material), wanted, rtol=1e-4)
    assert found.notes == ()
    # without MtoA, a mesh has no such attributes
    found, document, material = read(displaced('setAttr ".scl" 4'))
    np.testing.assert_allclose(heights_of(document, material), 4 * V / 100, rtol=1e-4)


def test_a_texture_that_feeds_the_shading_group_directly_displaces(read):
    for output in ("oc", "ocr"):
        body = GOLD + SLOPE + f'connectAttr "slope.{output}" "goldSG.ds";\n'
        _, document, material = read(body + MESH.format(height=3, zero=0.5))
        wanted = 3 * (V - 0.5) / 100
        np.testing.assert_allclose(heights_of(document, material), wanted, rtol=1e-4)


def test_a_preview_surface_displaces_by_its_own_input(read):
    body = shader("usdPreviewSurface") + SLOPE + 'connectAttr "slope.ocr" "gold.dsp";\n'
    found, document, material = read(body)
    np.testing.assert_allclose(heights_of(document, material), V / 100, rtol=1e-4)
    assert found.notes == ()
    found, document, material = read(shader("usdPreviewSurface"))
    assert height_document(document, material) is None


@pytest.mark.parametrize("encoding", [0, 1])
def test_vectors_in_tangent_space_are_approximated_by_their_part_along_the_normal(read, encoding):
    lines = 'setAttr ".scl" 2', 'setAttr ".vs" 2', f'setAttr ".ve" {encoding}', 'setAttr ".d" 0.25'
    feed = 'connectAttr "slope.oc" "dents.vd";\n'
    # heights of the mesh do not count for vectors
    _, document, material = read(displaced(*lines, feed=feed) + MESH.format(height=3, zero=0.5))
    along = 2 * V - 1 if encoding else V
    np.testing.assert_allclose(
        heights_of(document, material), 2 * (along + 0.25) / 100, rtol=1e-4, atol=1e-7
    )
    (part,) = (
        each for each in describe_material(document, material).parts if each.name == "displacement"
    )
    assert part.fate == "approximated" and "along the normal" in part.how


def test_vectors_in_other_spaces_and_unknown_nodes_are_named(read):
    feed = 'connectAttr "slope.oc" "dents.vd";\n'
    found, _, _ = read(displaced(feed=feed))
    assert found.notes == (
        "dents displaces goldSG by vectors in object space, which are left out: use vectors in "
        "tangent space, or heights",
    )
    found, _, _ = read(displaced('setAttr ".dm" 3', feed=feed))
    assert "in world space" in found.notes[0]
    found, _, _ = read(
        displaced(feed='createNode leather -n "skin";\nconnectAttr "skin.ocr" "dents.d";\n')
    )
    assert "skin (leather) feeds displacement of dents and is not translated" in found.notes[0]
    skin = 'createNode leather -n "skin";\n'
    found, _, _ = read(GOLD + skin + 'connectAttr "skin.oc" "goldSG.ds";\n')
    assert found.notes == (
        "skin (leather) displaces the material and is not translated: it is left out: convert it "
        "to a file texture, or replace it",
    )
    assert found.convertible == ("skin",)


def test_meshes_with_other_heights_are_named(read):
    other = MESH.format(height=3, zero=0).replace("slab", "wall")
    found, _, _ = read(displaced() + MESH.format(height=2, zero=0) + other)
    assert found.notes == (
        "goldSG displaces |wall|wallShape by another height than |slab|slabShape (aiDispHeight, "
        "aiDispZeroValue): that of |slab|slabShape is used",
    )


def test_the_baked_look_displaces_as_the_material_does(maya, tmp_path):
    text = "//Maya ASCII 2026 scene\n" + GROUP + displaced() + SHOWN
    (tmp_path / "scene.ma").write_text(text)
    host = open_scene(maya, tmp_path / "scene.ma")
    gold, before = by_name(host, "gold"), maya.state()
    host.attach(gold, BakedResult(tmp_path / "a.vdg", flattened(tmp_path)))
    assert maya.connections["gold_verdigrisSG.displacementShader"] == "dents.displacement"
    assert len(maya.undo_stack) == 1
    maya.undo()
    assert maya.state() == before


def test_meshes_are_in_metres_like_heights(painting):
    """The fake's mesh is 2 centimetres wide."""
    mesh = painting.mesh(SHAPE)
    assert np.ptp(mesh.position[..., 0]) == pytest.approx(0.02)


def test_displacements_of_documents_of_maya_have_its_unit():
    text = """<materialx version="1.39"><displacement name="a" type="displacementshader" />
    <displacement name="b" type="displacementshader"><input name="scale" type="float" value="3" />
    </displacement><displacement name="c" type="displacementshader"><input name="displacement"
    type="float" value="1" unittype="distance" unit="meter" /></displacement></materialx>"""
    root = xml.fromstring(with_length_unit(text, "it", "centimeter"))
    found = [node.find("input[@name='scale']") for node in root.iter("displacement")]
    assert [found[0].get(name) for name in ("value", "unit")] == ["1", "centimeter"]
    assert [found[1].get(name) for name in ("value", "unit")] == ["3", "centimeter"]
    assert found[2] is None
    assert with_length_unit("<materialx />", "it", "centimeter") == "<materialx />"
