"""Nodes that the export leaves out become images, baked by Cycles."""

import bpy
import numpy as np
import pytest

from verdigris.core.base.errors import HostError
from verdigris.plugins.blender.scene import dropped_nodes
from verdigris.plugins.blender.scene.materials import nodes_for_images
from verdigris.plugins.blender.scene.node_graph import load_data

from .conftest import feed, shader_of
from .test_materials import document_of, files_of


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(dropped_nodes, "_SIZE", 16)


def test_one_press_puts_images_in_the_place_of_nodes(harness, registered, small):
    copper = bpy.data.materials["copper"]
    tree = copper.node_tree
    wave = feed(copper, "Base Color", "ShaderNodeTexMagic")
    uv = tree.nodes.new("ShaderNodeTexCoord")
    tree.links.new(uv.outputs["UV"], wave.inputs["Vector"])
    geometry = tree.nodes.new("ShaderNodeNewGeometry")
    tree.links.new(geometry.outputs["Backfacing"], shader_of(copper).inputs["Roughness"])
    assert {each.name for each in nodes_for_images(copper)} == {wave.name, geometry.name}
    assert any("Left-Out Nodes to Images" in note for note in document_of("copper").notes)
    counts = [len(each) for each in (bpy.data.scenes, bpy.data.objects, bpy.data.meshes)]
    with bpy.context.temp_override(material=copper):
        assert bpy.ops.verdigris.bake_nodes() == {"FINISHED"}
    assert [len(each) for each in (bpy.data.scenes, bpy.data.objects, bpy.data.meshes)] == counts
    assert nodes_for_images(copper) == []
    document = document_of("copper")
    assert document.notes == ()
    assert len(files_of(document)) == 2
    readers = {
        node.label.partition(":")[0]: node for node in tree.nodes if node.type == "TEX_IMAGE"
    }
    pixels = {name: np.array(node.image.pixels[:]).reshape(-1, 4) for name, node in readers.items()}
    assert pixels["Magic Texture"][:, :3].std() > 0.05
    # nothing faces away
    np.testing.assert_array_equal(pixels["Geometry"][:, 0], 0)


def test_the_image_has_what_a_node_gives_at_each_uv(harness, small, tmp_path):
    """The power of a vector, which the export drops, in closed form."""
    copper = bpy.data.materials["copper"]
    tree = copper.node_tree
    power = feed(copper, "Base Color", "ShaderNodeVectorMath")
    power.operation = "POWER"
    uv = tree.nodes.new("ShaderNodeTexCoord")
    tree.links.new(uv.outputs["UV"], power.inputs[0])
    power.inputs[1].default_value = (2.0, 3.0, 1.0)
    (file,) = dropped_nodes.bake_to_images(copper, nodes_for_images(copper), tmp_path)
    image = load_data(file)
    found = np.array(image.pixels[:]).reshape(16, 16, 4)
    u = (np.arange(16) + 0.5) / 16
    np.testing.assert_allclose(found[..., 0], np.tile(u**2, (16, 1)), atol=0.03)
    np.testing.assert_allclose(found[..., 1], np.tile((u**3)[:, None], (1, 16)), atol=0.04)


def test_a_material_that_loses_nothing_is_left_alone(harness, tmp_path):
    with pytest.raises(HostError, match="no node outside of groups is left out"):
        dropped_nodes.bake_to_images(bpy.data.materials["copper"], [], tmp_path)
