"""Displacement of Blender's materials, against heights in closed form."""

import xml.etree.ElementTree as xml

import bpy
import numpy as np
import pytest

from verdigris.core.hosts.host import BakedResult
from verdigris.core.material.load.displaced import height_document
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe_material
from verdigris.plugins.blender.adapter import BlenderHost
from verdigris.plugins.blender.scene.results import find_look, note_result

from .conftest import new_image

UV = np.array([0.2, 0.7])


@pytest.fixture
def copper(harness):
    return bpy.data.materials["copper"]


def add(tree, kind, inputs=(), **settings):
    node = tree.nodes.new(f"ShaderNode{kind}")
    for name, value in settings.items():
        setattr(node, name, value)
    for port, value in dict(inputs).items():
        if isinstance(value, bpy.types.NodeSocket):
            tree.links.new(value, node.inputs[port])
        else:
            node.inputs[port].default_value = value
    return node


def displace(material, socket):
    output = material.node_tree.get_output_node("ALL")
    material.node_tree.links.new(socket, output.inputs["Displacement"])


def place(tree):
    """The sockets of u and v."""
    axes = add(tree, "SeparateXYZ", {0: add(tree, "TexCoord").outputs["UV"]})
    return axes.outputs[:2]


def read():
    """The document of copper, and its loaded form."""
    host = BlenderHost()
    found = host.document(host.materials()[0])
    loaded = parse_document(found.text, found.search, found.name)
    material = loaded.require_material(found.material)
    loaded.check(material)
    return found, loaded, material


def displacement_at(text, uv=UV):
    """The displacement that a document has at a place."""
    root = xml.fromstring(text)
    (node,) = root.findall("displacement")
    port = node.find("input[@name='displacement']")
    return Reader(root, uv).port(root, port)


class Reader:
    """Evaluates the few categories of nodes that these tests make."""

    def __init__(self, root, uv):
        self.root, self.uv = root, uv

    def port(self, scope, port):
        if port.get("nodegraph"):
            scope = self.root.find(f"nodegraph[@name='{port.get('nodegraph')}']")
            port = scope.find(f"output[@name='{port.get('output')}']")
        if port.get("value") is not None:
            numbers = np.array([float(each) for each in port.get("value").split(",")])
            return numbers if len(numbers) > 1 else numbers[0]
        (node,) = (each for each in scope if each.get("name") == port.get("nodename"))
        return self.node(scope, node)

    def node(self, scope, node):
        given = {each.get("name"): self.port(scope, each) for each in node.findall("input")}
        kind = node.tag
        if kind == "texcoord":
            return self.uv
        if kind in ("convert", "dot"):
            wide = {"vector2": 2, "vector3": 3, "color3": 3}.get(node.get("type"))
            value = np.atleast_1d(given["in"])
            value = np.pad(value, (0, max(0, (wide or 1) - len(value))), mode="constant")
            return value[:wide] if wide else value[0]
        if kind in ("extract", "separate3"):
            return given["in"][int(given["index"])]
        if kind.startswith("combine"):
            return np.array([given[f"in{number + 1}"] for number in range(len(given))])
        if kind == "mix":
            return given["bg"] + (given["fg"] - given["bg"]) * given["mix"]
        of = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
        return of[kind](given["in1"], given["in2"])


@pytest.mark.parametrize(("middle", "scale"), [(0.5, 1.0), (0.25, 0.04), (0.0, -2.0)])
def test_heights_are_those_of_the_displacement_node(copper, middle, scale):
    """Cycles: (Height - Midlevel) Scale along the normal."""
    tree = copper.node_tree
    u, _ = place(tree)
    node = add(tree, "Displacement", {"Height": u, "Midlevel": middle, "Scale": scale})
    displace(copper, node.outputs[0])
    before = len(bpy.data.materials), len(bpy.data.meshes), len(tree.nodes), len(tree.links)
    found, loaded, material = read()
    assert displacement_at(found.text) == pytest.approx((UV[0] - middle) * scale, abs=1e-6)
    assert found.notes == () and height_document(loaded, material) is not None
    after = len(bpy.data.materials), len(bpy.data.meshes), len(tree.nodes), len(tree.links)
    assert before == after


def test_an_object_that_scales_its_displacement_is_named(copper, plane):
    u, _ = place(copper.node_tree)
    node = add(copper.node_tree, "Displacement", {"Height": u})
    displace(copper, node.outputs[0])
    plane.scale = (2, 2, 0.5)
    bpy.context.view_layer.update()
    (note,) = read()[0].notes
    assert note.startswith("plane is scaled by 2 x 2 x 0.5, which scales its displacement, and")
    node.space = "WORLD"
    assert read()[0].notes == ()


def test_a_constant_height_is_one(copper):
    node = add(copper.node_tree, "Displacement", {"Height": 0.75, "Midlevel": 0.5, "Scale": 2.0})
    displace(copper, node.outputs[0])
    assert displacement_at(read()[0].text) == pytest.approx(0.5)


