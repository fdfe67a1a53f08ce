"""Textures for a viewport: what they hold, read by another library, and a bake that writes them."""

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.flatten.model import ALBEDO, CHANNELS, F0, NORMAL, ROUGHNESS, shade
from verdigris.core.flatten.viewport import (
    metallic_from,
    viewport_settings,
    viewport_textures,
    write_textures,
)
from verdigris.core.material.document import parse_document
from verdigris.core.material.teacher import Teacher
from verdigris.core.settings import PRESETS, BakeSettings
from verdigris.core.training.events import Phase, Step
from verdigris.core.training.options import BakeOptions
from verdigris.core.worker.commands import Start
from verdigris.plugins.common import batch
from verdigris.ui.choices import Choices

from ..material.documents import document, material, standard_surface

TINY = BakeSettings(network="2x16", resolution=16, batch=256, iterations=30)


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
    found = write_textures(texels, tmp_path, "clay")
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


def test_presets_are_cut_down_to_what_a_viewport_shows():
    for presets in PRESETS.values():
        for settings in presets.values():
            small = viewport_settings(settings)
            assert small.resolution <= 256 and small.iterations <= 1500 and small.batch <= 4096
    assert viewport_settings(TINY) == TINY


@pytest.fixture
def teacher(monkeypatch):
    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")
    text = document(
        standard_surface(
            '<input name="base_color" type="color3" value="0.6, 0.3, 0.1"/>'
            '<input name="specular_roughness" type="float" value="0.5"/>'
        ),
        material(name="clay"),
    )
    return Teacher(parse_document(text, (), "clay"))


def test_they_are_written_beside_the_bundle_and_tell_how_far_they_are(teacher, tmp_path):
    told, making = [], viewport_textures(teacher, TINY, tmp_path / "clay.vdg")
    with pytest.raises(StopIteration) as end:
        while True:
            told.append(next(making))
    assert isinstance(told[0], Phase) and told[0].name == "flattening"
    assert isinstance(told[-1], Step) and told[-1].step == told[-1].steps == 30
    found = end.value.value
    assert set(found) == {"base_color", "roughness", "metalness", "normal"}
    assert all(read(path).shape[:2] == (16, 16) for path in found.values())
    # nobody but these: no half-written file
    assert sorted(map(str, tmp_path.iterdir())) == sorted(found.values())


def test_a_bake_that_is_cancelled_meanwhile_leaves_no_texture(teacher, tmp_path):
    making = viewport_textures(teacher, TINY, tmp_path / "clay.vdg")
    next(making)
    making.close()
    assert not list(tmp_path.iterdir())


def test_nobody_gets_them_who_does_not_ask(tmp_path):
    assert not BakeOptions("clay", tmp_path).viewport_textures
    assert not Start(str(tmp_path)).viewport_textures
    assert not Choices().viewport_textures and not batch.Choices().viewport_textures


def test_textures_shade_like_the_material(teacher, tmp_path):
    settings = BakeSettings(network="2x16", resolution=16, batch=1024, iterations=300)
    from verdigris.core.flatten.fit import flatten

    found = write_textures(flatten(teacher, settings).level(0), tmp_path, "clay")
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
