"""Live inputs of Blender's materials, through its real export."""

import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import bpy
import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.material.live_inputs.find_inputs import find_live_inputs, published_inputs
from verdigris.core.material.live_inputs.live_input import parse_wanted
from verdigris.core.material.live_inputs.open_inputs import reach_of_published
from verdigris.core.material.load.displaced import height_document
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.worker.client.client import WorkerClient
from verdigris.plugins.blender import bake_job, operators, panels
from verdigris.plugins.blender.scene.live_inputs import is_chosen, offers, toggle
from verdigris.plugins.blender.scene.materials import live_offers
from verdigris.plugins.common.batch.arguments import BatchOptions
from verdigris.plugins.common.batch.materials import _command

from .conftest import feed, new_image, shader_of
from .test_materials import document_of, files_of, input_of

SCRIPT = Path(__file__).parent / "scripted_worker.py"
pytestmark = pytest.mark.usefixtures("registered")


@pytest.fixture
def rusty(harness):
    """The material copper with a group, whose wetness mixes two colours, and a labelled value."""
    copper = bpy.data.materials["copper"]
    tree = copper.node_tree
    group = bpy.data.node_groups.new("Rust", "ShaderNodeTree")
    wet = group.interface.new_socket("Wet ness", in_out="INPUT", socket_type="NodeSocketFloat")
    wet.default_value, wet.min_value, wet.max_value = 0.25, 0.0, 2.0
    tint = group.interface.new_socket("Tint", in_out="INPUT", socket_type="NodeSocketColor")
    tint.default_value = (0.1, 0.2, 0.3, 1)
    group.interface.new_socket("Wetter", in_out="OUTPUT", socket_type="NodeSocketFloat")
    group.interface.new_socket("Colour", in_out="OUTPUT", socket_type="NodeSocketColor")
    inner, outer = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    mix = group.nodes.new("ShaderNodeMix")
    mix.data_type = "RGBA"
    group.links.new(inner.outputs["Wet ness"], mix.inputs[0])
    group.links.new(inner.outputs["Tint"], mix.inputs[6])
    group.links.new(inner.outputs["Wet ness"], outer.inputs["Wetter"])
    group.links.new(mix.outputs[2], outer.inputs["Colour"])
    node = tree.nodes.new("ShaderNodeGroup")
    node.node_tree = group
    shader = shader_of(copper)
    tree.links.new(node.outputs["Colour"], shader.inputs["Base Color"])
    tree.links.new(node.outputs["Wetter"], shader.inputs["Coat Weight"])
    gloss = feed(copper, "Roughness", "ShaderNodeValue")
    gloss.label = "Gloss"
    gloss.outputs[0].default_value = 0.75
    return copper


def choose(material, *names):
    for each in live_offers(material):
        if each.name in names:
            toggle(material, each)


def test_sockets_of_groups_and_labelled_values_are_offered_with_their_ranges(rusty):
    found = {each.name: (each.label, each.low, each.high) for each in live_offers(rusty)}
    assert found["Wet_ness"] == ("Wet ness", (0.0,), (2.0,))
    assert found["Gloss"] == ("Gloss", (0.0,), (1.0,))
    _, low, high = found["Tint"]
    assert low == pytest.approx((0.1, 0.2, 0.3)) and high == (1.0, 1.0, 1.0)
    # linked sockets, and values without a label, are no controls
    rusty.node_tree.nodes["Value"].label = ""
    value = rusty.node_tree.nodes["Value"].outputs[0]
    group = next(node for node in rusty.node_tree.nodes if node.type == "GROUP")
    rusty.node_tree.links.new(value, group.inputs["Wet ness"])
    assert [each.name for each in live_offers(rusty)] == ["Tint"]


