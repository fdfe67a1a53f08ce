"""Nodes that stand for colour ramps and blend modes, against Cycles."""

import xml.etree.ElementTree as xml

import bpy
import numpy as np
import pytest

from verdigris.plugins.blender.adapter import BlenderHost
from verdigris.plugins.blender.scene.plain_nodes import with_plain_nodes

SIDE = 12
BLENDS = [
    each.identifier for each in bpy.types.ShaderNodeMix.bl_rna.properties["blend_type"].enum_items
]
RAMPS = [
    each.identifier for each in bpy.types.ColorRamp.bl_rna.properties["interpolation"].enum_items
]


@pytest.fixture
def painter(plane):
    """Bakes the emission of a material on the plane with Cycles."""
    scene, image = bpy.context.scene, bpy.data.images.new("baked", SIDE, SIDE, float_buffer=True)
    image.colorspace_settings.name = "Non-Color"
    scene.render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", 1, "CPU"
    scene.render.bake.margin = 0
    holder = plane

    def bake(material):
        holder.data.materials.clear()
        holder.data.materials.append(material)
        node = material.node_tree.nodes.new("ShaderNodeTexImage")
        node.image, material.node_tree.nodes.active = image, node
        bpy.ops.object.select_all(action="DESELECT")
        holder.select_set(True)
        bpy.context.view_layer.objects.active = holder
        bpy.ops.object.bake(type="EMIT")
        material.node_tree.nodes.remove(node)
        return np.array(image.pixels[:]).reshape(SIDE, SIDE, 4)[..., :3]

    yield bake
    bpy.data.images.remove(image)


def emitting(name="shown"):
    """A material that emits what the returned function is given, and two colours by place."""
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    tree = material.node_tree
    tree.nodes.clear()
    emission = tree.nodes.new("ShaderNodeEmission")
    output = tree.nodes.new("ShaderNodeOutputMaterial")
    tree.links.new(emission.outputs[0], output.inputs["Surface"])
    uv = tree.nodes.new("ShaderNodeTexCoord")
    axes = tree.nodes.new("ShaderNodeSeparateXYZ")
    tree.links.new(uv.outputs["UV"], axes.inputs[0])
    colours = []
    for order, rest in (((0, 1), 0.3), ((1, 0), 0.0)):
        joined = tree.nodes.new("ShaderNodeCombineColor")
        for place, axis in enumerate(order):
            tree.links.new(axes.outputs[axis], joined.inputs[place])
        joined.inputs[2].default_value = rest
        colours.append(joined.outputs[0])
    return material, emission.inputs["Color"], axes.outputs[0], colours


def compare(bake, material, most=2e-3):
    expected = bake(material)
    nodes = list(material.node_tree.nodes)
    with with_plain_nodes(material, nodes) as plain:
        assert plain != material
        found = bake(plain)
    assert expected.std() > 0.02
    np.testing.assert_allclose(found, expected, atol=most)


@pytest.mark.parametrize("blend", BLENDS)
def test_blend_modes_are_those_of_cycles(painter, blend):
    # both nodes have the same modes
    kind = "ShaderNodeMixRGB" if blend in ("MIX", "BURN", "OVERLAY") else "ShaderNodeMix"
    material, shown, _, (a, b) = emitting()
    node = material.node_tree.nodes.new(kind)
    node.blend_type = blend
    if kind == "ShaderNodeMix":
        node.data_type = "RGBA"
        node.clamp_result = blend in ("ADD", "DIVIDE")
    share_port, first, second = (each for each in node.inputs if each.enabled)
    share_port.default_value = 0.6
    material.node_tree.links.new(a, first)
    material.node_tree.links.new(b, second)
    made = next(each for each in node.outputs if each.enabled)
    material.node_tree.links.new(made, shown)
    compare(painter, material)


@pytest.mark.parametrize("interpolation", RAMPS)
def test_ramps_are_those_of_cycles(painter, interpolation):
    material, shown, place, _ = emitting()
    node = material.node_tree.nodes.new("ShaderNodeValToRGB")
    ramp = node.color_ramp
    ramp.interpolation = interpolation
    ramp.elements[0].position, ramp.elements[0].color = 0.15, (0.9, 0.1, 0.2, 1)
    ramp.elements[1].position, ramp.elements[1].color = 0.85, (0.1, 0.3, 0.8, 1)
    ramp.elements.new(0.5).color = (0.2, 0.9, 0.1, 0.4)
    material.node_tree.links.new(place, node.inputs[0])
    material.node_tree.links.new(node.outputs[0], shown)
    # Cycles reads a table of 256 colours
    compare(painter, material, 5e-3)


@pytest.mark.parametrize("extend", ["HORIZONTAL", "EXTRAPOLATED"])
@pytest.mark.parametrize("kind", ["RGBCurve", "FloatCurve", "VectorCurve"])
def test_curves_are_those_of_cycles_also_beyond_their_ends(painter, kind, extend):
    material, shown, place, (colour, _) = emitting()
    tree = material.node_tree
    node = tree.nodes.new(f"ShaderNode{kind}")
    node.mapping.extend = extend
    for number, curve in enumerate(node.mapping.curves):
        curve.points[0].location = (0.2, 0.1 * number)
        curve.points[-1].location = (0.8, 0.9 - 0.1 * number)
        curve.points.new(0.4, 0.7)
    node.mapping.update()
    node.inputs[0].default_value = 0.75
    tree.links.new(place if kind == "FloatCurve" else colour, node.inputs[1])
    tree.links.new(node.outputs[0], shown)
    # Cycles reads a table of 256 values
    compare(painter, material, 5e-3)


def test_a_document_has_the_ramp_and_the_blend_also_inside_a_group(harness):
    copper = bpy.data.materials["copper"]
    inner = bpy.data.node_groups.new("blends", "ShaderNodeTree")
    inner.interface.new_socket("Colour", in_out="OUTPUT", socket_type="NodeSocketColor")
    mix = inner.nodes.new("ShaderNodeMix")
    mix.data_type, mix.blend_type = "RGBA", "MULTIPLY"
    noise, ramp = inner.nodes.new("ShaderNodeTexNoise"), inner.nodes.new("ShaderNodeValToRGB")
    inner.links.new(noise.outputs[0], ramp.inputs[0])
    inner.links.new(
        ramp.outputs[0],
        next(each for each in mix.inputs if each.name == "A" and each.type == "RGBA"),
    )
    end = inner.nodes.new("NodeGroupOutput")
    inner.links.new(next(each for each in mix.outputs if each.type == "RGBA"), end.inputs[0])
    group = copper.node_tree.nodes.new("ShaderNodeGroup")
    group.node_tree = inner
    shader = next(each for each in copper.node_tree.nodes if each.type == "BSDF_PRINCIPLED")
    copper.node_tree.links.new(group.outputs[0], shader.inputs["Base Color"])
    before = harness.snapshot()
    host = BlenderHost()
    (material,) = (each for each in host.materials() if each.name == "copper")
    document = host.document(material)
    assert document.material == "copper"
    (note,) = document.notes
    assert "'Noise Texture'" in note and "MaterialX' own noise" in note
    root = xml.fromstring(document.text)
    kinds = {each.tag for each in root.iter()}
    assert {"multiply", "clamp"} <= kinds and "fractal3d" in kinds
    assert harness.snapshot() == before
