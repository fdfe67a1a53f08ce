"""Textures for a viewport: what they hold, read by another library, and a bake that writes them."""

from dataclasses import replace

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.baking.bake import bake
from verdigris.core.baking.state.options import BakeOptions
from verdigris.core.flatten import viewport
from verdigris.core.flatten.flat_model import ALBEDO, CHANNELS, F0, NORMAL, ROUGHNESS, shade
from verdigris.core.flatten.viewport import (
    enlarged,
    metallic_from,
    sharpened,
    viewport_settings,
    viewport_textures,
    write_textures,
)
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.material.teacher.unlit_maps import UnlitMaps
from verdigris.core.progress import Phase, Step
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import PRESETS
from verdigris.core.worker.protocol.commands import Start
from verdigris.plugins.common.batch.arguments import BatchOptions
from verdigris.ui.model.parts.choices import BakeChoices

from ..material.documents import document, material, standard_surface

TINY = BakeSettings(network="2x16", resolution=16, batch=256, iterations=30)
PLAIN = UnlitMaps(None, None)
ALWAYS = {"base_color", "roughness", "metalness", "normal"}


def read(path):
    return np.asarray(oiio.ImageBuf(str(path)).get_pixels("float"))


def test_what_a_metallic_shader_can_hold_comes_back_as_it_was():
    random = np.random.default_rng(5)
    base = random.uniform(0.05, 1, (64, 3))
    metalness = np.concatenate([np.zeros(8), np.ones(8), random.uniform(0, 1, 48)])[:, None]
    # glTF 2.0: c_diff = lerp(base, black, metalness), f0 = lerp(0.04, base, metalness)
    found = metallic_from(base * (1 - metalness), 0.04 * (1 - metalness) + base * metalness)
    np.testing.assert_allclose(found[0], base, atol=1e-12)
    np.testing.assert_allclose(found[1], metalness[:, 0], atol=1e-9)


def test_what_it_cannot_hold_stays_in_range_and_reflects_as_much_of_each_part():
    random = np.random.default_rng(6)
    albedo, f0 = random.uniform(0, 1, (2, 500, 3))
    albedo *= 1 - f0
    base, metalness = metallic_from(albedo, f0)
    assert (base >= 0).all() and (base <= 1).all()
    assert (metalness >= 0).all() and (metalness <= 1).all()
    inside = (base < 1).all(1) & (metalness > 0)
    rest = 1 - metalness[:, None]
    gap = (base * rest).mean(1) - albedo.mean(1)
    np.testing.assert_allclose(gap[inside], 0, atol=1e-9)
    both = (base * rest + 0.04 * rest + base * (1 - rest)) - (albedo + f0)
    np.testing.assert_allclose(both[inside], 0, atol=1e-9)


def test_images_hold_colours_in_srgb_numbers_as_they_are_and_v_upwards(tmp_path):
    texels = np.zeros((2, 4, CHANNELS), np.float32)
    texels[..., ALBEDO], texels[..., F0], texels[..., ROUGHNESS] = 0.214, 0.04, 0.25
    # the row at v = 0 leans along u, the other one along v
    texels[0, :, NORMAL], texels[1, :, NORMAL] = (0.6, 0.0), (0.0, 0.6)
    found = write_textures(texels, PLAIN, tmp_path / "clay.vdg")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("clay_base_color.png", "clay_metalness.png", "clay_normal.png", "clay_roughness.png")
    ]
    # 0.214 in linear light is half of what sRGB can say
    np.testing.assert_allclose(read(found["base_color"]), 0.5, atol=1 / 255)
    np.testing.assert_allclose(read(found["roughness"]), 0.25, atol=1 / 255)
    np.testing.assert_array_equal(read(found["metalness"]), 0)
    normal = read(found["normal"])
    np.testing.assert_allclose(normal[0], [[0.5, 0.8, 0.9]] * 4, atol=1 / 255)
    np.testing.assert_allclose(normal[1], [[0.8, 0.5, 0.9]] * 4, atol=1 / 255)


