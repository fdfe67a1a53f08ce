"""Small pictures of environments."""

import numpy as np
import pytest

from verdigris.core.lighting.environment import ENVIRONMENTS, Environment, Sun
from verdigris.core.lighting.named_environments import SUN, make_environment
from verdigris.core.pictures.light_maps import from_above, mirror_ball, named_map, small_map


def brightest(picture):
    """x to the right and y up, -1 to 1, of the middle of what is brightest."""
    row, column = np.nonzero(picture.sum(-1) == picture.sum(-1).max())
    size = len(picture)
    return (column.mean() + 0.5) / size * 2 - 1, 1 - (row.mean() + 0.5) / size * 2


def lamp(direction):
    return Environment.of(np.full((64, 128, 3), 0.1, np.float32), Sun(direction, (1, 1, 1), 0.01))


def test_a_mirror_ball_shows_a_lamp_half_way_between_it_and_the_eye():
    ball = mirror_ball(small_map(lamp((1.0, 0.0, 0.0)).turned(70)), 101)
    assert brightest(ball) == pytest.approx((np.sin(np.pi / 4), 0), abs=0.03)
    ball = mirror_ball(small_map(lamp((0.0, 1.0, 0.0))), 101)
    assert brightest(ball) == pytest.approx((0, np.sin(np.pi / 4)), abs=0.03)


def test_from_above_the_viewer_is_below_and_the_zenith_in_the_middle():
    for direction, place in (
        ((0.0, 1.0, 0.0), (0, 0)),
        ((0.0, np.sqrt(0.5), np.sqrt(0.5)), (0, -0.5)),
        ((np.sqrt(0.5), np.sqrt(0.5), 0.0), (0.5, 0)),
    ):
        seen = brightest(from_above(small_map(lamp(direction)), 101))
        assert seen == pytest.approx(place, abs=0.03)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_map_of_a_name_is_that_of_its_environment(name):
    whole = small_map(make_environment(name)).astype(int)
    assert np.median(np.abs(named_map(name) - whole)) <= 1
    if name == "sky":
        x, y, z = np.array(SUN) / np.linalg.norm(SUN)
        away = np.arccos(y) / (np.pi / 2)
        expected = np.array([x, -z]) / np.hypot(x, z) * away
        np.testing.assert_allclose(brightest(from_above(named_map(name), 101)), expected, atol=0.04)
