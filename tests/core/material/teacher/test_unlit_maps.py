"""Maps of emission and opacity, compared with known values and with files read separately."""

from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.baking.finish.notices import varying_maps
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import SettingsError
from verdigris.core.material.live_inputs.live_input import parse_all_wanted
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.material.teacher.unlit_maps import (
    levels,
    live_dependence,
    unlit_maps,
    view_dependence,
)

from ..surfaces import UV, document, node, shader, surface_material, write_image

EXAMPLES = Path(__file__).parents[4] / "examples"
COVERAGE_ERROR = 1e-6


def teacher_of(category, inputs, before="", **options):
    return Teacher(shader(category, inputs, before, **options), device=open_device("software"))


def test_a_material_that_neither_glows_nor_has_holes_has_no_maps():
    teacher = teacher_of("standard_surface", {})
    assert unlit_maps(teacher, 8) == (None, None)


def test_constant_emission_and_opacity_are_constant_maps():
    teacher = teacher_of(
        "surface_unlit",
        {
            "emission": ("float", "2"),
            "emission_color": ("color3", "0.9,0.4,0.1"),
            "opacity": ("float", "0.25"),
        },
    )
    emission, opacity = unlit_maps(teacher, 4)
    assert emission.shape == (4, 4, 3) and opacity.shape == (4, 4)
    assert emission.dtype == opacity.dtype == np.float32
    # premultiplied, as the response is
    expected = np.broadcast_to(0.25 * 2 * np.float32([0.9, 0.4, 0.1]), (4, 4, 3))
    np.testing.assert_allclose(emission, expected, rtol=1e-4)
    np.testing.assert_allclose(opacity, 0.25, atol=COVERAGE_ERROR)


def test_a_texel_holds_the_mean_of_its_footprint_and_row_0_is_at_v_0():
    """Emission is (u, v, 0.25), coverage is u: linear, so that a texel's mean is at its middle."""
    teacher = teacher_of(
        "standard_surface", {"emission": ("float", "1"), "emission_color": ("color3", "@uv_colour")}
    )
    emission = unlit_maps(teacher, 8).emission
    middle = (np.arange(8) + 0.5) / 8
    u, v = np.meshgrid(middle, middle)
    np.testing.assert_allclose(emission, np.stack([u, v, np.full((8, 8), 0.25)], 2), atol=1e-5)
    grey = node("convert", "grey", "color3", {"in": ("float", "@u")})
    teacher = teacher_of("standard_surface", {"opacity": ("color3", "@grey")}, grey)
    np.testing.assert_allclose(unlit_maps(teacher, 8).coverage, u, atol=COVERAGE_ERROR)


def test_a_texture_of_the_maps_size_is_filtered_by_a_texels_width(tmp_path):
    """The mean of a bilinear texture over its own texel: three quarters, and an eighth of each
    neighbour along each axis, those across the edge among them."""
    random = np.random.default_rng(0)
    texels = random.random((8, 8, 3)).astype(np.float32)
    write_image(tmp_path / "glow.exr", texels)
    image = node("image", "glow", "color3", {"file": ("filename", "glow.exr")})
    inputs = {"emission": ("float", "1"), "emission_color": ("color3", "@glow")}
    teacher = teacher_of("standard_surface", inputs, image, search_paths=[tmp_path])
    # files begin at the top, maps at v = 0
    expected = texels[::-1].astype(np.float64)
    for axis in (0, 1):
        sides = np.roll(expected, 1, axis) + np.roll(expected, -1, axis)
        expected = 0.75 * expected + 0.125 * sides
    np.testing.assert_allclose(unlit_maps(teacher, 8).emission, expected, atol=2e-3)


def read(name):
    return oiio.ImageBuf(str(EXAMPLES / "textures" / name)).get_pixels(oiio.FLOAT)


def between(texels, places=4):
    """The image at `places` times its size: filtered as it is stored, before it is decoded."""
    aside = (np.arange(places) + 0.5) / places - 0.5
    for axis in (0, 1):
        finer = [
            (1 - abs(part)) * texels + abs(part) * np.roll(texels, -int(np.sign(part)), axis)
            for part in aside
        ]
        shape = [
            side * (places if number == axis else 1) for number, side in enumerate(texels.shape)
        ]
        texels = np.stack(finer, axis + 1).reshape(shape)
    return texels


