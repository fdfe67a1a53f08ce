"""Emission, coverage and reflection are separate."""

import numpy as np
import pytest

from verdigris.core.material.teacher.teacher import Teacher

from ..surfaces import UV, document, hemisphere, node, respond, shader, surface_material

COUNT = 500
COVERAGE_ERROR = 1e-6


@pytest.fixture(scope="module")
def samples():
    random = np.random.default_rng(3)
    return random.random((COUNT, 2)), hemisphere(random, COUNT), hemisphere(random, COUNT)


def emit(teacher, samples):
    uv, _, wo = samples
    return teacher.unlit(uv.astype(np.float32), wo.astype(np.float32))[:, :3].astype(np.float64)


def cover(teacher, samples):
    uv, _, wo = samples
    return teacher.unlit(uv.astype(np.float32), wo.astype(np.float32))[:, 3]


COLOUR = ("color3", "0.9,0.4,0.1")
COLOUR_VALUE = np.array([0.9, 0.4, 0.1])
# Each glows where v is above a half, and nowhere else.
GLOWING = {
    "standard_surface": {"emission": ("float", "2"), "emission_color": ("color3", "@half")},
    "gltf_pbr": {"emissive": ("color3", "@half"), "emissive_strength": ("float", "2")},
    "UsdPreviewSurface": {"emissiveColor": ("color3", "@half")},
    "open_pbr_surface": {
        "emission_luminance": ("float", "2"),
        "emission_color": ("color3", "@half"),
    },
}


OPACITY = {
    "standard_surface": {"opacity": ("color3", "@wide_grey")},
    "UsdPreviewSurface": {"opacity": ("float", "@wide"), "opacityMode": ("integer", "1")},
    "open_pbr_surface": {"geometry_opacity": ("float", "@wide")},
    "gltf_pbr": {"alpha": ("float", "@wide"), "alpha_mode": ("integer", "2")},
}


# From -1 to 2: out of a noise, or a texture of floats.
BEYOND = node("remap", "wide", "float", {"in": ("float", "@u"), "outlow": ("float", "-1")})
BEYOND = BEYOND.replace("</remap>", '<input name="outhigh" type="float" value="2"/></remap>')
BEYOND += node("convert", "wide_grey", "color3", {"in": ("float", "@wide")})


@pytest.fixture(scope="module", params=GLOWING)
def lamp(request):
    """A surface of each model that glows on one side and has holes, and its emission's weight."""
    ports = {"value1": ("float", "@v"), "value2": ("float", "0.5"), "in1": COLOUR}
    half = node("ifgreater", "half", "color3", ports)
    inputs = GLOWING[request.param] | OPACITY[request.param]
    weight = 1 if request.param == "UsdPreviewSurface" else 2
    return Teacher(shader(request.param, inputs, half + BEYOND)), weight


def test_emission_is_colour_times_weight_and_no_part_of_the_response(samples, lamp):
    teacher, weight = lamp
    uv, wi, wo = samples
    # where u is above two thirds it is solid
    dark, bright = np.tile([0.75, 0.25], (COUNT, 1)), np.tile([0.75, 0.75], (COUNT, 1))
    np.testing.assert_array_equal(respond(teacher, bright, wi, wo), respond(teacher, dark, wi, wo))
    solid = np.c_[(2 + uv[:, 0]) / 3, uv[:, 1]]
    expected = np.where(uv[:, 1:] > 0.5, weight * COLOUR_VALUE, 0)
    np.testing.assert_allclose(emit(teacher, (solid, wi, wo)), expected, rtol=1e-4)