def test_what_glows_and_what_has_holes_are_images_whose_colours_are_those_without_holes(tmp_path):
    texels = np.zeros((2, 3, CHANNELS), np.float32)
    coverage = np.array([[1, 0.5, 0], [0.25, 0.25, 0.25]], np.float32)
    # responses and emission are multiplied by what is there
    texels[..., ALBEDO], texels[..., F0] = 0.214 * coverage[..., None], 0.04 * coverage[..., None]
    emission = np.float32([0.214, 3, 0]) * coverage[..., None]
    found = write_textures(texels, UnlitMaps(emission, coverage), tmp_path / "lamp.vdg")
    assert set(found) == ALWAYS | {"emission", "opacity"}
    assert sorted(map(str, tmp_path.iterdir())) == sorted(found.values())
    opacity, glow, base = (read(found[kind]) for kind in ("opacity", "emission", "base_color"))
    np.testing.assert_allclose(opacity[..., 0], coverage[::-1], atol=0.5 / 255)
    is_there = coverage[::-1] > 0
    np.testing.assert_allclose(glow[is_there], [[0.5, 1, 0]] * 5, atol=1 / 255)
    np.testing.assert_allclose(base[is_there], 0.5, atol=1 / 255)
    np.testing.assert_array_equal(glow[~is_there], 0)
    np.testing.assert_array_equal(read(found["metalness"])[is_there], 0)
    # a material that has become solid and dark does not name the files of its past
    assert set(write_textures(texels, PLAIN, tmp_path / "lamp.vdg")) == ALWAYS


def test_maps_of_larger_bakes_are_averaged_to_the_size_of_the_other_images(teacher, tmp_path):
    settings = replace(TINY, resolution=512, iterations=1)
    emission = np.random.default_rng(3).random((512, 512, 3), np.float32)
    unlit = UnlitMaps(emission, np.ones((512, 512), np.float32))
    found = drain(viewport_textures(teacher, settings, tmp_path / "clay.vdg", unlit))
    means = (emission[::2] + emission[1::2])[::-1] / 2
    means = (means[:, ::2] + means[:, 1::2]) / 2
    glow = read(found["emission"])
    assert glow.shape == read(found["base_color"]).shape == (256, 256, 3)
    linear = np.where(glow <= 0.04045, glow / 12.92, ((glow + 0.055) / 1.055) ** 2.4)
    np.testing.assert_allclose(linear, means, atol=0.005)


def test_a_base_colour_is_sharpened_by_what_the_material_shows_at_finer_texels():
    random = np.random.default_rng(7)
    # patches with edges inside of coarse texels, and a fit that knows them coarsely, with noise
    guide = np.repeat(np.repeat(random.uniform(0.1, 0.9, (9, 9, 3)), 7, 0), 7, 1)[:60, :60]
    truth = 0.7 * guide + 0.1
    coarse = truth.reshape(15, 4, 15, 4, 3).mean((1, 3))
    fitted = coarse + random.normal(0, 0.02, coarse.shape)
    error = np.abs(sharpened(fitted, guide) - truth).mean()
    assert error < 0.005 and np.abs(enlarged(fitted, 4) - truth).mean() > 10 * error
    # what the guide does not show stays as smooth as it is
    np.testing.assert_allclose(sharpened(np.full((5, 5, 1), 0.3), np.ones((20, 20, 1))), 0.3)


def test_an_enlarged_texture_repeats_and_keeps_its_mean():
    values = np.random.default_rng(8).uniform(0, 1, (6, 4, 2))
    large = enlarged(values, 4)
    assert large.shape == (24, 16, 2)
    np.testing.assert_allclose(large.mean((0, 1)), values.mean((0, 1)))
    # shifting a repeating texture by a texel shifts its enlargement by four
    np.testing.assert_allclose(enlarged(np.roll(values, 1, 0), 4), np.roll(large, 4, 0))


def test_the_base_colour_has_the_size_of_the_bake(teacher, monkeypatch, tmp_path):
    monkeypatch.setattr(viewport, "LARGEST_SIDE", 8)
    found = drain(viewport_textures(teacher, TINY, tmp_path / "clay.vdg", PLAIN))
    assert {kind: read(path).shape[:2] for kind, path in found.items()} == {
        **dict.fromkeys(ALWAYS, (8, 8)),
        "base_color": (16, 16),
    }
    # clay is the same everywhere: (0.6, 0.3, 0.1) in sRGB
    mean = read(found["base_color"]).mean((0, 1))
    np.testing.assert_allclose(mean, [0.797, 0.584, 0.349], atol=0.12)


def test_presets_are_cut_down_to_what_a_viewport_shows():
    for presets in PRESETS.values():
        for settings in (each for recipe in presets.values() for each in recipe.by_kind.values()):
            small = viewport_settings(settings)
            assert small.resolution <= 256 and small.iterations <= 1500 and small.batch <= 4096
    assert viewport_settings(TINY) == TINY