def test_the_glowing_panel_glows_as_its_texture_does_where_it_has_no_vents():
    teacher = Teacher(
        load_document(EXAMPLES / "glowing_panel.mtlx"), device=open_device("software")
    )
    emission, opacity = unlit_maps(teacher, 64)
    stored = between(read("glowing_panel_emission.jpg"))
    linear = np.where(stored <= 0.04045, stored / 12.92, ((stored + 0.055) / 1.055) ** 2.4)
    solid = between(read("glowing_panel_masks.png")[..., :1]) >= 0.5
    step = len(solid) // 64

    def on_map(texels):
        blocks = texels[::-1].reshape(64, step, 64, step, -1)
        return blocks.mean((1, 3))

    glow = 3 * linear * solid
    np.testing.assert_allclose(emission.mean((0, 1)), glow.mean((0, 1)), rtol=0.01)
    assert np.abs(emission - on_map(glow)).mean() < 0.02 * glow.mean()
    assert np.abs(opacity - on_map(solid)[..., 0]).mean() < 2e-3
    assert opacity.min() < 0.3 and opacity.max() > 0.99
    # turned upside down it would not be
    assert np.abs(emission[::-1] - on_map(glow)).mean() > 0.15 * glow.mean()
    assert view_dependence(teacher) < 1e-3
    assert not list(varying_maps(teacher, "panel"))


def test_levels_are_means_down_to_one_texel():
    finest = np.random.default_rng(1).random((8, 4, 3)).astype(np.float32)
    found = levels(finest)
    assert [level.shape[:2] for level in found] == [(8, 4), (4, 2), (2, 1), (1, 1)]
    for level in found:
        height, width = 8 // level.shape[0], 4 // level.shape[1]
        blocks = finest.astype("f8").reshape(level.shape[0], height, level.shape[1], width, 3)
        np.testing.assert_allclose(level, blocks.mean((1, 3)), rtol=1e-5)
    assert levels(np.ones((1, 1), np.float32))[0].shape == (1, 1)
    with pytest.raises(SettingsError, match="6 x 8 texels: use powers of two"):
        levels(np.zeros((8, 6), np.float32))


def test_glow_that_varies_with_the_view_is_taken_from_straight_ahead_and_reported():
    inner = node("uniform_edf", "a", "EDF", {"color": ("color3", "2,2,2")})
    ports = {
        "color0": ("color3", "0.5,0.5,0.5"),
        "color90": ("color3", "1,1,1"),
        "base": ("EDF", "@a"),
    }
    teacher = Teacher(
        document(
            UV
            + inner
            + node("generalized_schlick_edf", "b", "EDF", ports)
            + node("surface", "surf", "surfaceshader", {"edf": ("EDF", "@b")})
            + surface_material("surf")
        ),
        device=open_device("software"),
    )
    np.testing.assert_allclose(unlit_maps(teacher, 2).emission, 1.0, rtol=1e-5)
    # the mean of (1 - c)^5 for c even from 0.1 to 1
    grown = 0.9**6 / (6 * 0.9)
    expected = grown / (1 + grown)
    assert view_dependence(teacher) == pytest.approx(expected, rel=0.05)
    (warning,) = varying_maps(teacher, "lamp")
    assert f"lamp: emission or opacity vary by {100 * expected:.0f}% with the view" in warning.text


def test_maps_that_depend_on_a_live_input_are_named():
    ports = {"color": ("color3", "0.5,0.5,0.5")}
    teacher = Teacher(
        document(
            node("oren_nayar_diffuse_bsdf", "d", "BSDF", {"roughness": ("float", "0")})
            + node("uniform_edf", "e", "EDF", ports)
            + node("surface", "s", "surfaceshader", {"bsdf": ("BSDF", "@d"), "edf": ("EDF", "@e")})
            + surface_material("s")
        ),
        device=open_device("software"),
        live=parse_all_wanted(["d/roughness=0..1", "e/color=0.5,0.5,0.5..1,1,1"]),
    )
    # twice the light at the other end
    assert live_dependence(teacher) == pytest.approx((0, 0.5))
    assert [each.text for each in varying_maps(teacher, "lamp")] == [
        "lamp: emission or opacity vary by 50% with the live input e/color: their maps hold the "
        "values at 0"
    ]


def test_a_map_without_texels_is_refused():
    with pytest.raises(SettingsError, match="a map has 0 texels"):
        unlit_maps(teacher_of("standard_surface", {}), 0)
