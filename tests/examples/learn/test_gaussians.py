"""examples/learn/gaussians: both ways of drawing, gradients, and a fit."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def example(learn):
    return learn("gaussians")


@pytest.fixture(scope="module")
def program(example, device):
    return example.Program(device, example.HERE / "gaussians.slang", MOST_SIMPLE=16)


@pytest.fixture(scope="module")
def picture():
    rows, columns = np.mgrid[:24, :32] / 24
    return np.stack([rows, 0.5 + 0.4 * np.sin(7 * columns), np.hypot(rows, columns) / 2], -1)


def numpy_picture(numbers, shape):
    """In double precision, one Gaussian after the other."""
    rows, columns = np.mgrid[: shape[0], : shape[1]] + 0.5
    at = np.stack([columns, rows], -1) / min(shape)
    colour, uncovered = np.zeros((*shape, 3)), np.ones(shape)
    for each in numbers.astype(float):
        axis = np.array([np.cos(each[4]), np.sin(each[4])])
        offset = at - 0.1 * each[:2]
        along, across = offset @ axis, offset @ [-axis[1], axis[0]]
        size = np.exp(each[2:4])
        power = (along / size[0]) ** 2 + (across / size[1]) ** 2
        alpha = np.minimum(np.exp(-power / 2) / (1 + np.exp(-each[8])), 0.99)
        colour += (uncovered * alpha)[..., None] * each[5:8]
        uncovered *= 1 - alpha
    return colour


def test_both_ways_draw_what_numpy_draws(example, program, picture):
    numbers = example.scattered(picture, 12)
    simple, tiles = (example.Gaussians(program, picture, numbers, each) for each in (False, True))
    wanted = numpy_picture(numbers, picture.shape[:2])
    np.testing.assert_allclose(simple.draw(), wanted, atol=2e-5)
    # tiles leave out what is below half a step of a byte
    np.testing.assert_allclose(tiles.draw(), wanted, atol=0.02)
    assert 0 < tiles.most_in_tile <= 12


def test_gradients_of_both_ways_agree_with_finite_differences(example, program, picture):
    numbers = example.scattered(picture, 6).astype(float)
    numbers[:, 2:4] += 0.7
    found = [
        example.Gaussians(program, picture, numbers.astype("f4"), each).gradients()
        for each in (False, True)
    ]
    step, wanted = 1e-4, np.zeros_like(numbers)
    for place in np.ndindex(numbers.shape):
        ends = []
        for sign in (1, -1):
            moved = numbers.copy()
            moved[place] += sign * step
            ends.append(np.mean((numpy_picture(moved, picture.shape[:2]) - picture) ** 2))
        wanted[place] = (ends[0] - ends[1]) / (2 * step)
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(found[0] / scale, wanted / scale, atol=2e-4)
    np.testing.assert_allclose(found[1] / scale, wanted / scale, atol=2e-2)


def test_a_fit_comes_close_to_the_picture(example, program, picture):
    gaussians = example.Gaussians(program, picture, example.scattered(picture, 40), True)
    before = example.psnr(gaussians.draw(), picture)
    gaussians.train(80, example.RATE)
    after = example.psnr(gaussians.draw(), picture)
    assert after > max(before + 6, 27)
