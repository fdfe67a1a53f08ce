"""What Blender's export loses of nodes, measured: each setting and input is changed, and the export
repeated. A change that does not arrive must be named."""

from itertools import count
from pathlib import Path

import bpy
import pytest

from verdigris.plugins.blender.adapter import BlenderHost
from verdigris.plugins.blender.scene.export import scene_of
from verdigris.plugins.blender.scene.export_losses import CHANGES, DROPPED_PARTS, READ, loss_notes
from verdigris.plugins.blender.scene.plain_nodes import is_replaced

from .conftest import new_image, new_material, shader_of

MARK = (0.125, 0.25, 0.5, 1)
# Operations and blend modes have tests of their own.
MANY = 12
SURFACE = "outputs:mtlx:surface.connect"
CONSTANT_COLOUR = "inputs:base_color = "
MARKED = f"{CONSTANT_COLOUR}{MARK[:3]}"
NUMBERS = ("RGBA", "VALUE", "VECTOR")
OWN = {each.identifier for each in bpy.types.ShaderNode.bl_rna.properties}
# Constants in Blender, too.
CONSTANT = {"ShaderNodeNormal", "ShaderNodeRGB", "ShaderNodeValue"}
# The export has the index of refraction, and a transparent surface, in their place.
UNSEEN = {"ShaderNodeFresnel", "ShaderNodeBsdfRayPortal"}
# What changes nothing that a bake has: quality of renderers, sockets that only sort a list, and the
# instance that carries a mesh.
WITHOUT_EFFECT = {
    ("ShaderNodeBsdfPrincipled", "distribution"),
    ("ShaderNodeBsdfPrincipled", "subsurface_method"),
    ("ShaderNodeBump", "Filter Width"),
    ("ShaderNodeTexCoord", "from_instancer"),
    ("ShaderNodeUVMap", "from_instancer"),
    # without a skin, it has neither
    ("ShaderNodeSubsurfaceScattering", "IOR"),
    ("ShaderNodeSubsurfaceScattering", "Roughness"),
    # for tangents around an axis, which are named
    ("ShaderNodeTangent", "axis"),
    # of vectors and colours, not of the number that the default mixes
    ("ShaderNodeMix", "clamp_result"),
    ("ShaderNodeMix", "factor_mode"),
    # of its other output
    ("ShaderNodeNormal", "Normal"),
    # those of waves without distortion
    ("ShaderNodeTexWave", "Detail"),
    ("ShaderNodeTexWave", "Detail Roughness"),
}


@pytest.fixture
def bench(plane, tmp_path):
    """A material, its tree, and a function with the text of its surface in Blender's export."""
    material = new_material("bench")
    plane.data.materials[0] = material
    counter = count()

    def text():
        # USD keeps layers by their names
        file = tmp_path / f"{next(counter)}.usda"
        with (
            scene_of(material) as (scene, layer),
            bpy.context.temp_override(scene=scene, view_layer=layer),
        ):
            bpy.ops.wm.usd_export(
                filepath=str(file),
                generate_materialx_network=True,
                generate_preview_surface=False,
                convert_world_material=False,
                export_textures_mode="KEEP",
            )
        found = file.read_text(encoding="utf-8")
        return found[found.index("def Material") :].partition("def DomeLight")[0]

    return material, material.node_tree, text


def kinds():
    """The types of nodes that a shader tree can have, beside those of volumes and hair."""
    tree = bpy.data.materials["bench"].node_tree
    for kind in dir(bpy.types):
        if kind.startswith("ShaderNode"):
            try:
                node = tree.nodes.new(kind)
            except RuntimeError:
                continue
            yield node
            tree.nodes.remove(node)


def use(material, node):
    """Connects the first output of a node. Returns it, or None if it has none that is shown."""
    tree = material.node_tree
    shown = [each for each in node.outputs if each.enabled and each.type in (*NUMBERS, "SHADER")]
    if not shown:
        return None
    if shown[0].type == "SHADER":
        tree.links.new(shown[0], tree.get_output_node("ALL").inputs["Surface"])
    else:
        output = tree.get_output_node("ALL").inputs["Surface"]
        tree.links.new(shader_of(material).outputs[0], output)
        tree.links.new(shown[0], shader_of(material).inputs["Base Color"])
    return shown[0]


def feed_all(tree, node):
    """Connects each shown input of a node with noise of its own, or a shader."""
    for number, port in enumerate(node.inputs):
        if not port.enabled or port.is_linked or port.type not in (*NUMBERS, "SHADER"):
            continue
        name = f"feed {number} {port.type}"
        source = tree.nodes.get(name)
        if source is None:
            is_shader = port.type == "SHADER"
            kind = "ShaderNodeBsdfDiffuse" if is_shader else "ShaderNodeTexNoise"
            source = tree.nodes.new(kind)
            source.name = name
            if not is_shader:
                source.inputs["Scale"].default_value = 3 + number
        tree.links.new(source.outputs[0], port)


