"""Materials that are found to be dark and opaque are so, by their code."""

import numpy as np
import pytest

from verdigris.core.material.analyse.parts import is_dark_and_opaque
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.material.teacher.unlit_maps import unlit_maps

from ..surfaces import UV, closure, document, hemisphere, node, shader, surface_material

COUNT = 500
GREY = {"color": ("color3", "0.5,0.5,0.5")}
LOBE = node("oren_nayar_diffuse_bsdf", "lobe", "BSDF", GREY)
LAMP = node("uniform_edf", "lamp", "EDF", {"color": ("color3", "1,2,3")})


def surface(inputs):
    return document(
        UV
        + LOBE
        + LAMP
        + node("surface", "surf", "surfaceshader", inputs)
        + surface_material("surf")
    )


def mixed(inputs):
    """Two surfaces by u, of which the second has these inputs."""
    parts = node("standard_surface", "a", "surfaceshader", {})
    parts += node("standard_surface", "b", "surfaceshader", inputs)
    ports = {"fg": ("surfaceshader", "@a"), "bg": ("surfaceshader", "@b"), "mix": ("float", "@u")}
    return document(
        UV + parts + node("mix", "surf", "surfaceshader", ports) + surface_material("surf")
    )


PLAIN = {
    "standard surface": lambda: shader("standard_surface", {"coat": ("float", "@u")}),
    "glow of no colour": lambda: shader(
        "standard_surface", {"emission": ("float", "1"), "emission_color": ("color3", "0,0,0")}
    ),
    "clear": lambda: shader("standard_surface", {"transmission": ("float", "1")}),
    "OpenPBR": lambda: shader("open_pbr_surface", {"base_color": ("color3", "@uv_colour")}),
    "alpha that is not asked": lambda: shader("gltf_pbr", {"alpha": ("float", "0.25")}),
    "USD": lambda: shader("UsdPreviewSurface", {"roughness": ("float", "@v")}),
    "transparent USD": lambda: shader("UsdPreviewSurface", {"opacity": ("float", "0.5")}),
    "lobe": lambda: closure("oren_nayar_diffuse_bsdf", {"color": ("color3", "@uv_colour")}),
    "clear lobe": lambda: closure("dielectric_bsdf", {"scatter_mode": ("string", "RT")}),
    "mixed": lambda: mixed({"base": ("float", "@v")}),
}
OTHER = {
    "glow": lambda: shader("standard_surface", {"emission": ("float", "1")}),
    "glow that is fed": lambda: shader("standard_surface", {"emission": ("float", "@u")}),
    "coloured glow": lambda: shader("UsdPreviewSurface", {"emissiveColor": ("color3", "0,0,1")}),
    "holes": lambda: shader("open_pbr_surface", {"geometry_opacity": ("float", "0.5")}),
    "holes that are fed": lambda: shader(
        "gltf_pbr", {"alpha": ("float", "@u"), "alpha_mode": ("integer", "2")}
    ),
    "holes in a colour": lambda: shader("standard_surface", {"opacity": ("color3", "1,1,0")}),
    "holes of USD": lambda: shader(
        "UsdPreviewSurface", {"opacity": ("float", "0.5"), "opacityMode": ("integer", "1")}
    ),
    "thin lobe": lambda: surface({"bsdf": ("BSDF", "@lobe"), "opacity": ("float", "0.5")}),
    "lamp": lambda: surface({"bsdf": ("BSDF", "@lobe"), "edf": ("EDF", "@lamp")}),
    "lamp alone": lambda: surface({"edf": ("EDF", "@lamp")}),
    "mixed with glow": lambda: mixed({"emission": ("float", "1")}),
    "mixed with holes": lambda: mixed({"opacity": ("color3", "0,0,0")}),
}


def known(loaded):
    return is_dark_and_opaque(loaded.nodes_of(loaded.require_material()))


@pytest.fixture(scope="module")
def samples():
    random = np.random.default_rng(8)
    return random.random((COUNT, 2), np.float32), hemisphere(random, COUNT).astype(np.float32)


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_reported_as_dark_and_solid_is_so(name, samples):
    loaded = PLAIN[name]()
    assert known(loaded)
    teacher = Teacher(loaded)
    np.testing.assert_array_equal(teacher.unlit(*samples), np.tile([0, 0, 0, 1], (COUNT, 1)))
    assert unlit_maps(teacher, 8) == (None, None)
    # and by its code, which nobody has to compile otherwise
    np.testing.assert_allclose(
        DeviceMaterial.unlit(teacher, *samples), np.tile([0, 0, 0, 1], (COUNT, 1)), atol=1e-6
    )


@pytest.mark.parametrize("name", OTHER)
def test_what_glows_or_has_holes_is_not_reported_as_dark_and_solid(name):
    assert not known(OTHER[name]())


def test_a_surface_that_the_document_defines_is_looked_at():
    inner = node("standard_surface", "inner", "surfaceshader", {"emission": ("float", "1")})
    loaded = document(
        '<nodedef name="ND_own" node="own"><output name="out" type="surfaceshader"/></nodedef>'
        f'<nodegraph name="NG_own" nodedef="ND_own">{inner}'
        '<output name="out" type="surfaceshader" nodename="inner"/></nodegraph>'
        + node("own", "surf", "surfaceshader", {})
        + surface_material("surf")
    )
    assert not known(loaded)


def test_of_a_surface_that_is_not_known_the_code_is_requested():
    assert not known(shader("disney_principled", {}))
