"""Quick pictures have the light of the whole environment, and smoothing removes their grain."""

import numpy as np
import pytest

from verdigris.core.lighting.environment import direction_of
from verdigris.core.pictures.canvas import Canvas, PlacedShape, Raster
from verdigris.core.pictures.gbuffer import sphere_gbuffer
from verdigris.core.pictures.light_of_view import few_directions, read_light
from verdigris.core.pictures.quick_light import Lit
from verdigris.core.pictures.smoothing import smoothed, without_grain
from verdigris.core.pictures.tone import Tone
from verdigris.core.pictures.view import View

SIZE = 64


def lambertian(wi, _wo):
    return wi[..., 2] / np.pi


def glossy(wi, wo):
    """A GGX lobe of width .15 without Fresnel and shadowing."""
    halfway = wi + wo
    halfway /= np.linalg.norm(halfway, axis=-1, keepdims=True)
    up = halfway[..., 2]
    density = 0.15**2 / (np.pi * (up * up * (0.15**2 - 1) + 1) ** 2)
    return density / (4 * np.maximum(wi[..., 2], wo[..., 2]))


@pytest.mark.parametrize("name", ["studio", "sky", "sunset"])
@pytest.mark.parametrize(("response", "is_known"), [(lambertian, 0), (glossy, 0), (glossy, 1)])
def test_the_mean_over_pixels_is_the_integral_over_the_environment(name, response, is_known):
    view = View(lit_by=name, rotate=30.0)
    gbuffer = sphere_gbuffer(SIZE)
    # of half of the pixels, or of none
    highlights = np.tile(np.float32([0, 0, 1, 0.15, 0, 0, 1, 0]), (len(gbuffer.pixel), 1))
    highlights[:: 1 + is_known, 3] = 0
    directions = few_directions(view, gbuffer, highlights)
    responses = response(directions.wi, directions.wo[:, None]).astype(np.float32)
    found = directions.lit(np.repeat(responses[..., None], 3, -1)).light[:, :3]

    # by a fine grid of all directions
    environment = read_light(name).turned(30.0)
    height, width = 96, 192
    places = (np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1) + 0.5) / (
        width,
        height,
    )
    towards = direction_of(places.reshape(-1, 2))
    solid = 2 * np.pi**2 / (height * width) * np.sqrt(1 - towards[:, 1] ** 2)
    light = environment.radiance(towards) * solid[:, None]
    if environment.turned_sun is not None:
        towards = np.concatenate([towards, [environment.turned_sun.direction]])
        light = np.concatenate([light, [environment.turned_sun.irradiance]])
    some = np.arange(0, len(gbuffer.pixel), 3)
    axes = np.stack([gbuffer.tangent, gbuffer.bitangent, gbuffer.normal], 1)[some]
    expected = np.zeros(3)
    for place, frame in zip(some, axes, strict=True):
        local = towards @ frame.T
        is_lit = local[:, 2] > 1e-4
        expected += response(local[is_lit], directions.wo[place]) @ light[is_lit] / len(some)
    np.testing.assert_allclose(found[some].mean(0), expected, rtol=0.05)


def test_smoothing_keeps_detail_of_the_guide_and_removes_grain():
    random = np.random.default_rng(0)
    side = 64
    detail = np.where(np.arange(side) // 8 % 2, 0.2, 0.8)[None, :, None] * np.ones((side, 1, 3))
    ramp = np.linspace(0.5, 1.5, side)[:, None, None]
    light = detail * ramp * random.gamma(4, 1 / 4, (side, side, 1))
    found = smoothed(light.astype("f4"), detail.astype("f4"), np.ones((side, side), bool))
    grain_before = np.abs(light / (detail * ramp) - 1).mean()
    grain = np.abs(found / (detail * ramp) - 1)
    assert grain.mean() < 0.25 * grain_before
    # edges stay where the guide has them
    edges = grain[:, 7::8].mean()
    assert edges < 0.4 * grain_before
    # what has no grain does not change
    np.testing.assert_allclose(
        smoothed(detail.astype("f4"), detail.astype("f4"), np.ones((side, side), bool)),
        detail,
        rtol=0.12,
    )


def test_a_canvas_removes_grain_across_the_tiles_and_less_with_each_pass():
    raster = Raster.of(PlacedShape(View(size=40), None), 40, 1.0)
    random = np.random.default_rng(1)
    everywhere = np.arange(raster.count)
    grain = random.gamma(2, 0.5, (raster.count, 1)).astype("f4") * np.ones(4, "f4")
    grain[:, 3] = 1
    guide = np.full((raster.count, 3), 0.7, "f4")
    whole, by_tiles = (Canvas(raster, Tone()) for _ in range(2))
    whole.put(everywhere, Lit(grain, guide))
    for tile in raster.tiles(16):
        area = tile.pixels(raster.width, raster.height)
        by_tiles.draw(area, area, Lit(grain[area], guide[area]))
        by_tiles.pixels()
    np.testing.assert_allclose(by_tiles.light, whole.light, rtol=1e-4)
    assert whole.light[:, 0].std() < 0.35 * grain[:, 0].std()
    # the mean of several passes is nearer to the truth, and nearer still without its grain
    passes = [random.gamma(2, 0.5, (raster.count, 1)).astype("f4") for _ in range(8)]
    for number, each in enumerate(passes):
        lit = np.repeat(each, 4, 1)
        lit[:, 3] = 1
        whole.draw(everywhere, everywhere, Lit(lit), is_first=number == 0)
    grain_left = np.abs(whole.light[:, 0] - 1).mean()
    assert grain_left < 0.5 * np.abs(np.mean(passes, 0) - 1).mean()


def test_detail_that_the_guide_lacks_stays_once_several_passes_show_it():
    random = np.random.default_rng(2)
    side = 48
    truth = np.where(np.arange(side) // 2 % 2, 0.2, 0.8)[None, :, None] * np.ones((side, 1, 3))
    guide, drawn = np.ones((side, side, 3), "f4"), np.ones((side, side), bool)
    noisy = [truth * random.gamma(200, 1 / 200, (side, side, 1)) for _ in range(2)]
    halves = [each.astype("f4") for each in noisy]
    kept = np.abs(without_grain(*halves, guide, drawn) - truth).mean()
    assert kept < 1.1 * np.abs(np.mean(halves, 0) - truth).mean()
    assert kept < 0.2 * np.abs(smoothed(halves[0], guide, drawn) - truth).mean()
