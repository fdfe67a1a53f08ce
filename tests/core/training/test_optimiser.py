"""The decoder's optimiser: Adam in bases that follow the gradients."""

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.packed_decoder import PackedDecoder
from verdigris.core.network.spec import PRESETS, NetworkSpec
from verdigris.core.training.optimiser import (
    BASIS_STEPS,
    BETA_1,
    DECODER_BETA_2,
    EPSILON,
    RotatedAdam,
    adam,
    adam_rate,
    rotate_basis,
    square_side,
)

SMALL = NetworkSpec(hidden_width=16)


def random_gradients(random, spec=SMALL):
    gradients = PackedDecoder(spec)
    gradients.vector[:] = random.standard_normal(gradients.vector.shape)
    return gradients


def rotation(random, side):
    return np.linalg.qr(random.standard_normal((side, side)))[0].astype(np.float32)


def test_until_the_first_turn_it_is_textbook_adam():
    random = np.random.default_rng(0)
    decoder = PackedDecoder(SMALL)
    optimiser = RotatedAdam(decoder)
    values, m, v = (np.zeros(decoder.vector.shape) for _ in range(3))
    for step in range(BASIS_STEPS):
        gradients = random_gradients(random)
        g = gradients.vector.astype(np.float64)
        m = BETA_1 * m + (1 - BETA_1) * g
        v = DECODER_BETA_2 * v + (1 - DECODER_BETA_2) * g * g
        m_hat, v_hat = m / (1 - BETA_1 ** (step + 1)), v / (1 - DECODER_BETA_2 ** (step + 1))
        values -= 0.01 * m_hat / (np.sqrt(v_hat) + EPSILON)
        optimiser.update(gradients, adam_rate(0.01, step, DECODER_BETA_2), step)
    np.testing.assert_allclose(decoder.vector, values, rtol=1e-3, atol=1e-6)


def test_in_turned_bases_a_first_step_moves_each_axis_by_the_rate():
    random = np.random.default_rng(1)
    decoder = PackedDecoder(SMALL)
    optimiser = RotatedAdam(decoder)
    for part in optimiser._parts:
        part.left[:] = rotation(random, len(part.left))
        part.right[:] = rotation(random, len(part.right))
    gradients = random_gradients(random)
    expected = []
    for part, gradient in zip(optimiser._parts, gradients.matrices, strict=True):
        # the first step of Adam is the sign of the gradient, here of that along each axis
        turned = np.sign(part.left.T @ gradient[:, 1:] @ part.right)
        expected.append(
            (-0.01 * np.sign(gradient[:, 0]), -0.01 * part.left @ turned @ part.right.T)
        )
    optimiser.update(gradients, adam_rate(0.01, 0, DECODER_BETA_2), 0)
    for matrix, (bias, weights) in zip(decoder.matrices, expected, strict=True):
        np.testing.assert_allclose(matrix[:, 0], bias, rtol=1e-4)
        np.testing.assert_allclose(matrix[:, 1:], weights, rtol=1e-3, atol=1e-5)


def test_turned_again_and_again_a_basis_is_that_of_the_eigenvectors():
    random = np.random.default_rng(2)
    axes = rotation(random, 12).astype(np.float64)
    values = 4.0 ** -np.arange(12)
    mean = ((axes * values) @ axes.T).astype(np.float32)
    basis = np.eye(12, dtype=np.float32)
    for _ in range(40):
        rotate_basis(basis, mean)
    np.testing.assert_allclose(basis.T @ basis, np.eye(12), atol=1e-5)
    # those far below the floor are left as they come
    aligned = np.abs((basis.T @ axes).diagonal()[:6])
    np.testing.assert_allclose(aligned, 1, atol=1e-3)


@pytest.mark.parametrize("size", [0.0, np.inf, np.nan])
def test_a_basis_without_gradients_that_count_stays_as_it_is(size):
    basis = rotation(np.random.default_rng(3), 8)
    before = basis.copy()
    rotate_basis(basis, np.full((8, 8), size, np.float32))
    np.testing.assert_array_equal(basis, before)


def test_a_basis_of_hardly_any_gradients_stays_orthogonal():
    basis = rotation(np.random.default_rng(3), 8)
    mean = np.zeros((8, 8), np.float32)
    mean[3, 3] = 1e-20
    rotate_basis(basis, mean)
    np.testing.assert_allclose(basis.T @ basis, np.eye(8), atol=1e-4)


def test_correlated_inputs_are_learnt_in_fewer_steps_than_adam_takes():
    """A linear layer whose inputs all share most of what they say."""
    random = np.random.default_rng(4)
    width = SMALL.inputs
    mixing = random.standard_normal((width, width)) * 0.05 + 1.0
    inputs = (mixing @ random.standard_normal((width, 512))).astype(np.float32)
    wanted = random.standard_normal((16, width)).astype(np.float32)
    wanted = wanted @ inputs

    def loss_after(steps, is_turned):
        decoder = PackedDecoder(SMALL)
        optimiser = RotatedAdam(decoder)
        gradients = PackedDecoder(SMALL)
        m, v = np.zeros_like(decoder.vector), np.zeros_like(decoder.vector)
        layer = decoder.layers[0][:, 1:]
        for step in range(steps):
            rate = 0.02 * (1 - step / steps)
            difference = layer @ inputs - wanted
            gradients.vector[:] = 0
            gradients.layers[0][:, 1:] = difference @ inputs.T / 512
            if is_turned:
                optimiser.update(gradients, adam_rate(rate, step, DECODER_BETA_2), step)
            else:
                adam(decoder.vector, m, v, gradients.vector, adam_rate(rate, step))
        return float((difference**2).mean())

    assert loss_after(1500, True) < 0.25 * loss_after(1500, False)


@pytest.mark.parametrize(("name", "side"), [("2x16", 32), ("2x32", 32), ("3x64", 64)])
def test_the_matrices_of_a_preset_lie_in_the_smallest_squares_that_hold_them(name, side):
    assert square_side(PRESETS[name]) == side


def test_a_decoder_wider_than_all_squares_is_refused_with_a_remedy():
    with pytest.raises(SettingsError, match=r"side of 65, .* up to 64: .* numpy trainer"):
        square_side(NetworkSpec(hidden_width=65))
