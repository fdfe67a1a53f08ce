"""The self-test of the plug-in in Maya. The launcher selftest.py runs it in mayapy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from verdigris.core.base.errors import HostError
from verdigris.core.base.files import replace_file
from verdigris.plugins.common.selftest.scratch import (
    BASE_COLOUR,
    COLOUR_VALUE,
    DISPLACEMENT,
    METALNESS,
    NO_WINDOW,
    NORMAL,
    ROUGHNESS,
    ROUGHNESS_VALUE,
    STAGED,
    Expected,
    Scratch,
    write_images,
    write_stage,
)
from verdigris.plugins.common.selftest.walk import run_program
from verdigris.plugins.maya.without_window import start

_HEAD = '//Maya ASCII 2025 scene\nrequires maya "2025";\n'
# A square with a material, as Maya writes it.
_ASSIGNED = """createNode transform -n "{name}_plate";
createNode mesh -n "{name}_plateShape" -p "{name}_plate";
	setAttr -k off ".v";
	setAttr ".uvst[0].uvsn" -type "string" "map1";
	setAttr -s 4 ".uvst[0].uvsp[0:3]" -type "float2" 0 0 1 0 0 1 1 1;
	setAttr ".cuvs" -type "string" "map1";
	setAttr -s 4 ".vt[0:3]"  -0.5 0 0.5 0.5 0 0.5 -0.5 0 -0.5 0.5 0 -0.5;
	setAttr -s 4 ".ed[0:3]"  0 1 0 0 2 0 1 3 0 2 3 0;
	setAttr -ch 4 ".fc[0]" -type "polyFaces"
		f 4 0 2 -4 -2
		mu 0 4 0 1 3 2;
createNode shadingEngine -n "{group}";
	setAttr ".ihi" 0;
	setAttr ".ro" yes;
connectAttr "{name}.oc" "{group}.ss";
connectAttr "{name}_plateShape.iog" "{group}.dsm" -na;
connectAttr "{group}.pa" ":renderPartition.st" -na;
connectAttr "{name}.msg" ":defaultShaderList1.s" -na;
"""
_SHADER = """createNode {kind} -n "{name}";
	setAttr ".base" 1;
	setAttr ".baseColor" -type "float3" {colour};
	setAttr ".specularRoughness" {roughness};
"""
_FILE = """createNode place2dTexture -n "{name}_place";
createNode file -n "{name}";
	setAttr ".ignoreColorSpaceFileRules" yes;
	setAttr ".fileTextureName" -type "string" "{file}";
	setAttr ".colorSpace" -type "string" "{space}";
connectAttr "{name}_place.o" "{name}.uv";
connectAttr "{name}_place.ofs" "{name}.fs";
"""
_BUMP = """createNode bump2d -n "{name}_bump";
	setAttr ".bumpInterp" 1;
connectAttr "scratch_colour.outColor" "{name}.baseColor";
connectAttr "scratch_normal.outAlpha" "{name}_bump.bumpValue";
connectAttr "{name}_bump.outNormal" "{name}.normalCamera";
"""
_DENTS = """createNode displacementShader -n "scratch_dents";
	setAttr ".scale" 0.25;
connectAttr "scratch_colour.outColorR" "scratch_dents.displacement";
connectAttr "scratch_dents.displacement" "standardSurface2SG.displacementShader";
"""
_PATTERNS = """createNode ramp -n "scratch_ramp";
	setAttr ".colorEntryList[0].position" 0;
	setAttr ".colorEntryList[0].color" -type "float3" 0.1 0.1 0.1;
	setAttr ".colorEntryList[1].position" 1;
	setAttr ".colorEntryList[1].color" -type "float3" 0.9 0.9 0.9;
