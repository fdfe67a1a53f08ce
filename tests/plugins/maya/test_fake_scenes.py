"""The fake Maya reads Maya ASCII, and answers as Maya does (Autodesk, Maya Help: MEL commands)."""

import os
from pathlib import Path

import fake_maya
import pytest
from fake_maya.node_types import node_types

SCENES = Path(
    os.environ.get("VERDIGRIS_SCENES", Path(__file__).parents[4] / "shared" / "scenes")
).joinpath("maya")
SCENE = """//Maya ASCII 2026 scene
requires maya "2026";
requires -nodeType "mayaUsdProxyShape" "mayaUsdPlugin" "0.30.0";
currentUnit -l centimeter -a degree -t film;
file -rdi 1 -ns "car" -rfn "carRN" -op "v=0;" -typ "mayaAscii" "parts.ma";
file -r -ns "car" -dr 1 -rfn "carRN" -op "v=0;" -typ "mayaAscii" "parts.ma";
createNode transform -n "body";
createNode mesh -n "bodyShape" -p "body";
\tsetAttr -k off ".v";
\tsetAttr -s 2 ".iog[0].og";
\tsetAttr ".iog[0].og[0].gcl" -type "componentList" 1 "f[0]";
\tsetAttr ".iog[0].og[1].gcl" -type "componentList" 2 "f[1]" "f[2:3]";
\tsetAttr -s 4 ".uvst[0].uvsp[0:3]" -type "float2" 0 0 1 0 0 1 1 1;
\tsetAttr -s 4 ".vt[0:3]"  -0.5 0 0.5 0.5 0 0.5
\t\t-0.5 0 -0.5 0.5 0 -0.5;
\tsetAttr -s 4 ".ed[0:3]"  0 1 0 0 2 0 1 3 0 2 3 0;
\tsetAttr -ch 4 ".fc[0]" -type "polyFaces"
\t\tf 4 0 2 -4 -2
\t\tmu 0 4 0 1 3 2;
createNode ramp -n "steps";
\trename -uid "2525C32B-4C69-91A2-4C1D-41BDFC460F88";
\tsetAttr ".in" 4;
\tsetAttr -s 2 ".cel";
\tsetAttr ".cel[0].ep" 0.25;
\tsetAttr ".cel[0].ec" -type "float3" 0 0.5 1 ;
\tsetAttr ".cel[3].ecg" 0.75;
createNode remapValue -n "curve";
\tsetAttr -s 3 ".vl[0:2]"  0 0 1 0.5 0.9 2 1 1 3;
createNode plusMinusAverage -n "sum";
\tsetAttr -s 2 ".i3[0:1]" -type "float3" 1 2 3 -4 5.5 6;
createNode file -n "picture";
\taddAttr -cachedInternally true -shortName "note" -longName "myNote" -dataType "string";
\taddAttr -ci true -uac -sn "tint" -ln "myTint" -at "float3" -nc 3;
\taddAttr -ci true -sn "tintR" -ln "myTintR" -dv 0.5 -at "float" -p "myTint";
\tsetAttr ".ftn" -type "string" "textures/a \\"b\\".png";
\tsetAttr ".note" -type "string" (
\t\t"first "
\t\t+ "second");
\tsetAttr -av -k on ".ail" yes;
\tsetAttr ".cgg" 0.25;
createNode standardSurface -n "paint";
createNode shadingEngine -n "paintSG";
createNode shadingEngine -n "chromeSG";
createNode reference -n "carRN";
\tsetAttr ".phl[1]" 0;
\tsetAttr ".ed" -type "dataReferenceEdits"
\t\t"carRN"
\t\t"carRN" 0
\t\t"carRN" 3
\t\t2 "car:rubber" "diffuse" " -av 0.25"
\t\t2 "car:rubber" "incandescence" " -type \\"float3\\" 0 0.5 1"
\t\t5 4 "carRN" "car:rubber.color" "carRN.placeHolderList[1]" "";
lockNode -l 1 ;
select -ne :defaultRenderGlobals;
\tsetAttr ".ren" -type "string" "arnold";
connectAttr "picture.oc" "paint.bc";
connectAttr "picture.oc" "carRN.phl[1]";
connectAttr "picture.ocr" "steps.cel[0].ecr";
connectAttr "steps.ocg" "paint.sr";
connectAttr "curve.ov" "sum.i1" -na;
connectAttr "paint.oc" "paintSG.ss";
connectAttr "bodyShape.iog.og[0]" "paintSG.dsm" -na;
connectAttr "bodyShape.iog.og[1]" "chromeSG.dsm" -na;
"""
PARTS = """//Maya ASCII 2026 scene
createNode transform -n "wheel";
createNode mesh -n "wheelShape" -p "wheel";
createNode lambert -n "rubber";
createNode shadingEngine -n "rubberSG";
connectAttr "rubber.oc" "rubberSG.ss";
connectAttr "wheelShape.iog" "rubberSG.dsm" -na;
"""


@pytest.fixture
def cmds(maya, tmp_path):
    (tmp_path / "parts.ma").write_text(PARTS)
    (tmp_path / "scene.ma").write_text(SCENE)
    maya.read(tmp_path / "scene.ma")
    assert maya.unknown == []
    return fake_maya.make_cmds(maya)