def make_teacher(name, inputs=""):
    inputs += (
        '<input name="base_color" type="color3" value="0.6, 0.3, 0.1"/>'
        '<input name="specular_roughness" type="float" value="0.5"/>'
    )
    text = document(standard_surface(inputs), material(name=name))
    return Teacher(parse_document(text, (), name))


@pytest.fixture
def teacher(monkeypatch):
    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")
    return make_teacher("clay")


@pytest.fixture
def lamp(monkeypatch):
    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")
    return make_teacher(
        "lamp",
        '<input name="emission" type="float" value="2"/>'
        '<input name="emission_color" type="color3" value="1, 0.107, 0"/>'
        '<input name="opacity" type="color3" value="0.6, 0.6, 0.6"/>',
    )


def drain(making):
    while True:
        try:
            next(making)
        except StopIteration as end:
            return end.value


def test_they_are_written_beside_the_bundle_and_tell_how_far_they_are(teacher, tmp_path):
    told, making = [], viewport_textures(teacher, TINY, tmp_path / "clay.vdg", PLAIN)
    with pytest.raises(StopIteration) as end:
        while True:
            told.append(next(making))
    assert isinstance(told[0], Phase) and told[0].name == "flattening"
    assert isinstance(told[-1], Step) and told[-1].step == told[-1].steps == 30
    found = end.value.value
    assert set(found) == ALWAYS
    assert all(read(path).shape[:2] == (16, 16) for path in found.values())
    # nobody but these: no half-written file
    assert sorted(map(str, tmp_path.iterdir())) == sorted(found.values())


def test_a_bake_that_is_cancelled_meanwhile_leaves_no_texture(teacher, tmp_path):
    making = viewport_textures(teacher, TINY, tmp_path / "clay.vdg", PLAIN)
    next(making)
    making.close()
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("small_endings")
def test_a_bake_writes_emission_and_opacity_of_what_glows_and_has_holes_alone(
    teacher, lamp, tmp_path
):
    options = BakeOptions("clay", tmp_path, viewport_textures=True)
    *_, finished = bake([teacher, lamp], TINY, options)
    solid, lit = finished.textures
    assert set(solid) == ALWAYS
    assert set(lit) == ALWAYS | {"emission", "opacity"}
    pictures = [*solid.values(), *lit.values()]
    assert sorted(map(str, tmp_path.glob("*.png"))) == sorted(pictures)
    # twice the colour of the document, cut off at 1, and 0.214 is half of what sRGB can say
    np.testing.assert_allclose(read(lit["emission"])[3, 4], [1, 0.5, 0], atol=1 / 255)
    np.testing.assert_allclose(read(lit["opacity"]), 0.6, atol=1 / 255)


def test_nobody_gets_them_who_does_not_ask(tmp_path):
    assert not BakeOptions("clay", tmp_path).viewport_textures
    assert not Start(str(tmp_path)).request.viewport_textures
    assert not BakeChoices().viewport_textures and not BatchOptions().request.viewport_textures


LONGER = BakeSettings(network="2x16", resolution=16, batch=1024, iterations=300)


def test_colours_of_a_material_with_holes_are_those_of_what_is_there(lamp, tmp_path):
    unlit = UnlitMaps(None, np.full((16, 16), 0.6, np.float32))
    found = drain(viewport_textures(lamp, LONGER, tmp_path / "lamp.vdg", unlit))
    base = read(found["base_color"]).mean((0, 1)) ** 2.2
    np.testing.assert_allclose(base, (0.6, 0.3, 0.1), atol=0.08)
    assert read(found["metalness"]).mean() < 0.15


def test_textures_shade_like_the_material(teacher, tmp_path):
    found = drain(viewport_textures(teacher, LONGER, tmp_path / "clay.vdg", PLAIN))
    base = read(found["base_color"]).mean((0, 1)) ** 2.2
    # the diffuse part of the document, less what the coat of specular takes away
    np.testing.assert_allclose(base, (0.6, 0.3, 0.1), atol=0.08)
    assert read(found["metalness"]).mean() < 0.15
    assert 0.35 < read(found["roughness"]).mean() < 0.7
    upright = np.array([[0.0], [0.0], [1.0]])
    texel = np.zeros((CHANNELS, 1))
    texel[ALBEDO], texel[F0], texel[ROUGHNESS] = base[:, None], 0.04, 0.5
    told = shade(texel, upright, upright).value[:, 0]
    asked = teacher.response(
        np.array([[0.5, 0.5]], np.float32), upright.T.astype("f4"), upright.T.astype("f4")
    )[0]
    np.testing.assert_allclose(told, asked, rtol=0.35)
