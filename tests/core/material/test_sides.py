"""Light from below, mirrored to the side of the viewer: mappings, decoders and their file."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.material.sides import mirrored, passed
from verdigris.core.network.numpy_mlp import evaluate, evaluate_at_lod
from verdigris.core.network.parameters import initialise, load, save
from verdigris.core.network.spec import LatentLayout, NetworkSpec
from verdigris.core.network.student import Student

SPEC, LAYOUT = NetworkSpec(hidden_width=16), LatentLayout(4, 4, levels=2)


def directions(count=200, least=0.05):
    random = np.random.default_rng(1)
    z, turn = random.uniform(least, 1, (2, count)), 2 * np.pi * random.random((2, count))
    sine = np.sqrt(1 - z * z)
    return np.stack([sine * np.cos(turn), sine * np.sin(turn), z], 1)


def refracted(wo, index):
    """Snell's law at the surface itself."""
    inside = np.array([-wo[0] / index, -wo[1] / index, np.zeros_like(wo[2])])
    inside[2] = -np.sqrt(1 - inside[0] ** 2 - inside[1] ** 2)
    return inside


@pytest.mark.parametrize("index", [1.0, 1.33, 2.4])
def test_refracted_light_is_mirrored_to_the_mirror_direction(index):
    wo = directions()[0]
    through = -wo if index == 1 else refracted(wo, index)
    np.testing.assert_allclose(mirrored(through, wo, index), wo * [[-1], [-1], [1]], atol=1e-9)


@pytest.mark.parametrize("index", [1.0, 1.33, 0.75])
def test_both_mappings_are_inverse(index):
    wi, wo = directions()
    half = (wi + wo) / np.linalg.norm(wi + wo, axis=0)
    # above an index below 1, a facet reflects all light at a small cosine
    passes = 1 - (wo * half).sum(0) ** 2 < 0.98 * index**2
    below = passed(wi, wo, index)
    np.testing.assert_allclose((below**2).sum(0), 1, atol=1e-9)
    back = mirrored(below, wo, index)
    np.testing.assert_allclose(back[:, passes], wi[:, passes], atol=1e-6)
    assert passes.mean() > 0.3


def test_light_that_no_facet_refracts_to_the_viewer_has_no_direction():
    grazing = np.array([[0.999], [0], [-np.sqrt(1 - 0.999**2)]])
    assert mirrored(grazing, np.array([[0.6], [0], [0.8]]), 1.5)[2, 0] < 0


@pytest.mark.parametrize("index", [1.0, 1.5])
def test_device_and_numpy_agree_on_both_sides(index):
    parameters = initialise(SPEC, LAYOUT, 5, index)
    wi, wo = (each.T.astype(np.float32) for each in directions())
    wi[::2] = passed(wi[::2].T, wo[::2].T, index).T
    uv = np.random.default_rng(2).random((len(wi), 2)).astype(np.float32)
    expected = evaluate(SPEC, parameters, uv, 0, wi, wo)
    found = Student(parameters, open_device("software")).response(uv, wi, wo)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)
    above, below = parameters.sides
    assert (found[::2] != 0).any() and not np.allclose(found[::2], found[1::2])
    # each side is the plain decoder with its own numbers
    turned = mirrored(wi[::2].T, wo[::2].T, index).T
    alone = evaluate(SPEC, below, uv[::2], 0, turned, wo[::2])
    lit = turned[:, 2] > 0
    np.testing.assert_allclose(expected[::2][lit], alone[lit], rtol=1e-5)
    alone = evaluate(SPEC, above, uv[1::2], 0, wi[1::2], wo[1::2])
    np.testing.assert_allclose(expected[1::2], alone, rtol=1e-6)


def test_an_opaque_student_is_initialised_as_without_a_second_side():
    plain, both = initialise(SPEC, LAYOUT, 5), initialise(SPEC, LAYOUT, 5, 1.0)
    np.testing.assert_array_equal(plain.decoder, both.decoder)
    np.testing.assert_array_equal(plain.latents, both.latents)
    assert plain.transmitted is None
    uv, lod = np.full((1, 2), 0.5), np.zeros(1)
    below, up = np.array([[0, 0.6, -0.8]]), np.array([[0, 0.6, 0.8]])
    assert not evaluate_at_lod(plain, uv, lod, below, up).any()
    assert evaluate_at_lod(both, uv, lod, below, up).all()


def test_a_file_keeps_the_second_side(tmp_path):
    parameters = initialise(SPEC, LAYOUT, 6, 1.4)
    save(parameters, tmp_path / "student.npz")
    found = load(tmp_path / "student.npz")
    assert found.index_below == 1.4
    for own, stored in zip(parameters.decoders, found.decoders, strict=True):
        np.testing.assert_array_equal(own, stored)
