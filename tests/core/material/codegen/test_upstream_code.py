"""Faults of the code and graphs of MaterialX 1.39.5 that this project repairs.

Each test passes while the fault exists. If one fails, MaterialX has repaired the fault: remove
the repair that the test names, then the test.
"""

import re
from pathlib import Path

import pytest

from ..surfaces import UV, closure, document, node, probe, shader, surface_material
from ..untouched import library, raw, source


@pytest.fixture(scope="module")
def lambert():
    return raw(closure("oren_nayar_diffuse_bsdf", {}))


def test_the_view_position_is_a_uniform_that_no_sample_can_set(lambert):
    """code_repairs.lift_private_uniforms"""
    assert "uniform float3 u_viewPosition;" in lambert


def test_the_lights_are_a_uniform_block_of_their_own(lambert):
    """code_repairs.lift_private_uniforms"""
    assert "uniform LightData u_lightData[MAX_LIGHT_SOURCES];" in lambert


def test_closures_are_there_again_for_surroundings_that_are_dropped(lambert):
    """code_repairs.drop_unused_passes"""
    assert lambert.count("mx_oren_nayar_diffuse_bsdf(closureData") == 2
    assert "float3 mx_environment_irradiance(float3 N)\n{\n    return float3(0.0);" in lambert


def test_the_opacity_of_a_surface_is_taken_as_it_is():
    """code_repairs.limit_opacity, and overrides/nodes/mx_surface_unlit.slang"""
    code = raw(shader("standard_surface", {"opacity": ("color3", "2,2,2")}))
    assert re.search(r"float surfaceOpacity = \w+;", code)
    assert "color *= surfaceOpacity;" in code
    unlit = source("stdlib/genglsl/mx_surface_unlit.glsl")
    assert "result.color = emission * emission_color * opacity;" in unlit


def test_the_mean_of_a_transparency_is_not_all_of_it(lambert):
    """code_repairs.make_zero_opacity_a_hole"""
    assert re.search(
        r"outAlpha = clamp\(1\.0 - dot\(\w+\.transparency, float3\(0\.3333\)\)", lambert
    )


def test_the_function_of_a_surface_is_an_entry_point(lambert):
    """prelude.slang, `shader`: an entry point that is called as a function brings lavapipe down."""
    assert '[shader("fragment")]\nfloat4 fragmentMain(' in lambert


def test_refraction_reads_a_name_that_is_declared_with_an_environment_only():
    """prelude.slang, u_refractionTwoSided"""
    code = raw(shader("standard_surface", {"transmission": ("float", "0.5")}))
    assert "u_refractionTwoSided" in code
    assert "bool u_refractionTwoSided" not in code


def test_textures_are_sampled_with_implicit_derivatives():
    """overrides/libraries/stdlib/genslang/lib/mx_texture.slang"""
    assert "tex.tex.Sample(tex.sampler, uv)" in source("stdlib/genslang/lib/mx_texture.slang")


@pytest.mark.parametrize("kind", ["float", "color3", "color4", "vector2", "vector3", "vector4"])
def test_an_image_reads_neither_its_address_modes_nor_its_default(kind):
    """overrides/nodes/mx_image_*.slang"""
    code = source(f"stdlib/genglsl/mx_image_{kind}.glsl")
    for name in ("uaddressmode", "vaddressmode", "defaultval", "filtertype"):
        assert code.count(name) == 1


def test_emission_cannot_be_dropped_of_what_a_surface_gives():
    """overrides/nodes/mx_uniform_edf.slang and mx_surface_unlit.slang: no fault, but no option."""
    assert "result = color;" in source("pbrlib/genglsl/mx_uniform_edf.glsl")
    assert "result.color = emission" in source("stdlib/genglsl/mx_surface_unlit.glsl")


def test_blackbody_has_a_global_constant_that_is_not_static():
    """overrides/nodes/mx_blackbody.slang"""
    body = node("blackbody", "shown", "color3", {"temperature": ("float", "4000")})
    assert "\nconst float3x3 XYZ_to_RGB" in raw(probe(body, "shown"))


@pytest.mark.parametrize("category", ["burn", "dodge"])
def test_a_function_that_two_nodes_share_is_there_twice(category):
    """overrides/nodes/mx_burn_float.slang and mx_dodge_float.slang"""
    body = node(category, "a", "float", {"fg": ("float", "@u"), "bg": ("float", "@v")})
    body += node("convert", "grey", "color3", {"in": ("float", "@a")})
    inputs = {"fg": ("color3", "@uv_colour"), "bg": ("color3", "@grey")}
    code = raw(probe(body + node(category, "shown", "color3", inputs), "shown"))
    assert code.count(f"void mx_{category}_float(") == 2


def test_a_flakes_matrix_is_multiplied_as_glsl_does():
    """prelude.slang, operator*"""
    assert "return m * p;" in source("stdlib/genglsl/lib/mx_flake.glsl")