def test_a_live_input_may_drive_heights_and_opacity_too(rusty):
    tree = rusty.node_tree
    group = next(node for node in tree.nodes if node.type == "GROUP")
    lift, output = tree.nodes.new("ShaderNodeDisplacement"), tree.get_output_node("ALL")
    tree.links.new(group.outputs["Wetter"], lift.inputs["Height"])
    tree.links.new(lift.outputs[0], output.inputs["Displacement"])
    mix, hole = tree.nodes.new("ShaderNodeMixShader"), tree.nodes.new("ShaderNodeBsdfTransparent")
    tree.links.new(tree.nodes["Value"].outputs[0], mix.inputs[0])
    tree.links.new(hole.outputs[0], mix.inputs[1])
    tree.links.new(shader_of(rusty).outputs[0], mix.inputs[2])
    tree.links.new(mix.outputs[0], output.inputs["Surface"])
    choose(rusty, "Wet_ness", "Gloss")
    found = document_of("copper")
    loaded = parse_document(found.text, found.search)
    material = loaded.require_material(found.material)
    loaded.check(material)
    assert {"Wet_ness", "Gloss"} <= set(published_inputs(loaded, material))
    assert "image" not in found.text
    other, emitting = height_document(loaded, material)
    other.check(emitting)


def test_names_that_others_have_with_a_number_are_left_to_them(rusty):
    tree = rusty.node_tree
    group = next(node for node in tree.nodes if node.type == "GROUP")
    twin = tree.nodes.new("ShaderNodeGroup")
    twin.node_tree, twin.label, group.label = group.node_tree, "X", "X"
    value = tree.nodes.new("ShaderNodeValue")
    value.name, value.label = "A", "X_Tint_4"
    tree.nodes["Value"].label = ""
    names = [each.name for each in offers(tree.nodes, tree)]
    assert names == ["X_Tint_4", "X_Wet_ness", "X_Tint", "X_Wet_ness_3", "X_Tint_5"]


def test_without_a_choice_the_document_is_as_before(rusty):
    document = document_of("copper")
    assert document.live == ()
    assert "publishedas" not in document.text
    # Blender 4 writes a group as a graph, and no constant
    is_constant = bpy.app.version >= (5, 0, 0)
    assert input_of(document, "specular_roughness") == ("0.75" if is_constant else None)


def test_chosen_inputs_reach_what_they_feed_and_the_scene_stays(rusty, harness):
    choose(rusty, "Wet_ness", "Tint", "Gloss")
    before = harness.snapshot()
    document = document_of("copper")
    assert harness.snapshot() == before
    assert document.material == "copper" and files_of(document) == []
    assert document.live == ("Wet_ness=0..2", "Tint=0.1,0.2,0.3..1,1,1", "Gloss=0..1")
    loaded = parse_document(document.text, document.search, document.name)
    material = loaded.require_material(document.material)
    loaded.check(material)
    known = published_inputs(loaded, material)
    assert (known["Wet_ness"].label, known["Wet_ness"].value) == ("Wet ness", (0.25,))
    found = find_live_inputs(loaded, material, [parse_wanted(text) for text in document.live])
    assert [each.value_of(each.default) for each in found] == pytest.approx([0.25, 0, 0.75])
    reached = {each.name: set(each.inputs) for each in reach_of_published(loaded, material)}
    assert reached["Gloss"] == {"specular_roughness"}
    assert {"base_color", "coat_weight"} <= reached["Wet_ness"]
    assert "base_color" in reached["Tint"] and "coat_weight" not in reached["Tint"]


def test_images_in_memory_are_written_without_those_that_carry_inputs(rusty):
    feed(rusty, "Metallic", "ShaderNodeTexImage").image = new_image("mask")
    choose(rusty, "Gloss")
    document = document_of("copper")
    (written,) = files_of(document)
    assert Path(written).is_file()
    assert not [*Path(written).parent.rglob("*live_input*")]
    assert parse_document(document.text, document.search, document.name)


def test_two_groups_with_one_socket_name_are_told_apart(rusty):
    group = next(node for node in rusty.node_tree.nodes if node.type == "GROUP")
    other = rusty.node_tree.nodes.new("ShaderNodeGroup")
    other.node_tree, other.label = group.node_tree, "Moss"
    rusty.node_tree.links.new(other.outputs["Wetter"], shader_of(rusty).inputs["Sheen Weight"])
    names = [each.name for each in live_offers(rusty)]
    assert len(set(names)) == len(names) == 5
    assert "Moss_Wet_ness" in names and "Group_Wet_ness" in names


