"""examples/learn/texture_compression: gradients of latents, sizes, and the comparison with BC7."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def example(learn):
    return learn("texture_compression")


@pytest.fixture(scope="module")
def texture_set(learn):
    return learn("texture_set")


def test_textures_of_an_example_become_channels_of_one_size(texture_set):
    found = texture_set.load_textures("glazed_tile", 64)
    assert found.texels.shape[:2] == (64, 64)
    assert found.textures[-1].stop == found.texels.shape[-1] <= 16
    assert (np.ptp(found.texels, (0, 1)) > 0).all()


def test_resizing_keeps_means_and_constants(texture_set):
    texels = np.random.default_rng(1).random((24, 16, 2)).astype("f4")
    for size in ((12, 16), (7, 5), (31, 40)):
        found = texture_set.resized(texels, *size)
        assert found.shape == (*size, 2)
        np.testing.assert_allclose(found.mean((0, 1)), texels.mean((0, 1)), atol=0.03)
        np.testing.assert_allclose(texture_set.resized(0 * texels + 0.3, *size), 0.3, rtol=1e-5)
    np.testing.assert_allclose(
        texture_set.resized(texels, 12, 8), texels.reshape(12, 2, 8, 2, 2).mean((1, 3)), rtol=1e-5
    )


def test_plain_blocks_take_the_bits_that_they_may(texture_set):
    textures = texture_set.load_textures("painted_wood", 64)
    for wanted in (2.0, 8.0):
        found, bits = texture_set.plain_blocks(textures, wanted)
        assert found.shape == textures.texels.shape
        assert bits == pytest.approx(wanted, rel=0.3)


def test_gradients_of_latents_agree_with_finite_differences(example, texture_set, device):
    random = np.random.default_rng(2)
    texels = random.random((8, 8, 3)).astype("f4")
    textures = texture_set.TextureSet(texels, [slice(0, 3)])
    made = example.Compressor(device, textures, 0.5, width=16, hidden=1, samples=1024)
    batch = {"latents": made._latents, "textures": made._textures, "size": made._size, "step": 1}
    made._program.run("trainTexels", 1024, **batch, **made._network.training)
    gradients = example.read(made._adam.gradients, 4, 4, 8)
    values = example.read(made._adam.values, 4, 4, 8)
    place = np.unravel_index(np.abs(gradients).argmax(), gradients.shape)
    ends, step = [], 0.02
    for sign in (1, -1):
        moved = values.copy()
        moved[place] += sign * step
        made._adam.values.copy_from_numpy(moved.ravel())
        # the mean over texels and channels, as the training draws them
        decoded = made.decode()
        ends.append(np.mean((decoded - texels) ** 2))
    # the kernel's factor of 2 belongs to inputs that are centred
    assert gradients[place] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=0.3)


def test_a_short_training_beats_bc7_at_equal_bits(example, texture_set, device):
    textures = texture_set.load_textures("glazed_tile", 64)
    sizes = {"width": 16, "hidden": 1, "samples": 512, "steps": 200}
    found = example.compress(device, textures, 0.5, sizes)
    plain, bits = texture_set.plain_blocks(textures, found.bits)
    assert bits < 1.3 * found.bits
    assert found.decibels > example.psnr(plain, textures.texels) + 0.4