def test_what_does_not_arrive_is_named(bench, tmp_path):
    material, tree, text = bench
    image = new_image("tile", tmp_path / "tile.png")
    lost, named, seen = set(), set(), 0
    for node in kinds():
        kind = node.bl_idname
        output = use(material, node)
        if output is None or kind not in READ or is_replaced(node):
            continue
        if kind == "ShaderNodeTexImage":
            node.image = image
        feed_all(tree, node)
        fed, seen, is_named_before = text(), seen + 1, any(loss_notes(node))

        def measure(what, before=fed, kind=kind, node=node, is_named=is_named_before):
            if text() == before and (kind, what) not in WITHOUT_EFFECT:
                lost.add((kind, what))
                named.update({(kind, what)} if is_named or any(loss_notes(node)) else set())

        for setting in node.bl_rna.properties:
            name, was = setting.identifier, getattr(node, setting.identifier)
            if name in OWN or setting.is_readonly or setting.type not in ("ENUM", "BOOLEAN"):
                continue
            is_switch = setting.type == "BOOLEAN"
            values = [not was] if is_switch else [each.identifier for each in setting.enum_items]
            for value in values if len(values) < MANY else ():
                if value == was:
                    continue
                try:
                    setattr(node, name, value)
                except TypeError:
                    continue
                if use(material, node) is not None and not is_replaced(node):
                    feed_all(tree, node)
                    measure(name)
                setattr(node, name, was)
            use(material, node)
        for port in node.inputs:
            if not port.enabled or port.type not in NUMBERS:
                continue
            for link in list(port.links):
                tree.links.remove(link)
            if port.type == "VALUE":
                port.default_value = 0.37
            measure(port.name)
            feed_all(tree, node)
    assert seen > 40
    assert not lost - named, sorted(lost - named)
    # and the table names nothing that arrives
    changed = {kind for kind, each in CHANGES.items() if not (each.outputs or each.always)}
    unseen = changed - {kind for kind, _ in lost}
    # with a place of their own, or with spaces that arrive as one
    assert unseen <= {"ShaderNodeTexChecker", "ShaderNodeTexGradient", "ShaderNodeNormalMap"}


def test_the_list_of_nodes_that_arrive_is_that_of_this_blender(bench):
    """Feeds the surface or the base colour from each type of node. It has not arrived if the value
    behind it is left, if noise before it is lost, or if the export has no material."""
    material, tree, text = bench
    shader_of(material).inputs["Base Color"].default_value = MARK
    found = set()
    assert MARKED in text()
    for node in kinds():
        output = use(material, node)
        if output is None:
            continue
        kind = node.bl_idname
        if kind == "ShaderNodeTexImage" or is_replaced(node):
            found.add(kind)
            continue
        alone = text()
        feed_all(tree, node)
        fed = text()
        if output.type == "SHADER":
            arrives = SURFACE in fed
        else:
            arrives = MARKED not in alone and (CONSTANT_COLOUR not in fed or kind in CONSTANT)
        found.update({kind} if arrives and kind not in UNSEEN else set())
    listed = {each for each in READ if hasattr(bpy.types, each) and each.startswith("ShaderNode")}
    listed -= {"ShaderNodeGroup"}
    assert found == listed, (sorted(found - listed), sorted(listed - found))


def test_the_list_of_dropped_outputs_is_that_of_this_blender(bench):
    material, tree, text = bench
    for kind, parts in DROPPED_PARTS.items():
        node = tree.nodes.new(kind)
        feed_all(tree, node)
        dropped = set()
        for operation in sorted(parts) if hasattr(node, "operation") else [""]:
            if operation:
                node.operation = operation
            for output in (each for each in node.outputs if each.enabled and each.type in NUMBERS):
                tree.links.new(output, shader_of(material).inputs["Base Color"])
                if CONSTANT_COLOUR in text():
                    dropped.add(operation or output.name)
        assert dropped == parts
        tree.nodes.remove(node)


def test_a_shader_inside_a_mix_that_does_not_arrive_is_named(bench):
    material, tree, _ = bench
    mix, toon = tree.nodes.new("ShaderNodeMixShader"), tree.nodes.new("ShaderNodeBsdfToon")
    tree.links.new(shader_of(material).outputs[0], mix.inputs[1])
    tree.links.new(toon.outputs[0], mix.inputs[2])
    tree.links.new(mix.outputs[0], tree.get_output_node("ALL").inputs["Surface"])
    (listed,) = BlenderHost().materials()
    notes = BlenderHost().document(listed).notes
    assert notes == (
        "'Toon BSDF' (Toon BSDF) is left out by Blender's MaterialX export: use a Principled BSDF",
    )
    assert Path(bpy.data.filepath) == Path()
