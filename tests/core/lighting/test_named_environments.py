"""The environments that are made here, and the few lights that stand for them."""

import numpy as np
import pytest

from verdigris.core.lighting.environment import (
    ENVIRONMENTS,
    OVERCAST,
    STUDIO,
    Environment,
    Sun,
    direction_of,
    principal_lights,
)
from verdigris.core.lighting.named_environments import find_environment, make_environment

NORMALS = np.array([(0, 1, 0), (1, 0, 0), (-0.5, 0.5, 0.7), (0, 0, 1), (0.2, -0.9, 0.1)])
NORMALS = NORMALS / np.linalg.norm(NORMALS, axis=1, keepdims=True)


def irradiance(environment, normals):
    """By the midpoint rule over the sphere, (N, 3), with the sun."""
    rows = 96
    places = np.stack(np.meshgrid(np.arange(2 * rows), np.arange(rows)), -1).reshape(-1, 2) + 0.5
    places = places / (2 * rows, rows)
    directions = direction_of(places)
    solid = np.sin(np.pi * places[:, 1]) * (np.pi / rows) ** 2
    light = environment.radiance(directions) * solid[:, None]
    total = np.maximum(normals @ directions.T, 0) @ light
    sun = environment.turned_sun
    if sun is not None:
        cosine = np.maximum(normals @ np.array(sun.direction), 0)
        total = total + cosine[:, None] * np.array(sun.irradiance)
    return total


def test_the_overcast_sky_is_that_of_the_standard():
    """The CIE's luminance Z (1 + 2 sin(h)) / 3 lights the ground by 7 pi Z / 9."""
    sky = make_environment(OVERCAST)
    zenith = sky.radiance(np.array([[0.0, 1.0, 0.0]]))[0]
    # the ground reaches half a texel above the horizon
    np.testing.assert_allclose(sky.irradiance_from_above, 7 * np.pi * zenith / 9, rtol=5e-3)
    horizon = sky.radiance(np.array([[1.0, 0.02, 0.0]]))[0]
    np.testing.assert_allclose(horizon, zenith * 1.04 / 3, rtol=2e-2)


def test_the_studio_is_the_one_of_plain_pictures():
    """Drawn by the kernel of plain pictures, on a white plane that faces several directions."""
    from verdigris.core.base.device import open_device
    from verdigris.core.pictures.backdrop import Ground
    from verdigris.core.pictures.gbuffer import Camera, plane_gbuffer
    from verdigris.core.pictures.render import Lighting, shade

    grey, studio = Ground(open_device("software")), make_environment(STUDIO)
    for turn, pitch in ((0, 0), (50, -30), (-60, 20)):
        view = plane_gbuffer(4, Camera(turn=turn, pitch=pitch))
        found = shade(grey, view, Lighting(samples=512), is_flat=True)[:, :3].mean(0)
        expected = 0.18 / np.pi * irradiance(studio, view.normal[:1].astype(np.float64))[0]
        np.testing.assert_allclose(found, expected, rtol=0.02)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_each_environment_is_lit_from_above_without_dark_or_strange_places(name):
    found = find_environment(name)
    assert np.isfinite(found.texels).all() and (found.texels > 0).all()
    assert abs(found.exposure) < 3
    # a mesh is never almost black: the darkest side has a fiftieth of the light of the brightest
    level = irradiance(found, NORMALS).mean(1)
    assert level.min() > level.max() / 50


def test_the_default_sky_lights_the_front_of_a_sphere():
    """What faces the viewer has three fifths of the light of the ground, sun and sky together."""
    front, above = irradiance(make_environment("sky"), np.array([[0.0, 0, 1], [0, 1, 0]])).mean(1)
    assert front > 0.6 * above


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_few_lights_light_as_the_whole_environment_does(name):
    environment = make_environment(name).turned(70.0)
    expected = irradiance(environment, NORMALS)
    # four are for pictures in motion
    bounds = {4: 0.38, 32: 0.06}
    for count, bound in bounds.items():
        lights = principal_lights(environment, count)
        assert len(lights) == count
        towards, light = (np.stack([each[part] for each in lights]) for part in (0, 1))
        np.testing.assert_allclose(np.linalg.norm(towards, axis=1), 1, atol=1e-5)
        found = np.maximum(NORMALS @ towards.T, 0) @ light
        # of the brightest side
        assert np.abs(found - expected).max() < bound * expected.max(), count


def test_the_sun_is_a_light_of_its_own_and_turns():
    texels = np.full((16, 32, 3), 0.25, np.float32)
    sun = Sun((1.0, 0.0, 0.0), (3.0, 2.0, 1.0), 0.01)
    lights = principal_lights(Environment.of(texels, sun).turned(90.0), 3)
    np.testing.assert_allclose(lights[0][0], (0, 0, -1), atol=1e-6)
    np.testing.assert_allclose(lights[0][1], (3, 2, 1))
    # half of the even light each: two hemispheres with a vector irradiance of pi L
    for _, light in lights[1:]:
        np.testing.assert_allclose(light, np.pi * 0.25, rtol=0.01)
