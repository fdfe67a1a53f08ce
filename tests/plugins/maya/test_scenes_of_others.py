"""Scenes that others made, through the adapter: every material is listed, and is read or refused
in one line."""

import collections
import importlib
import re
import time

import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.ui.model.panel_model import PanelModel

from ...ui.fake_session import FakeClient
from .test_fake_scenes import SCENES

# The only materials of these scenes that cannot be baked, with a part of the reason.
REFUSED = {"MarbleShader": "is not a shader: connect it to the color of a shader"}


def names_in(text):
    """The shaders of a scene, by its text alone: what is connected to a shading group's surface."""
    return set(re.findall(r'connectAttr ":?([\w:]+)\.\w+" ":?[\w:]+\.ss"', text)) | set(
        # of the default group, the shader itself
        re.findall(r'connectAttr "[\w:.]+" ":(lambert1|standardSurface1)\.\w+"', text)
    )


@pytest.mark.skipif(not SCENES.is_dir(), reason="../shared/scenes is not here")
@pytest.mark.parametrize("scene", sorted(SCENES.glob("*.ma")), ids=lambda path: path.stem)
def test_materials_of_a_scene_are_listed_and_read_or_refused_in_one_line(maya, scene):
    host = importlib.import_module("verdigris.plugins.maya.adapter").MayaHost()
    host.open_scene(scene)
    listed = host.materials()
    assert {each.name for each in listed} == names_in(scene.read_text())
    for material in listed:
        try:
            found = host.document(material)
        except HostError as failure:
            assert REFUSED[material.name] in str(failure) and "\n" not in str(failure)
            continue
        loaded = parse_document(found.text, found.search)
        loaded.check(loaded.require_material(found.material))
        assert not any("\n" in note for note in found.notes)
    assert maya.exports == [] and maya.evaluated == []


FOREIGN = """//Maya ASCII 2026 scene
requires maya "2026";
requires -nodeType "PxrDisney" -nodeType "PxrSurface" "RenderMan_for_Maya.py" "26.0";
createNode PxrSurface -n "felt";
\tsetAttr ".diffuseColor" -type "float3" 0.5 0.25 0.125 ;
createNode shadingEngine -n "feltSG";
connectAttr "felt.oc" "feltSG.ss";
"""


def test_a_shader_of_a_plug_in_that_is_not_loaded_names_the_plug_in(maya, tmp_path):
    (tmp_path / "shot.ma").write_text(FOREIGN)
    host = importlib.import_module("verdigris.plugins.maya.adapter").MayaHost()
    host.open_scene(tmp_path / "shot.ma")
    (material,) = host.materials()
    with pytest.raises(HostError, match="felt is a node of the plug-in RenderMan_for_"):
        host.document(material)


NODE = """createNode transform -n "{name}";
createNode mesh -n "{name}Shape" -p "{name}";
connectAttr "cloth.om[{number}]" "{name}Shape.i";
connectAttr "{name}Shape.iog" "{group}SG.dsm" -na;
"""
MATERIAL = """createNode standardSurface -n "paint{number}";
createNode shadingEngine -n "standardSurface{number}SG";
createNode file -n "picture{number}";
\tsetAttr ".ftn" -type "string" "maps/{number}.png";
createNode place2dTexture -n "place{number}";
connectAttr "place{number}.o" "picture{number}.uv";
connectAttr "picture{number}.oc" "paint{number}.bc";
connectAttr "paint{number}.oc" "standardSurface{number}SG.ss";
"""


def test_the_panel_opens_in_a_large_scene_without_a_simulation(maya, tmp_path, monkeypatch):
    """500 objects with 60 materials, whose geometry a simulation makes."""
    text = ["//Maya ASCII 2026 scene\n", 'createNode nCloth -n "cloth";\n']
    text += [MATERIAL.format(number=number) for number in range(60)]
    for number in range(500):
        group = f"standardSurface{number % 60}"
        text.append(NODE.format(name=f"thing{number}", number=number, group=group))
    (tmp_path / "shot.ma").write_text("".join(text))
    host = importlib.import_module("verdigris.plugins.maya.adapter").MayaHost()
    host.open_scene(tmp_path / "shot.ma")
    made = []
    calls = count_commands(monkeypatch)
    model = PanelModel(host, lambda: made.append(FakeClient()) or made[-1])
    begin = time.process_time()
    model.refresh_materials()
    model.tick()
    spent = time.process_time() - begin
    assert len(model.state.materials) == 60 and len(model.state.meshes.names) == 9
    assert maya.evaluated == [], "meshes are listed, and their geometry is not read"
    assert maya.exports == [] and maya.opened == []
    # a command of Maya takes some 20 microseconds, and this fake's are slower
    assert sum(calls.values()) < 3000, calls.most_common(5)
    assert spent < 1


def count_commands(monkeypatch):
    from maya import cmds

    calls = collections.Counter()
    for name, command in [*vars(cmds).items()]:
        if callable(command) and not name.startswith("__"):

            def counted(*args, _name=name, _command=command, **flags):
                calls[_name] += 1
                return _command(*args, **flags)

            monkeypatch.setattr(cmds, name, counted)
    return calls
