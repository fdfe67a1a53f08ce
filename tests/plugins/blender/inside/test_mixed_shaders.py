"""Opacity and transmission of mixed shaders, which Blender's export gets wrong."""

import xml.etree.ElementTree as xml

import bpy
import pytest

from verdigris.plugins.blender.adapter import BlenderHost

from .conftest import shader_of
from .test_displacement import Reader, add, place

UV = (0.2, 0.7)


@pytest.fixture
def copper(harness):
    return bpy.data.materials["copper"]


def show(material, socket):
    output = material.node_tree.get_output_node("ALL")
    material.node_tree.links.new(socket, output.inputs["Surface"])


def mix(tree, share, one, other):
    return add(tree, "MixShader", {0: share, 1: one, 2: other}).outputs[0]


def read():
    host = BlenderHost()
    return xml.fromstring(host.document(host.materials()[0]).text)


def opacity_of(root):
    (surface,) = (each for each in root if each.get("type") == "surfaceshader")
    name = "geometry_opacity" if surface.tag == "open_pbr_surface" else "opacity"
    port = surface.find(f"input[@name='{name}']")
    return 1.0 if port is None else Reader(root, UV).port(root, port)


def test_a_leaf_of_two_shaders_is_opaque(copper):
    tree, principled = copper.node_tree, shader_of(copper).outputs[0]
    leaf = mix(tree, 0.5, add(tree, "BsdfTranslucent").outputs[0], principled)
    show(copper, leaf)
    assert opacity_of(read()) == pytest.approx(1)
    # with holes where u is below: opacity is the share of the leaf
    u, _ = place(tree)
    show(copper, mix(tree, u, add(tree, "BsdfTransparent").outputs[0], leaf))
    root = read()
    assert opacity_of(root) == pytest.approx(UV[0])
    assert root.find(".//translucent_bsdf") is not None
    # no reflection stands for what is behind the holes
    assert len(root.findall(".//oren_nayar_diffuse_bsdf")) == 1


def test_alpha_of_a_mixed_shader_counts_by_its_share(copper):
    tree, (u, _) = copper.node_tree, place(copper.node_tree)
    tree.links.new(u, shader_of(copper).inputs["Alpha"])
    other = add(tree, "BsdfDiffuse").outputs[0]
    show(copper, mix(tree, 0.25, shader_of(copper).outputs[0], other))
    assert opacity_of(read()) == pytest.approx(0.75 * UV[0] + 0.25)


def test_a_shader_with_holes_is_exported_as_if_alone(copper):
    """Also its transmission: alone, it is an OpenPBR surface."""
    tree, principled = copper.node_tree, shader_of(copper)
    principled.inputs["Transmission Weight"].default_value = 0.5
    before = len(tree.nodes), len(tree.links)
    hole = add(tree, "BsdfTransparent").outputs[0]
    show(copper, mix(tree, 0.75, hole, principled.outputs[0]))
    root = read()
    assert opacity_of(root) == pytest.approx(0.75)
    weight = root.find(".//open_pbr_surface/input[@name='transmission_weight']")
    assert float(weight.get("value")) == 0.5
    assert (len(tree.nodes), len(tree.links)) == (before[0] + 2, before[1] + 2)


def test_transmission_of_a_mixed_shader_is_glass(copper):
    tree, principled = copper.node_tree, shader_of(copper)
    principled.inputs["Transmission Weight"].default_value = 1.0
    principled.inputs["Metallic"].default_value = 0.0
    other = add(tree, "BsdfDiffuse").outputs[0]
    show(copper, mix(tree, 0.25, principled.outputs[0], other))
    root = read()
    lobes = root.findall(".//dielectric_bsdf/input[@name='scatter_mode']")
    assert [each.get("value") for each in lobes].count("RT") == 1
    assert opacity_of(root) == pytest.approx(1)
    assert principled.inputs["Transmission Weight"].default_value == 1.0


def test_a_mix_in_a_group_is_named(copper):
    inner = bpy.data.node_groups.new("leaf", "ShaderNodeTree")
    inner.interface.new_socket("Shader", in_out="OUTPUT", socket_type="NodeSocketShader")
    end = inner.nodes.new("NodeGroupOutput")
    one, other = (add(inner, f"Bsdf{each}").outputs[0] for each in ("Translucent", "Principled"))
    inner.links.new(mix(inner, 0.5, one, other), end.inputs[0])
    group = copper.node_tree.nodes.new("ShaderNodeGroup")
    group.node_tree = inner
    show(copper, group.outputs[0])
    host = BlenderHost()
    (note,) = host.document(host.materials()[0]).notes
    assert note.startswith("'Group' has shaders that are mixed") and note.endswith("ungroup it")