def test_displacements_are_mixed_added_and_scaled_in_groups_too(copper):
    """A group with a displacement of its own, mixed with another and scaled: a linear function."""
    tree, inner = copper.node_tree, bpy.data.node_groups.new("bumps", "ShaderNodeTree")
    inner.interface.new_socket("Height", in_out="INPUT", socket_type="NodeSocketFloat")
    inner.interface.new_socket("Moved", in_out="OUTPUT", socket_type="NodeSocketVector")
    start, end = inner.nodes.new("NodeGroupInput"), inner.nodes.new("NodeGroupOutput")
    own = add(inner, "Displacement", {"Height": start.outputs[0], "Midlevel": 0.0, "Scale": 3.0})
    inner.links.new(own.outputs[0], end.inputs[0])
    u, v = place(tree)
    group = tree.nodes.new("ShaderNodeGroup")
    group.node_tree = inner
    tree.links.new(u, group.inputs[0])
    other = add(tree, "Displacement", {"Height": v, "Midlevel": 0.5, "Scale": 1.0})
    mixed = add(tree, "Mix", data_type="VECTOR")
    mixed.inputs[0].default_value = 0.25
    vectors = [each for each in mixed.inputs if each.enabled and each.type == "VECTOR"]
    tree.links.new(group.outputs[0], vectors[0])
    tree.links.new(other.outputs[0], vectors[1])
    made = next(each for each in mixed.outputs if each.enabled)
    scaled = add(tree, "VectorMath", {"Vector": made, "Scale": 0.1}, operation="SCALE")
    displace(copper, scaled.outputs[0])
    wanted = 0.1 * (0.75 * 3 * UV[0] + 0.25 * (UV[1] - 0.5))
    assert displacement_at(read()[0].text) == pytest.approx(wanted, abs=1e-6)


def test_vectors_in_tangent_space_keep_their_part_along_the_normal(copper):
    """Blender's manual: red is along the tangent, green along the normal, blue the bitangent."""
    tree = copper.node_tree
    u, v = place(tree)
    colour = add(tree, "CombineColor", {0: u, 1: v, 2: 0.1})
    node = add(tree, "VectorDisplacement", {0: colour.outputs[0], "Midlevel": 0.2, "Scale": 0.5})
    displace(copper, node.outputs[0])
    found, loaded, material = read()
    wanted = 0.5 * (np.array([UV[0], 0.1, UV[1]]) - 0.2)
    np.testing.assert_allclose(displacement_at(found.text), wanted, atol=1e-6)
    parts = describe_material(loaded, material, probe=False).parts
    (fate,) = (each.fate for each in parts if each.name == "displacement")
    assert fate == "approximated"


def test_what_is_no_displacement_along_the_normal_is_named(copper):
    tree = copper.node_tree
    u, _ = place(tree)
    image = add(tree, "TexImage", image=bpy.data.images.new("flat", 8, 8))
    displace(copper, image.outputs["Color"])
    lost = "displacement of copper is left out: "
    (note,) = (each for each in read()[0].notes if each.startswith(lost))
    assert note.endswith(
        "'Image Texture' (Image Texture) feeds it without a Displacement node: add one"
    )
    node = add(tree, "VectorDisplacement", space="OBJECT")
    displace(copper, node.outputs[0])
    assert f"{lost}the vectors of 'Vector Displacement' are in Object Space: use Tangent Space" in (
        read()[0].notes
    )
    node.mute = True
    assert not any("displacement" in each for each in read()[0].notes)
    bump = add(tree, "NewGeometry")
    node = add(tree, "Displacement", {"Height": u, "Normal": bump.outputs["Normal"]})
    displace(copper, node.outputs[0])
    found = read()[0]
    assert any("its input 'Normal' is left out" in each for each in found.notes)
    assert "<displacement " in found.text


def test_nodes_and_images_of_the_displacement_arrive_or_are_named(copper, tmp_path):
    tree = copper.node_tree
    image = bpy.data.images.new("heights", 8, 8)
    image.colorspace_settings.name = "Non-Color"
    texture = add(tree, "TexImage", image=image)
    node = add(tree, "Displacement", {"Height": texture.outputs["Color"]})
    displace(copper, node.outputs[0])
    found, loaded, material = read()
    # an image in memory is written beside the scene
    assert any(each.startswith("heights: not in a file of its own") for each in found.notes)
    other, emitting = height_document(loaded, material)
    files = [
        each.getValueString()
        for node in other.nodes_of(emitting)
        for each in node.getInputs()
        if each.getType() == "filename"
    ]
    assert len(files) == 1 and "heights" in files[0]
    cells = add(tree, "TexVoronoi")
    tree.links.new(cells.outputs["Distance"], node.inputs["Height"])
    assert any("'Voronoi Texture'" in each for each in read()[0].notes)


def test_the_baked_look_displaces_as_the_material_does(copper, tmp_path):
    u, _ = place(copper.node_tree)
    node = add(copper.node_tree, "Displacement", {"Height": u, "Scale": 0.25})
    displace(copper, node.outputs[0])
    copper.displacement_method, copper["own"] = "BOTH", 3
    new_image("base", tmp_path / "base.png")
    for _ in range(2):
        note_result(copper, BakedResult(tmp_path / "a.vdg", {"base_color": tmp_path / "base.png"}))
        look = find_look(copper)
        output = look.node_tree.get_output_node("ALL")
        moving = output.inputs["Displacement"].links[0].from_node
        assert moving.inputs["Scale"].default_value == 0.25 and moving.inputs[0].is_linked
        assert output.inputs["Surface"].links[0].from_node.type == "BSDF_PRINCIPLED"
        assert look.displacement_method == "BOTH" and "own" not in look
        kinds = sorted(each.type for each in look.node_tree.nodes)
        assert kinds == [
            *("BSDF_PRINCIPLED", "DISPLACEMENT", "OUTPUT_MATERIAL", "SEPXYZ", "TEX_COORD"),
            "TEX_IMAGE",
        ]