def test_the_inverse_of_a_matrix_is_divided_by_what_is_not_its_determinant():
    """code_repairs.correct_matrix_inverse"""
    code = source("stdlib/genslang/lib/mx_math.slang").split("float4x4 mx_inverse")[1]
    column = "inverse[0][0], inverse[1][0], inverse[2][0], inverse[3][0]"
    assert f"col0 = float4({column});" in code.split("one_over_det")[0]


def test_hair_is_divided_by_pi_and_its_longest_ways_are_not_spread_over_a_turn():
    """code_repairs.normalise_hair"""
    code = raw(closure("chiang_hair_bsdf", {}))
    assert code.count("bsdf.response = F * closureData.occlusion * M_PI_INV;") == 1
    assert code.count("(i == 3) ?  (1.0 / 2.0 * M_PI) : mx_hair_azimuthal_scattering(") == 1


@pytest.mark.parametrize(
    ("category", "kind", "named", "declared"),
    [
        ("flake2d", "multioutput", "M_PI", "#define M_PI "),
        (
            "chiang_hair_absorption_from_color",
            "vector3",
            "mx_environment_radiance(",
            "float3 mx_environment_radiance(",
        ),
    ],
)
def test_what_an_unlit_surface_names_is_declared_for_lit_ones_alone(
    category, kind, named, declared
):
    """code_repairs.declare_for_unlit_surfaces"""
    output = ' output="rand"' if kind == "multioutput" else ""
    body = node(category, "made", kind, {})
    kind = "float" if output else kind
    body += f'<convert name="c" type="color3"><input name="in" type="{kind}" nodename="made"'
    body += f"{output}/></convert>"
    body += node("surface_unlit", "surf", "surfaceshader", {"emission_color": ("color3", "@c")})
    code = raw(document(body + surface_material("surf")))
    assert named in code and declared not in code


def test_an_edge_without_width_is_a_smoothstep_between_equal_values():
    """prelude.slang, smoothstep"""
    code = source("stdlib/genglsl/mx_aastep.glsl")
    assert "smoothstep(threshold-afwidth, threshold+afwidth, value)" in code


def test_a_colour_is_divided_by_an_alpha_of_nothing():
    """overrides/nodes/mx_unpremult_color4.slang"""
    assert "vec4(_in.rgb / _in.a, _in.a)" in source("stdlib/genglsl/mx_unpremult_color4.glsl")


def test_an_input_called_mix_becomes_a_variable_called_lerp():
    """code_repairs.rename_mix_variables"""
    inputs = {"fg": ("float", "@u"), "bg": ("float", "@v"), "mix": ("float", "@u")}
    body = node("overlay", "a", "float", inputs)
    body += node("convert", "shown", "color3", {"in": ("float", "@a")})
    assert "float lerp" in raw(probe(body, "shown"))


def test_a_hex_tiled_normal_map_is_given_the_name_of_its_file():
    """library.standard_library: the node group"""
    body = node("hextilednormalmap", "tilted", "vector3", {"file": ("filename", "bumps.png")})
    lobe = {"normal": ("vector3", "@tilted")}
    body += node("oren_nayar_diffuse_bsdf", "lobe", "BSDF", lobe)
    body += node("surface", "surf", "surfaceshader", {"bsdf": ("BSDF", "@lobe")})
    code = raw(document(UV + body + surface_material("surf")))
    assert "mx_hextilednormalmap_vector3(bumps.png" in code


def graph_that_multiplies(name, port):
    """A definition of a node whose graph multiplies a file, and a use of it."""
    body = node("image", "read", "color3", {"file": ("filename", "@")})
    body = body.replace('nodename=""', port)
    twice = {"in1": ("color3", "@read"), "in2": ("color3", "2, 2, 2")}
    body += node("multiply", "twice", "color3", twice)
    return (
        f'<nodedef name="ND_{name}" node="{name}"><input name="it" type="filename"/>'
        f'<output name="out" type="color3"/></nodedef><nodegraph name="NG_{name}" '
        f'nodedef="ND_{name}">{body}<output name="out" type="color3" nodename="twice"/></nodegraph>'
    )


def test_a_file_that_is_given_to_a_defined_node_is_written_as_its_name():
    """generator_input"""
    body = graph_that_multiplies("own", 'interfacename="it"')
    body += node("own", "colour", "color3", {"it": ("filename", "one.png")})
    assert "NG_own(one.png," in raw(probe(body, "colour"))


def test_files_that_nodes_of_one_name_name_in_two_graphs_are_taken_for_one():
    """generator_input"""
    body = graph_that_multiplies("first", 'value="one.png"')
    body += graph_that_multiplies("second", 'value="two.png"')
    body += '<first name="one" type="color3"/><second name="two" type="color3"/>'
    both = {"in1": ("color3", "@one"), "in2": ("color3", "@two")}
    code = raw(probe(body + node("add", "colour", "color3", both), "colour"))
    assert code.count("uniform SamplerTexture2D") == 1


