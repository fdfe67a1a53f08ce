"""Environments, skies and their importance sampling, against closed forms, numpy and the device."""

import numpy as np
import pytest

from verdigris.core.base.colour import LUMINANCE
from verdigris.core.base.device import open_device
from verdigris.core.base.kernels import Source
from verdigris.core.lighting.blur import softened
from verdigris.core.lighting.device_lighting import DeviceEnvironment
from verdigris.core.lighting.environment import Environment, Sun, direction_of, place_of
from verdigris.core.lighting.named_environments import SUN, SUN_OVER_SKY, SUN_RADIUS, make_sky

HEIGHT, WIDTH = 12, 24
DRAW = Source(
    "test_draw_directions",
    """import lighting.environment;
import sampling.random;
struct Parameters { uint count; Environment environment; Sun sun; }
uniform Parameters gParameters;
RWStructuredBuffer<float> gResult;
[shader("compute")] [numthreads(64, 1, 1)]
void drawDirections(uint3 thread: SV_DispatchThreadID)
{
    if (thread.x >= gParameters.count)
        return;
    const float2 xi = spreadPoint(thread.x, uint2(0));
    const DrawnDirection drawn = gParameters.environment.draw(xi);
    const float3 light = gParameters.environment.radiance(drawn.direction);
    const float3 ofSun = gParameters.sun.draw(xi);
    const float values[12] = { xi.x, xi.y, drawn.direction.x, drawn.direction.y, drawn.direction.z,
        drawn.density, light.x, light.y, light.z, ofSun.x, ofSun.y, ofSun.z };
    for (uint value = 0; value < 12; value++)
        gResult[12 * thread.x + value] = values[value];
}
""",
)


def spotted(turn=0.0):
    """A dim map with noise, one bright spot and a black row."""
    texels = np.random.default_rng(3).random((HEIGHT, WIDTH, 3)).astype(np.float32)
    texels[4, 17] = 80, 60, 20
    texels[6:9, :5] = 0
    return Environment.of(texels).turned(turn)


def grid(per_texel):
    """Directions at the middles of a fine grid, and their solid angles."""
    height, width = HEIGHT * per_texel, WIDTH * per_texel
    v, u = (np.indices((height, width)).reshape(2, -1) + 0.5) / [[height], [width]]
    solid = 2 * np.pi**2 * np.sin(np.pi * v) / (height * width)
    return direction_of(np.stack([u, v], 1)), solid


def drawn_on_device(environment, count=4096):
    device = open_device("software")
    import slangpy

    result = device.gpu.create_buffer(
        element_count=12 * count,
        struct_size=4,
        usage=slangpy.BufferUsage.unordered_access | slangpy.BufferUsage.shader_resource,
    )
    uploaded = DeviceEnvironment.upload(device, environment)
    device.dispatch(
        device.new_kernels().get((DRAW,), "drawDirections"),
        count,
        {
            "gParameters": {"count": count, **uploaded.uniforms()},
            "gResult": result,
            **uploaded.buffers,
        },
    )
    return result.to_numpy().view(np.float32).reshape(count, 12)


def test_the_density_of_directions_integrates_to_one():
    directions, solid = grid(20)
    assert spotted(33.0).density(directions) @ solid == pytest.approx(1, abs=1e-3)


def test_wherever_there_is_light_directions_are_drawn():
    directions, _ = grid(5)
    environment = spotted()
    light = environment.radiance(directions).sum(1)
    assert (environment.density(directions)[light > 0] > 0).all()
    assert (light == 0).any()


def test_drawn_directions_follow_the_density():
    """Pearson's chi-square test over cells of a third of a texel."""
    environment = spotted(75.0)
    count = 200_000
    xi = np.random.default_rng(1).random((count, 2)).astype(np.float32)
    u, v = place_of(environment.draw(xi)).T
    rows, columns = HEIGHT * 3, WIDTH
    found = np.histogram2d(v, u, (rows, columns), ((0, 1), (0, 1)))[0]
    directions, solid = grid(12)
    share = environment.density(directions) * solid
    expected = count * share.reshape(rows, 4, columns, 12).sum((1, 3))
    is_enough = expected > 8
    chi = ((found - expected) ** 2 / np.maximum(expected, 1e-9))[is_enough].sum()
    degrees = is_enough.sum()
    # the normal approximation of the distribution, at four standard deviations
    assert abs(chi - degrees) < 4 * np.sqrt(2 * degrees)
    assert found[expected < 1e-6].sum() <= 2


def test_the_device_draws_what_numpy_draws():
    environment = spotted(20.0)
    device = drawn_on_device(environment)
    xi, directions = device[:, :2], device[:, 2:5]
    np.testing.assert_allclose(directions, environment.draw(xi), atol=2e-5)
    # beside the bright spot, and at a pole, rounded directions see other light
    light = environment.radiance(directions)
    assert np.isclose(device[:, 6:9], light, rtol=2e-3, atol=1e-3).all(1).mean() > 0.995
    density = environment.density(directions)
    # at the borders of texels single and double floats differ
    is_near = np.isclose(device[:, 5], density, rtol=1e-3)
    assert is_near.mean() > 0.998


