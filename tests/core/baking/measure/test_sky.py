"""The light that a material reflects under a sky."""

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

from verdigris.core.baking.measure import sky
from verdigris.core.baking.measure.sky import SkyPlan, measure_sky, reflected_light
from verdigris.core.base.device import open_device
from verdigris.core.material.evaluator import POINT, DeviceMaterial
from verdigris.core.network.parameters import TransmittedSide
from verdigris.core.network.student import Student
from verdigris.core.pictures.compare.metrics import light_bias, measure_light

from ...bundle.bundles import lively_parameters

PLAN = SkyPlan(places=6, directions=64, more_places=10, more_directions=16, texel_places=1)
ALBEDO = np.array([0.8, 0.5, 0.2])


class Lambert(DeviceMaterial):
    """A diffuse material, and a lobe around the mirror direction of known sharpness. Its learned
    frames are somebody else's, as good as those of a poor student."""

    def __init__(self, factor=1.0, lobe=0.0):
        self.factor, self.lobe = factor, lobe

    def kernel(self, source, entry):
        raise AssertionError("has no kernel")

    def bindings(self):
        raise AssertionError("has no kernel")

    def read_parameters(self):
        return lively_parameters()

    def response(self, uv, wi, wo, frames=None, footprint=POINT):
        mirror = np.maximum((wi * wo * np.array([-1, -1, 1])).sum(-1), 0)
        lobe = self.lobe * mirror[..., None] ** 8
        return self.factor * (ALBEDO / np.pi + lobe) * np.maximum(wi[..., 2:], 0)


def drawn(places, directions):
    """Places with their lights, and their rotations."""
    random = np.random.default_rng(4)
    lights, again = sky._Lights(Lambert(), random), np.random.default_rng(0)
    again.bit_generator.state = random.bit_generator.state
    return lights.draw(places, directions), sky.views_of(again, places).rotations


def test_equal_materials_have_no_error():
    found = measure_sky(Lambert(), Lambert(), 64, PLAN)
    assert (found.median, found.p90, found.largest, found.bias, found.bias_deviation) == (0,) * 5


def test_a_material_that_is_a_tenth_too_dark_loses_a_tenth_of_all_light():
    found = measure_sky(Lambert(), Lambert(0.9), 64, PLAN)
    assert (found.median, found.p90, found.largest) == pytest.approx((0.1, 0.1, 0.1))
    assert found.bias == pytest.approx(-0.1)
    assert found.bias_deviation == pytest.approx(0, abs=1e-6)


def test_a_diffuse_material_reflects_its_albedo_of_an_even_sky(monkeypatch):
    monkeypatch.setattr(sky, "sky", lambda directions: np.full(directions.shape[:-1], 3.0))
    found = reflected_light(Lambert(), drawn(8, 8_192)[0], POINT)
    assert found == pytest.approx(np.tile(3 * ALBEDO, (8, 1)), rel=1e-2)


def test_reflected_light_agrees_with_a_quadrature_over_the_world():
    """Gauss-Legendre in height, between the edges of the sky, and even turns around it."""
    material, places = Lambert(lobe=0.5), 6
    evaluated, rotations = drawn(places, 16_384)
    turns = 2 * np.pi * np.arange(120) / 120
    expected = np.zeros((places, 3))
    for low, high in ((-1, -0.05), (-0.05, 0), (0, 1)):
        nodes, weights = leggauss(60)
        height = low + (high - low) * (nodes + 1) / 2
        ring = np.sqrt(1 - height**2)[:, None]
        world = np.stack(
            [ring * np.cos(turns), np.tile(height[:, None], 120), ring * np.sin(turns)], -1
        ).reshape(-1, 3)
        area = np.repeat(weights * (high - low) / 2, 120) * 2 * np.pi / 120
        light = area * sky.sky(world)
        for place, (to_world, view) in enumerate(zip(rotations, evaluated.wo, strict=True)):
            expected[place] += light @ material.response(evaluated.uv[:1], world @ to_world, view)
    assert reflected_light(material, evaluated, POINT) == pytest.approx(expected, rel=1e-2)


def test_the_deviation_of_the_bias_is_that_over_draws_of_places():
    random = np.random.default_rng(6)
    found = []
    for _ in range(400):
        light = random.gamma(2, size=(300, 3))
        # some places lose much
        lost = np.where(random.random((300, 1)) < 0.1, 0.3, 0.01)
        found.append(light_bias(light * (1 - lost), light))
    biases, deviations = np.array(found).T
    assert biases.mean() == pytest.approx(-0.039, abs=1e-3)
    assert deviations.mean() == pytest.approx(biases.std(), rel=0.15)


def test_turns_of_the_surface_are_rotations_without_a_preferred_axis():
    turns = sky.random_rotations(np.random.default_rng(1), 3_000)
    assert turns @ turns.swapaxes(1, 2) == pytest.approx(np.tile(np.eye(3), (3_000, 1, 1)))
    assert np.linalg.det(turns) == pytest.approx(1)
    # each element of a uniform rotation has mean 0 and mean square 1/3
    assert turns.mean(0) == pytest.approx(np.zeros((3, 3)), abs=0.04)
    assert (turns**2).mean(0) == pytest.approx(np.full((3, 3), 1 / 3), abs=0.02)


def test_a_place_that_reflects_nothing_has_a_finite_error():
    found = measure_light(np.zeros((2, 3)), np.array([[0.0, 0, 0], [1, 1, 1]]))
    assert (found.median, found.largest, found.bias) == (0.5, 1, -1)


@pytest.mark.parametrize("index", [1.0, 1.5])
def test_light_from_below_counts_too(index):
    parameters, below = (lively_parameters(seed=seed) for seed in (3, 4))
    parameters.transmitted = TransmittedSide(below.decoder, index)
    device = open_device("software")
    both = Student(parameters, device)
    found = measure_sky(both, both, 64, PLAN)
    assert (found.median, found.bias) == (0, 0)
    below = parameters.sides[1]
    below.bias(below.spec.layers[-1])[:] -= 20
    reflecting = Student(parameters, device)
    assert -0.95 < measure_sky(both, reflecting, 64, PLAN).bias < -0.02