createNode leather -n "scratch_leather";
connectAttr "scratch_ramp.outColorR" "patterned.specularRoughness";
connectAttr "scratch_leather.outColorR" "patterned.metalness";
"""
_REFERENCE = (
    'file -rdi 1 -ns "ref" -rfn "refRN" -typ "mayaAscii" "{file}";\n'
    'file -r -ns "ref" -dr 1 -rfn "refRN" -typ "mayaAscii" "{file}";\n'
)
_STAGE = """createNode transform -n "stage";
createNode mayaUsdProxyShape -n "stageShape" -p "stage";
	setAttr ".filePath" -type "string" "{file}";
"""
# A shader with the name that Maya gave, like its group.
_UNNAMED = "standardSurface5"
_PLAIN = {BASE_COLOUR: COLOUR_VALUE, ROUGHNESS: ROUGHNESS_VALUE}


def make_scene(folder: Path) -> Scratch:
    """Opens a scene with a renamed shader whose group has Maya's name, images, a bump2d and a
    displacement, a ramp and a node that has no equal, OpenPBR, Arnold, a reference in a namespace
    and a USD stage."""
    from maya import cmds

    from verdigris.plugins.maya.scene.nodes import load_plugin

    images = write_images(folder)
    types = cmds.ls(nodeTypes=True) or []
    text = [_shader("gold", "standardSurface", 2)]
    text += [_file("scratch_colour", images.colour, "sRGB")]
    text += [_file("scratch_normal", images.normal, "Raw"), _BUMP.format(name="gold"), _DENTS]
    text += [_shader(_UNNAMED, "standardSurface", 5), _BUMP.format(name=_UNNAMED)]
    text += [_shader("patterned", "standardSurface", 3), _PATTERNS]
    files = {BASE_COLOUR: images.colour.name, NORMAL: images.normal.name}
    patterns = {ROUGHNESS: "scratch_ramp", METALNESS: "scratch_leather"}
    found = [
        Expected("gold", {ROUGHNESS: ROUGHNESS_VALUE}, {**files, DISPLACEMENT: images.colour.name}),
        Expected(_UNNAMED, {ROUGHNESS: ROUGHNESS_VALUE}, files),
        Expected("patterned", {BASE_COLOUR: COLOUR_VALUE}, nodes=patterns),
    ]
    left_out = {}
    for name, kind, of in (
        ("open", "openPBRSurface", "Maya"),
        ("arnold", "aiStandardSurface", "MtoA"),
    ):
        if kind in types:
            text.append(_shader(name, kind, 1))
            found.append(Expected(name, _PLAIN))
        else:
            left_out[kind] = f"this {of} does not have it, or its plug-in is not loaded"
    referenced = folder / "referenced.ma"
    replace_file(referenced, (_HEAD + _shader("cloth", "standardSurface", 4)).encode())
    found.append(Expected("ref:cloth", _PLAIN))
    try:
        load_plugin("mayaUsdPlugin")
        text.append(_STAGE.format(file=write_stage(folder).as_posix()))
        found.append(STAGED)
    except HostError as failure:
        left_out["USD stage"] = str(failure)
    scene = folder / "scratch.ma"
    head = _HEAD + _REFERENCE.format(file=referenced.as_posix())
    replace_file(scene, (head + "".join(text)).encode())
    cmds.file(newFile=True, force=True)
    cmds.file(scene.as_posix(), open=True, force=True)
    return Scratch(tuple(found), {"start_painting": NO_WINDOW}, left_out)


def _shader(name: str, kind: str, number: int) -> str:
    """A shader with a name that an artist gave, in a group with the name that Maya gave."""
    colour = " ".join(f"{each:g}" for each in COLOUR_VALUE)
    shader = _SHADER.format(kind=kind, name=name, colour=colour, roughness=ROUGHNESS_VALUE)
    if kind == "openPBRSurface":
        shader = shader.replace('.base"', '.baseWeight"')
    return shader + _ASSIGNED.format(name=name, group=f"{kind}{number}SG")


def _file(name: str, file: Path, space: str) -> str:
    return _FILE.format(name=name, file=file.as_posix(), space=space)


def run(arguments: Sequence[str]) -> int:
    """The exit code of the self-test."""
    return run_program("mayapy selftest.py", start, make_scene, arguments)