def test_directions_to_the_sun_fill_its_disc_evenly():
    towards = np.array([0.48, 0.64, 0.6])
    black = np.zeros((2, 4, 3), np.float32)
    sun = Sun(tuple(towards), (1.0, 1.0, 1.0), 0.2)
    away = drawn_on_device(Environment.of(black, sun))[:, 9:12] @ towards
    assert np.arccos(away.min()) == pytest.approx(0.2, abs=2e-3)
    # on a sphere area grows as 1 - cosine
    places = np.sort((1 - away) / (1 - np.cos(0.2)))
    np.testing.assert_allclose(places, (np.arange(len(places)) + 0.5) / len(places), atol=0.01)


@pytest.mark.parametrize(
    ("direction", "place"),
    [
        ((0, 0, 1), (0.5, 0.5)),
        ((1, 0, 0), (0.25, 0.5)),
        ((-1, 0, 0), (0.75, 0.5)),
        ((0, 1, 0), (0.5, 0.0)),
        ((0, -1, 0), (0.5, 1.0)),
    ],
)
def test_a_map_lies_as_openexr_and_usd_have_it(direction, place):
    """OpenEXR's technical introduction: longitude is 0 towards +z and pi / 2 towards +x, which is
    left of the centre."""
    np.testing.assert_allclose(place_of(np.array([direction], float))[0], place, atol=1e-9)
    np.testing.assert_allclose(direction_of(np.array([place]))[0], direction, atol=1e-9)


def test_a_quarter_turn_moves_what_was_in_front_to_the_right():
    texels = np.zeros((64, 128, 3), np.float32)
    texels[32, 64] = 1
    front, right = np.array([[0, 0, 1.0]]), np.array([[1.0, 0, 0]])
    environment = Environment.of(texels, Sun((0, 0, 1), (1, 1, 1), 0.01)).turned(90)
    assert environment.radiance(front).max() == 0 < environment.radiance(right).max()
    np.testing.assert_allclose(environment.turned_sun.direction, right[0], atol=1e-9)
    assert environment.turned(-90).turn == 0


def test_irradiance_from_above_is_that_of_the_closed_form():
    half = np.zeros((64, 128, 3), np.float32)
    half[:32] = 1
    sun = Sun((0.6, 0.8, 0), (2, 2, 2), 0.01)
    np.testing.assert_allclose(Environment.of(half).irradiance_from_above, np.pi, rtol=1e-6)
    np.testing.assert_allclose(Environment.of(half, sun).irradiance_from_above, np.pi + 1.6)
    assert Environment.of(half).exposure == pytest.approx(0, abs=1e-6)
    assert np.isfinite(Environment.of(half[::-1]).exposure)


def test_the_sky_is_as_bright_as_its_formula_and_the_sun_as_documented():
    sky = make_sky()
    towards = np.array(SUN) / np.linalg.norm(SUN)
    directions = np.random.default_rng(2).normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    # where the map's texels are not at the edges of the formula
    directions = directions[np.abs(directions[:, 1]) > 0.06]
    up, away = directions[:, 1], 1 - directions @ towards
    level = np.where(up > 0, 0.6 + 0.9 * np.exp(-6 * np.abs(up)), 0.12)
    level += np.where(up > 0, 6 * np.exp(-120 * away) + 0.8 * np.exp(-8 * away), 0)
    np.testing.assert_allclose(sky.radiance(directions) @ LUMINANCE, level, rtol=3e-3)
    of_sun = np.array(sky.sun.irradiance) @ LUMINANCE
    of_sky = Environment.of(sky.texels).irradiance_from_above @ LUMINANCE
    assert of_sun == pytest.approx(SUN_OVER_SKY * of_sky)
    assert sky.sun.radiance @ LUMINANCE * np.pi * np.sin(SUN_RADIUS) ** 2 == pytest.approx(of_sun)
    assert make_sky((0, -1, 1)).sun is None


def test_softened_light_keeps_its_sum_and_spreads_the_sun():
    """A Gaussian of 20 degrees on a sphere: at the sun, a lamp of irradiance E gives
    E / (2 pi sigma^2) nearly."""
    sun = Sun((0.6, 0.0, 0.8), (3.0, 2.0, 1.0), 0.005)
    dark = Environment.of(np.full((256, 512, 3), 1e-6, np.float32), sun).turned(30)
    for degrees in (5.0, 20.0):
        soft = softened(dark, degrees)
        assert soft.sun is None and soft.turn == 30
        solid_angle = -np.diff(np.cos(np.linspace(0, np.pi, 129))) * 2 * np.pi / 256
        total = np.einsum("r,rcx->x", solid_angle, soft.texels)
        np.testing.assert_allclose(total, (3, 2, 1), rtol=1e-3)
        towards = np.array([dark.turned_sun.direction])
        expected = 3.0 / (2 * np.pi * np.radians(degrees) ** 2)
        assert soft.radiance(towards)[0, 0] == pytest.approx(expected, rel=0.08)