def test_values_are_read_in_all_forms(cmds):
    assert cmds.getAttr("steps.interpolation") == 4
    assert cmds.getAttr("steps.colorEntryList[0].color") == [(0, 0.5, 1)]
    assert cmds.getAttr("steps.cel[0].ec.ecg") == cmds.getAttr("steps.cel[0].ecg") == 0.5
    assert cmds.getAttr("steps.cel[3].ec") == [(1, 0.75, 0)], "one component was set"
    assert cmds.getAttr("steps.cel", multiIndices=True) == [0, 3]
    assert cmds.getAttr("steps.cel", size=True) == 2
    assert [cmds.getAttr(f"curve.value[{each}].value_Interp") for each in range(3)] == [1, 2, 3]
    assert cmds.getAttr("curve.value[1]") == [(0.5, 0.9, 2)]
    assert cmds.getAttr("sum.input3D[1]") == [(-4, 5.5, 6)]
    assert cmds.getAttr("picture.fileTextureName") == 'textures/a "b".png'
    assert cmds.getAttr("picture.myNote") == "first second"
    assert cmds.getAttr("picture.alphaIsLuminance") is True
    assert cmds.getAttr("picture.colorGain") == [(1, 0.25, 1)]
    assert cmds.getAttr("picture.defaultColor") == [(0.5, 0.5, 0.5)], "a default"
    assert cmds.getAttr("picture.myTint") == [(0.5,)]
    assert cmds.ls("paint", uuid=True) and cmds.ls("2525C32B-4C69-91A2-4C1D-41BDFC460F88") == [
        "steps"
    ]
    assert cmds.lockNode("carRN", query=True, lock=True) == [True]
    with pytest.raises(ValueError, match="No object matches name"):
        cmds.getAttr("paint.nosuch")


def test_connections_name_arrays_and_components(cmds):
    def feeds(plug, **flags):
        return cmds.listConnections(plug, destination=False, plugs=True, **flags)

    assert feeds("paint.baseColor") == ["picture.outColor"]
    assert feeds("paint.specularRoughness") == ["steps.outColorG"]
    assert feeds("steps.cel[0].colorR") == ["picture.outColorR"]
    assert feeds("steps.colorEntryList", connections=True) == [
        "steps.colorEntryList[0].colorR",
        "picture.outColorR",
    ]
    assert feeds("sum.input1D[0]") == ["curve.outValue"]
    assert cmds.connectionInfo("paint.bc", sourceFromDestination=True) == "picture.outColor"
    assert cmds.listConnections("picture", source=False) == ["paint", "car:rubber", "steps"]
    assert set(cmds.listHistory("paint")) == {"paint", "picture", "steps"}
    assert feeds("paint.opacity") is None
    with pytest.raises(RuntimeError, match="cannot be found"):
        cmds.connectAttr("picture.outColor", "paint.outColor")


def test_node_types_describe_their_attributes(cmds):
    def ask(name, node, **flags):
        return cmds.attributeQuery(name, node=node, **flags)

    assert ask("bi", "paint", exists=True) is False
    assert ask("bc", "paint", longName=True) == "baseColor"
    assert ask("color", "steps", attributeType=True) == "float3"
    assert ask("baseColor", "paint", listChildren=True) == [
        "baseColorR",
        "baseColorG",
        "baseColorB",
    ]
    assert ask("baseColor", "paint", usedAsColor=True)
    assert ask("specularRoughness", "paint", listDefault=True) == [0.2]
    assert ask("operation", "sum", listEnum=True) == ["No operation:Sum:Subtract:Average"]
    assert ask("input3D", "sum", multi=True)
    assert cmds.nodeType("picture", inherited=True) == ["shadingDependNode", "texture2d", "file"]
    listed = cmds.listAttr("steps", multi=True)
    assert {"colorEntryList[0].color", "outColorR", "vWave"} <= set(listed)
    assert cmds.listAttr("picture", userDefined=True)[:2] == ["myNote", "myTint"]


def test_geometry_faces_and_references_are_read(cmds, maya):
    assert maya.members == {
        "car:rubberSG": ["|car:wheel|car:wheelShape"],
        "paintSG": ["|body.f[0]"],
        "chromeSG": ["|body.f[1]", "|body.f[2:3]"],
    }
    mesh = maya.require("bodyShape")["attributes"]["mesh"]
    # the face walks the edges 0-1, 1-3, 3-2, 2-0
    assert (mesh["counts"], mesh["vertices"], mesh["uv_ids"]) == ([4], [0, 1, 3, 2], [0, 1, 3, 2])
    assert mesh["points"][2] == (-0.5, 0, -0.5)
    assert cmds.file(query=True, reference=True) == ["parts.ma"]
    # what the scene changes in them
    assert cmds.getAttr("car:rubber.dc") == 0.25
    assert cmds.getAttr("car:rubber.incandescence") == [(0, 0.5, 1)]
    assert cmds.listConnections("car:rubber.color", plugs=True) == ["picture.outColor"]
    assert maya.plugins["mayaUsdPlugin"]


@pytest.mark.skipif(not SCENES.is_dir(), reason="../shared/scenes is not here")
def test_scenes_of_others_name_no_attribute_that_the_table_lacks():
    for path in sorted(SCENES.glob("*.ma")):
        scene = fake_maya.Scene()
        scene.read(path)
        # a node that this Maya makes itself
        assert [each for each in scene.unknown if "internal_standInShader" not in each] == []
        assert any(facts["type"] in node_types() for facts in scene.nodes.values())