def test_a_file_of_a_node_is_decoded_behind_all_that_its_graph_does():
    """generator_input"""
    ports = {"file": ("filename", "one.png"), "factor": ("color3", "0.5, 0.5, 0.5")}
    made = probe(node("gltf_image", "colour", "color3", ports), "colour")
    made.root.getNode("colour").getInput("file").setColorSpace("srgb_texture")
    assert "NG_srgb_texture_to_lin_rec709_color3(colour_out," in raw(made)


def test_the_colour_space_of_an_input_of_a_graph_is_passed_over():
    """inputs"""
    body = node("dot", "read", "color3", {"in": ("color3", "@")}).replace(
        'nodename=""', 'interfacename="it"'
    )
    body += '<output name="out" type="color3" nodename="read"/>'
    port = '<input name="it" type="color3" value="0.5, 0.25, 0.1"/>'
    use = (
        '<dot name="colour" type="color3"><input name="in" type="color3" nodegraph="graph"/></dot>'
    )
    made = probe(f'<nodegraph name="graph">{port}{body}</nodegraph>{use}', "colour")
    made.root.getNodeGraph("graph").getInput("it").setColorSpace("srgb_texture")
    assert "srgb_texture" not in raw(made)


def test_an_output_that_hands_an_input_on_is_passed_over():
    """graphs"""
    port = '<input name="it" type="color3" value="0.5, 0.25, 0.1"/>'
    body = '<output name="out" type="color3"/>'
    graph = f'<nodegraph name="graph">{port}{body}</nodegraph>'
    use = '<input name="in" type="color3" nodegraph="graph"/>'
    made = probe(f'{graph}<dot name="colour" type="color3">{use}</dot>', "colour")
    made.root.getNodeGraph("graph").getOutput("out").setInterfaceName("it")
    assert "0.250000" not in raw(made)


@pytest.mark.parametrize("kind", ["float", "color3", "color3FA"])
def test_a_range_takes_its_ends_as_they_come(kind):
    """library"""
    clamp = library().getNodeGraph(f"NG_range_{kind}").getNode(f"N_clamp_{kind}")
    ends = [clamp.getInput(name).getInterfaceName() for name in ("low", "high")]
    assert ends == ["outlow", "outhigh"]


def test_a_triangle_wave_ends_at_a_half():
    """library"""
    graph = library().getNodeGraph("NG_trianglewave_float")
    last = graph.getNode(graph.getOutput("out").getNodeName())
    assert (last.getCategory(), last.getInput("in1").getValueString()) == ("subtract", "0.5")


@pytest.mark.parametrize("kind", ["float", "color3I", "matrix44"])
def test_a_switch_gives_nothing_beyond_its_last_input(kind):
    """library"""
    beyond = library().getNodeGraph(f"NG_switch_{kind}").getNode("ifgreater_10").getInput("in2")
    assert beyond.getInterfaceName() == "" and set(beyond.getValueString()) <= set("0., ")


def test_a_ramp_divides_by_the_width_of_each_interval():
    """library"""
    graph = library().getNodeGraph("NG_ramp_gradient")
    share = graph.getNode("interpolation_selector").getInput("in1").getConnectedNode()
    assert share.getCategory() == "remap"


def test_the_film_of_gltf_is_thinnest_where_its_texture_is_1():
    """library"""
    graph = library().getNodeGraph("NG_gltf_iridescence_thickness_float_1_0")
    ends = [graph.getNode("mixThickness").getInput(name) for name in ("bg", "fg")]
    assert [end.getInterfaceName() for end in ends] == ["thicknessMax", "thicknessMin"]


def test_no_definition_has_the_input_that_disables_a_node():
    """dropped_nodes"""
    definitions = library().getNodeDefs()
    assert len(definitions) > 700
    assert not any(definition.getActiveInput("disable") for definition in definitions)


def test_every_implementation_that_is_replaced_is_the_one_that_is_used():
    """library._OVERRIDES: a replacement for another target than Slang would be ignored."""
    from verdigris.core.material.graph.library import OVERRIDE_FOLDER, standard_library

    library = standard_library()
    replaced = [
        implementation
        for implementation in library.getImplementations()
        if implementation.getFile().startswith(OVERRIDE_FOLDER.as_posix())
    ]
    assert {Path(i.getFile()) for i in replaced} == set((OVERRIDE_FOLDER / "nodes").iterdir())
    for implementation in replaced:
        used = implementation.getNodeDef().getImplementation("genslang")
        assert used.getName() == implementation.getName()


def test_the_default_of_an_image_is_decoded_as_its_file_is():
    """code_repairs.keep_image_defaults"""
    made = probe(
        node("image", "colour", "color3", {"default": ("color3", "0.5, 0.25, 0.1")}), "colour"
    )
    port = made.root.getNode("colour").addInput("file", "filename")
    port.setValueString("one.png")
    port.setColorSpace("srgb_texture")
    code = raw(made)
    assert "float3(0.500000, 0.250000, 0.100000)" in code
    assert "NG_srgb_texture_to_lin_rec709_color3(colour_out," in code
