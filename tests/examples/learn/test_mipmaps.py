"""examples/learn/mipmaps: gradients of shading, and errors of fitted levels."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def mipmaps(learn):
    return learn("mipmaps")


@pytest.fixture(scope="module")
def program(mipmaps, device):
    return mipmaps.Program(device, mipmaps.HERE / "mipmaps.slang")


def shaded(mipmaps, program, texels, directions):
    """Sums of the shading, and their gradients."""
    count = len(texels)
    shading, gradients = program.zeros(count), program.zeros(count, 6)
    program.run(
        "shadeTexels",
        count,
        count=count,
        texels=program.buffer(texels.astype("f4")),
        directions=program.buffer(directions.astype("f4")),
        shading=shading,
        gradients=gradients,
    )
    return mipmaps.read(shading, count), mipmaps.read(gradients, count, 6)


def upward(random, count):
    found = random.normal(size=(count, 3))
    found[:, 2] = np.abs(found[:, 2]) + 0.5
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_gradients_of_shading_agree_with_finite_differences(mipmaps, program):
    random = np.random.default_rng(5)
    texels = np.concatenate([random.random((1, 3)), 0.9 * upward(random, 1)], 1)
    directions = np.concatenate([upward(random, 1), upward(random, 1)], 1)
    step = 1e-3
    moved = [texels + sign * step * np.eye(6) for sign in (1, -1)]
    above, below = (
        shaded(mipmaps, program, each, np.tile(directions, (6, 1)))[0] for each in moved
    )
    _, gradients = shaded(mipmaps, program, texels, directions)
    np.testing.assert_allclose(gradients[0], (above - below) / (2 * step), rtol=2e-2, atol=2e-3)


def test_a_diffuse_texel_without_highlight_is_albedo_over_pi(mipmaps, program):
    # seen and lit at right angles to each other, far from the mirror direction of a level normal
    albedo, cosine = np.array([0.2, 0.5, 0.8]), np.sqrt(0.5)
    texel = np.concatenate([albedo, [0, 0, 1]])[None]
    black = np.concatenate([0 * albedo, [0, 0, 1]])[None]
    directions = np.array([[cosine, 0, cosine, 0, cosine, cosine]])
    lit, gloss = (shaded(mipmaps, program, each, directions)[0][0] for each in (texel, black))
    assert lit - gloss == pytest.approx(0.5 * cosine * albedo.sum() / np.pi, rel=1e-4)


def test_fitted_levels_have_less_error_than_means_of_texels(mipmaps, program):
    levels = mipmaps.box_filtered(mipmaps.finest_level(16))
    filtered, learned = (mipmaps.Mipmaps(program, levels) for _ in "12")
    learned.fit(steps=100, samples=4, taps=8, rate=0.01)
    box, fitted = filtered.errors(False, 16), learned.errors(True, 16)
    assert len(box) == 4
    assert (np.array(fitted) < np.array(box)).all()
    assert sum(fitted) < 0.9 * sum(box)