def test_coverage_multiplies_the_response_and_is_limited_to_its_range(samples, lamp):
    teacher, _ = lamp
    uv, wi, wo = samples
    covered = np.clip(3 * uv[:, :1] - 1, 0, 1)
    solid = respond(teacher, np.full((COUNT, 2), 2 / 3), wi, wo)
    np.testing.assert_allclose(respond(teacher, uv, wi, wo), solid * covered, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(cover(teacher, samples), covered[:, 0], atol=COVERAGE_ERROR)


def test_a_mirror_like_surface_still_glows_straight_up():
    """There the light that is left out would be reflected without bound."""
    inputs = {
        "specular_roughness": ("float", "0"),
        "metalness": ("float", "1"),
        "emission": ("float", "1"),
        "emission_color": COLOUR,
    }
    teacher = Teacher(shader("standard_surface", inputs))
    up = np.float32([[0, 0, 1]])
    got = teacher.unlit(np.float32([[0.5, 0.5]]), up)[:, :3]
    np.testing.assert_allclose(got[0], [0.9, 0.4, 0.1], rtol=1e-5)


def edf(parts, output):
    ports = {"edf": ("EDF", f"@{output}"), "bsdf": ("BSDF", "@lobe")}
    return Teacher(
        document(
            UV
            + node("oren_nayar_diffuse_bsdf", "lobe", "BSDF", {"color": COLOUR})
            + parts
            + node("surface", "surf", "surfaceshader", ports)
            + surface_material("surf")
        )
    )


def test_mixed_added_and_tinted_glow_is_dropped_of_the_response(samples):
    parts = node("uniform_edf", "a", "EDF", {"color": ("color3", "1,2,3")})
    parts += node("uniform_edf", "b", "EDF", {"color": ("color3", "@uv_colour")})
    parts += node(
        "mix", "c", "EDF", {"fg": ("EDF", "@a"), "bg": ("EDF", "@b"), "mix": ("float", "0.25")}
    )
    parts += node("multiply", "d", "EDF", {"in1": ("EDF", "@c"), "in2": ("color3", "0.5,1,0.25")})
    parts += node("add", "e", "EDF", {"in1": ("EDF", "@d"), "in2": ("EDF", "@a")})
    teacher = edf(parts, "e")
    uv, wi, _ = samples
    inner = 0.25 * np.array([1, 2, 3]) + 0.75 * np.c_[uv, np.full(COUNT, 0.25)]
    expected = inner * [0.5, 1, 0.25] + [1, 2, 3]
    np.testing.assert_allclose(emit(teacher, samples), expected, rtol=1e-5)
    lambert = np.array([0.9, 0.4, 0.1]) / np.pi * wi[:, 2:]
    np.testing.assert_allclose(respond(teacher, *samples), lambert, rtol=1e-5)


def test_generalised_schlick_glow_varies_with_the_view(samples):
    parts = node("uniform_edf", "a", "EDF", {"color": ("color3", "1,1,1")})
    ports = {"color0": ("color3", "0,0,0"), "color90": ("color3", "1,1,1"), "base": ("EDF", "@a")}
    teacher = edf(parts + node("generalized_schlick_edf", "b", "EDF", ports), "b")
    expected = (1 - samples[2][:, 2:]) ** 5
    np.testing.assert_allclose(
        emit(teacher, samples), np.broadcast_to(expected, (COUNT, 3)), rtol=1e-4, atol=1e-6
    )


def test_an_unlit_surface_only_glows(samples):
    inputs = {"emission": ("float", "2"), "emission_color": COLOUR, "opacity": ("float", "0.25")}
    teacher = Teacher(shader("surface_unlit", inputs))
    assert not respond(teacher, *samples).any()
    expected = np.broadcast_to(2 * 0.25 * np.array([0.9, 0.4, 0.1]), (COUNT, 3))
    np.testing.assert_allclose(emit(teacher, samples), expected, rtol=1e-5)
    np.testing.assert_allclose(cover(teacher, samples), 0.25, atol=COVERAGE_ERROR)


def test_an_unlit_surface_glows_no_brighter_than_its_colour_where_it_is_more_than_solid(samples):
    inputs = {"emission_color": COLOUR, "opacity": ("float", "@wide")}
    got = emit(Teacher(shader("surface_unlit", inputs, BEYOND)), samples)
    expected = np.clip(3 * samples[0][:, :1] - 1, 0, 1) * COLOUR_VALUE
    np.testing.assert_allclose(got, expected, atol=1e-5)


def test_an_alpha_mask_is_solid_or_a_hole(samples):
    inputs = {
        "alpha": ("float", "@u"),
        "alpha_mode": ("integer", "1"),
        "alpha_cutoff": ("float", "0.4"),
    }
    u = samples[0][:, 0]
    got = cover(Teacher(shader("gltf_pbr", inputs)), samples)
    np.testing.assert_allclose(got, u >= 0.4, atol=COVERAGE_ERROR)


def test_an_opaque_alpha_mode_reads_no_alpha(samples):
    inputs = {"alpha": ("float", "@u"), "alpha_mode": ("integer", "0")}
    assert (cover(Teacher(shader("gltf_pbr", inputs)), samples) == 1).all()


def test_a_threshold_makes_usd_preview_opacity_a_mask(samples):
    inputs = {"opacity": ("float", "@u"), "opacityThreshold": ("float", "0.4")}
    got = cover(Teacher(shader("UsdPreviewSurface", inputs)), samples)
    np.testing.assert_allclose(got, samples[0][:, 0] >= 0.4, atol=COVERAGE_ERROR)


def test_usd_preview_opacity_is_transmission_unless_it_means_presence(samples):
    """The default mode keeps the highlight of glass: only what is diffuse fades."""
    half = {"value1": ("float", "@u"), "value2": ("float", "0.5"), "in1": ("float", "0.5")}
    opacity = node("ifgreater", "opacity", "float", half | {"in2": ("float", "1")})
    glass = Teacher(shader("UsdPreviewSurface", {"opacity": ("float", "@opacity")}, opacity))
    assert (cover(glass, samples) == 1).all()
    solid, clear = (respond(glass, np.full((COUNT, 2), u), *samples[1:]) for u in (0.25, 0.75))
    ratio = clear / solid
    assert ratio.min() > 0.499 and np.median(ratio) < 0.9


def test_a_bare_surface_shader_is_a_material(samples):
    model = document(node("standard_surface", "only", "surfaceshader", {}))
    assert [each.name for each in model.materials] == ["only"]
    lobe = node("oren_nayar_diffuse_bsdf", "lobe", "BSDF", {"color": COLOUR})
    bare = document(lobe + node("surface", "only", "surfaceshader", {"bsdf": ("BSDF", "@lobe")}))
    lambert = COLOUR_VALUE / np.pi * samples[1][:, 2:]
    np.testing.assert_allclose(respond(Teacher(bare), *samples), lambert, rtol=1e-5)
