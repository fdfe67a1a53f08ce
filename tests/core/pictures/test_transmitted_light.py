"""Pictures of surfaces that transmit, against closed forms."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.kernels import Source
from verdigris.core.lighting.environment import Environment
from verdigris.core.pictures.backdrop import Ground
from verdigris.core.pictures.environment_render import (
    EnvironmentLighting,
    draw_behind,
    render_under,
)
from verdigris.core.pictures.gbuffer import make_gbuffer
from verdigris.core.pictures.light_of_view import few_directions, read_light
from verdigris.core.pictures.render import Lighting, render
from verdigris.core.pictures.view import View

WHITE = np.ones((8, 16, 3), np.float32)
LEAF, FRONT = np.array([0.3, 0.5, 0.1]), np.array([0.1, 0.2, 0.05])
# The share of light that a facet of index 1.5 reflects; alpha .05 of a solid, Walter's model.
CODE = """import material.teacher.interface;
static const float kPi = 3.14159265;
struct Leaf : ITeacher
{
    static float4 look(SurfacePoint point, float3 wi, float3 wo, bool isLit)
    {
        const float3 colour = wi.z < 0.0 ? float3(0.3, 0.5, 0.1) : float3(0.1, 0.2, 0.05);
        return float4(isLit ? colour / kPi * abs(wi.z) : float3(0.0), 1.0);
    }
}
struct Glass : ITeacher
{
    static float4 look(SurfacePoint point, float3 wi, float3 wo, bool isLit)
    {
        if (!isLit || wi.z >= 0.0)
            return float4(0.0, 0.0, 0.0, 1.0);
        const float n = 1.5;
        float3 h = -normalize(wo + n * wi);
        h = h.z < 0.0 ? -h : h;
        const float seen = dot(wo, h);
        const float lit = -dot(wi, h);
        if (seen <= 0.0 || lit <= 0.0)
            return float4(0.0, 0.0, 0.0, 1.0);
        const float a2 = 0.05 * 0.05;
        const float spread = h.z * h.z * (a2 - 1.0) + 1.0;
        // as a density of wi: visible normals without shadowing, and the Jacobian of refraction
        const float path = seen - n * lit;
        const float density = a2 / (kPi * spread * spread) * h.z;
        return float4(float3(density * n * n * lit / (path * path)), 1.0);
    }
}
export struct Material : ITeacher = @NAME@;
export static const uint kLanesPerSample = 1;
"""


class Transmitting(Ground):
    """White glass, or a leaf of one colour on each side."""

    def __init__(self, name, index):
        super().__init__(open_device("software"))
        self.index_below = index
        self._source = Source(f"pictures_{name}", CODE.replace("@NAME@", name))

    def kernel(self, source, entry):
        return self._kernels.get((source, self._source), entry)


@pytest.fixture(scope="module")
def leaf():
    return Transmitting("Leaf", 1.0)


@pytest.fixture(scope="module")
def glass():
    return Transmitting("Glass", 1.5)


def under(material, texels, samples=64, size=16):
    lighting = EnvironmentLighting.upload(material.device, Environment.of(texels))
    return render_under(material, lighting, "sphere", size, None, samples)


def covered(picture):
    return picture[picture[..., 3] == 1][:, :3]


def test_in_a_white_furnace_a_leaf_shows_what_both_sides_send(leaf):
    found = covered(under(leaf, WHITE)).mean(0)
    np.testing.assert_allclose(found, LEAF + FRONT, rtol=5e-3)


def test_a_leaf_before_the_light_glows(leaf):
    behind = np.zeros((16, 32, 3), np.float32)
    behind[6:10, :4] = behind[6:10, -4:] = 40
    # light from the back lights the front by what passes
    front = covered(under(leaf, np.roll(behind, 16, 1)))
    back = covered(under(leaf, behind))
    for picture, ratio in ((back, LEAF), (front, FRONT)):
        middle = picture[len(picture) // 2]
        assert middle.max() > 0.05
        np.testing.assert_allclose(middle / middle[1], np.divide(ratio, ratio[1]), rtol=0.01)


def test_a_sphere_of_glass_turns_its_surroundings_upside_down(glass):
    sky = WHITE.copy()
    sky[4:] = 0
    picture = under(glass, sky, samples=128)[..., 0]
    middle = picture[:, 6:10]
    assert middle[3:6].mean() < 0.1 and middle[10:13].mean() > 0.7


def test_in_a_white_furnace_glass_loses_the_reflection_inside(glass):
    """Facets that all transmit, and a second interface that reflects 4% along the normal."""
    picture = under(glass, WHITE, samples=256)
    assert picture[6:10, 6:10, 0].mean() == pytest.approx(0.96, abs=0.015)


def test_the_studio_lights_both_sides(leaf, glass):
    for material, total in ((leaf, None), (glass, None)):
        picture = render(material, "sphere", 16, lighting=Lighting(samples=48))
        light = covered(picture)
        assert np.isfinite(light).all() and light.mean() > 0.05, total
    away = Lighting(direction=(0, 0, -1), environment=0.0)
    lit = covered(render(leaf, "sphere", 16, lighting=away))
    toward = np.array(away.colour) * LEAF / np.pi
    np.testing.assert_allclose(lit.max(0), toward, rtol=0.02)
    assert not covered(render(glass, "sphere", 16, lighting=away)).any()


def test_ground_in_the_shadow_of_a_leaf_has_its_colour(leaf):
    device, texels = leaf.device, np.zeros((32, 64, 3), np.float32)
    texels[:3] = 9
    lighting = EnvironmentLighting.upload(device, Environment.of(texels))
    pictures = [
        draw_behind(device, each, "ground", "sphere", 24, samples=64)
        for each in (
            lighting,
            replace(lighting, passing=tuple(LEAF)),
            replace(lighting, passing=(1.0,) * 3),
        )
    ]
    dark, green, clear = (picture.reshape(-1, 3).astype(float) for picture in pictures)
    in_shadow = dark[:, 1] < 0.7 * clear[:, 1]
    assert in_shadow.sum() > 10
    share = (green - dark)[in_shadow] / (clear - dark)[in_shadow]
    np.testing.assert_allclose(share, np.broadcast_to(LEAF, share.shape), rtol=1e-3)


@pytest.mark.parametrize("name", ["studio", "sunset"])
def test_quick_pictures_on_a_cpu_have_the_light_of_the_whole_environment(leaf, glass, name):
    view, environment = View(lit_by=name, rotate=30.0), read_light(name).turned(30.0)
    gbuffer = make_gbuffer("sphere", 32)
    for material in (leaf, glass):
        lighting = EnvironmentLighting.upload(material.device, environment)
        expected = render_under(material, lighting, "sphere", 32, None, 256, subpixels=1)
        directions = few_directions(view, gbuffer, index=material.index_below)
        (pixels, count), above = directions.wi.shape[:2], directions.above
        assert (directions.wi[:, :above, 2] > 0).all() and (directions.wi[:, above:, 2] < 0).all()
        uv, wo = (np.repeat(each, count, 0) for each in (gbuffer.uv, directions.wo))
        response = material.response(uv, directions.wi.reshape(-1, 3), wo)
        found = directions.lit(response.reshape(pixels, count, 3)).light[:, :3]
        np.testing.assert_allclose(found.mean(0), covered(expected).mean(0), rtol=0.04)
