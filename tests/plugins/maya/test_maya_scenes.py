"""Namespaces, skinned meshes, names with a common prefix."""

from pathlib import Path

import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import BakedResult

from ..hosts import flattened
from .scenes import DATA, SHAPE


def test_a_material_is_not_selected_by_a_common_prefix(harness):
    scene = harness.maya
    for name in ("gold", "gold1"):
        scene.add(name, "standardSurface")
        scene.add(f"{name}SG", "shadingEngine")
        scene.connections[f"{name}SG.surfaceShader"] = f"{name}.outColor"
    # the name that Maya gives to a copy of the first group
    scene.add("goldSG1", "shadingEngine")
    scene.connections["goldSG1.surfaceShader"] = "gold1.outColor"
    keys = {"gold": "goldSG", "gold1SG": "gold1SG", "goldSG1": "goldSG1"}
    for selected, key in keys.items():
        scene.selection = [selected]
        assert [each.key for each in harness.host.selected_materials()] == [key]


def test_a_part_of_a_document_selects_its_material(harness):
    (plate,) = [each for each in harness.host.materials() if each.name == "Plate"]
    harness.maya.selection = [f"{plate.key}%standard_surface1"]
    assert harness.host.selected_materials() == (plate,)
    # an item that a surface shader renders selects the shader
    harness.maya.selection = [
        "|materialXStack1|materialXStackShape1,%document1%Standard_Surface1%standard_surface1"
    ]
    assert [each.name for each in harness.host.selected_materials()] == ["Standard_Surface1"]


def test_intermediate_meshes_are_neither_painted_nor_listed(harness):
    seen = harness.maya.nodes.pop(SHAPE)
    hidden = {**seen, "attributes": {**seen["attributes"], "intermediateObject": True}}
    harness.maya.nodes.update({"|plate|plateShapeOrig": hidden, SHAPE: seen})
    harness.maya.selection = ["|plate"]
    (document,) = [each for each in harness.host.materials() if each.name == "Plate"]
    assert harness.host.meshes(document) == (SHAPE,)
    from verdigris.plugins.maya import actions

    actions.paint()
    assert harness.maya.selection == [SHAPE]
    (message,) = harness.maya.dialogs
    assert message.startswith("Paint. Verdigris > Brush Weight changes the weight")


def test_the_viewport_material_is_found_in_every_current_namespace(harness, tmp_path):
    attach = harness.host.attach
    harness.maya.namespace = "shot"
    attach(harness.first, BakedResult(tmp_path / "a.vdg", flattened(tmp_path)))
    nodes = set(harness.maya.nodes)
    harness.maya.namespace = "prop"
    attach(harness.first, BakedResult(tmp_path / "a.vdg", flattened(tmp_path / "b")))
    assert set(harness.maya.nodes) == nodes
    assert "Standard_Surface1_verdigris" in nodes
    assert harness.maya.connections["Standard_Surface1_verdigrisSG.surfaceShader"] == (
        "Standard_Surface1_verdigris.outColor"
    )


def test_new_files_keep_the_colour_space(harness, tmp_path):
    for folder in (tmp_path, tmp_path / "b"):
        result = BakedResult(folder / "a.vdg", flattened(folder))
        harness.host.attach(harness.first, result)
    spaces = {}
    for kind in flattened(tmp_path):
        file = harness.maya.nodes[f"Standard_Surface1_verdigris_{kind}"]["attributes"]
        assert Path(file["fileTextureName"]).parent == tmp_path / "b"
        spaces[kind] = file["colorSpace"]
    assert spaces == {"base_color": "sRGB", "roughness": "Raw", "metalness": "Raw", "normal": "Raw"}


GLOWS = ("emission", "opacity")


def connections_of(harness, shader):
    made = harness.maya.connections.items()
    return {target: source for target, source in made if target.startswith(f"{shader}.")}


def test_a_viewport_material_loses_emission_and_opacity_with_its_material(harness, tmp_path):
    name = "Standard_Surface1_verdigris"

    def attach(*more):
        result = BakedResult(tmp_path / "a.vdg", flattened(tmp_path, *more))
        harness.host.attach(harness.first, result)

    attach()
    plain, nodes = connections_of(harness, name), set(harness.maya.nodes)
    shader = harness.maya.nodes[name]["attributes"]
    assert harness.maya.value(f"{name}.emission") == 0
    for _ in range(2):
        attach(*GLOWS)
        assert connections_of(harness, name) == {
            **plain,
            f"{name}.emissionColor": f"{name}_emission.outColor",
            f"{name}.opacity": f"{name}_opacity.outColor",
        }
        shader = harness.maya.nodes[name]["attributes"]
        assert shader["emission"] == 1
    for kind, space in zip(GLOWS, ("sRGB", "Raw"), strict=True):
        file = harness.maya.nodes[f"{name}_{kind}"]["attributes"]
        assert Path(file["fileTextureName"]) == tmp_path / f"{kind}.png"
        assert file["colorSpace"] == space
    before = harness.snapshot()
    attach()
    assert connections_of(harness, name) == plain and set(harness.maya.nodes) == nodes
    shader = harness.maya.nodes[name]["attributes"]
    assert (shader["emission"], shader["opacity"]) == (0, (1, 1, 1))
    harness.undo()
    assert harness.snapshot() == before


def test_a_scene_with_missing_plug_ins_is_opened_with_a_warning(harness):
    harness.maya.refuses.add("all of it")
    path = DATA / "stack.ma"
    harness.host.open_scene(path)
    assert [each.name for each in harness.host.materials()][:2] == ["Standard_Surface1", "Plate"]
    warning = harness.host.scene_warnings()[0]
    assert warning.startswith(f"Maya opened {path} with errors: Errors have occurred")
    harness.maya.refuses.clear()
    harness.host.open_scene(path)
    assert not any("with errors" in each for each in harness.host.scene_warnings())


def test_an_unreadable_scene_is_refused_even_if_it_was_open(harness):
    harness.maya.refuses.add("open")
    with pytest.raises(HostError, match=r"Maya cannot open .*stack\.ma: Cannot read the file"):
        harness.host.open_scene(DATA / "stack.ma")