def test_a_choice_whose_socket_is_gone_is_noted_and_left_out(rusty):
    choose(rusty, "Gloss")
    rusty.node_tree.nodes["Value"].label = "Shine"
    document = document_of("copper")
    assert document.live == ()
    assert any("'Gloss' is no longer in the nodes" in note for note in document.notes)


def test_a_property_that_is_no_number_is_an_error(rusty):
    choose(rusty, "Gloss")
    rusty["verdigris_low Gloss"] = "none"
    with pytest.raises(HostError, match="'verdigris_low Gloss' is 'none': switch the live input"):
        document_of("copper")


def test_the_operator_chooses_is_undone_and_names_what_is_there(rusty):
    bpy.ops.ed.undo_push(message="made")
    assert bpy.ops.verdigris.live_input(name="Gloss") == {"FINISHED"}
    assert rusty["verdigris_high Gloss"] == 1.0
    bpy.ops.ed.undo()
    copper = bpy.data.materials["copper"]
    assert "verdigris_high Gloss" not in copper
    bpy.ops.verdigris.live_input(name="Gloss")
    bpy.ops.verdigris.live_input(name="Gloss")
    assert "verdigris_high Gloss" not in bpy.data.materials["copper"]
    with pytest.raises(RuntimeError, match=r"copper has no input 'Dust': it has Wet_ness"):
        bpy.ops.verdigris.live_input(name="Dust")


def test_the_worker_and_the_batch_program_get_the_requests(rusty, tmp_path, monkeypatch):
    choose(rusty, "Gloss")
    rusty["verdigris_low Gloss"] = 0.5
    command = [sys.executable, str(SCRIPT), "bakes", str(tmp_path / "commands.jsonl")]
    monkeypatch.setattr(
        operators,
        "BakeJob",
        lambda *values: bake_job.BakeJob(*values, make_client=lambda: WorkerClient(command)),
    )
    assert bpy.ops.verdigris.bake() == {"FINISHED"}
    assert '"live": ["Gloss=0.5..1"]' in (tmp_path / "commands.jsonl").read_text()
    words = _command(Path("a.mtlx"), None, document_of("copper"), "a", BatchOptions(), "python")
    assert words[words.index("--live") + 1] == "Gloss=0.5..1"


def test_panels_draw_the_ranges_of_chosen_inputs(rusty):
    choose(rusty, "Tint")

    class Layout:
        """Notes what is drawn, and refuses properties that are not there."""

        def __init__(self):
            self.drawn = []

        def column(self, align=False):
            return self

        row = column

        def label(self, text):
            self.drawn.append(text)

        def operator(self, name, text, depress):
            assert hasattr(bpy.types, "VERDIGRIS_OT_live_input") and name == "verdigris.live_input"
            self.drawn.append((text, depress))
            return self

        def prop(self, item, path, text):
            item.path_resolve(path)
            self.drawn.append(text)

    panel = type("Drawn", (), {"layout": Layout()})()
    panels._Panel._draw_live_inputs(panel, rusty)
    assert ("Tint", True) in panel.layout.drawn and ("Gloss", False) in panel.layout.drawn
    assert panel.layout.drawn.count("From") == 1


def test_images_on_disk_stay_where_they_are(rusty, tmp_path):
    file = tmp_path / "rust.png"
    feed(rusty, "Metallic", "ShaderNodeTexImage").image = new_image("rust", file)
    choose(rusty, "Gloss")
    document = document_of("copper")
    assert files_of(document) == [str(file)] and file.parent in document.search
    assert xml.fromstring(document.text).find("surfacematerial").get("name") == "copper"
    assert [each.name for each in live_offers(rusty) if is_chosen(rusty, each)] == ["Gloss"]
