"""BC7 blocks decode as another decoder has them, and as the device's texture unit has them."""

import numpy as np
import pytest

from verdigris.core.network.latents import bc7


def random_blocks(count, seed=0):
    """Blocks of modes 4, 5 and 6 with random bits."""
    random = np.random.default_rng(seed)
    blocks = random.integers(0, 256, (count, bc7.BLOCK_BYTES)).astype(np.uint8)
    mode = random.integers(4, 7, count)
    blocks[:, 0] = (blocks[:, 0] & ~((2 << mode) - 1).astype(np.uint8)) | (1 << mode)
    return blocks


def test_an_independent_decoder_has_the_same_bytes():
    decoder = pytest.importorskip("texture2ddecoder", reason="texture2ddecoder is not installed")
    blocks = random_blocks(64 * 64)
    found = bc7.from_blocks(bc7.decode(blocks).reshape(64, 64, 16, 4), 256, 256)
    bgra = np.frombuffer(decoder.decode_bc7(blocks.tobytes(), 256, 256), np.uint8)
    np.testing.assert_array_equal(found, bgra.reshape(256, 256, 4)[..., [2, 1, 0, 3]])


def test_what_is_packed_is_unpacked():
    random = np.random.default_rng(1)
    kinds = np.arange(len(bc7.MODE)).repeat(50)
    first, second = (
        bc7.quantise_endpoints(random.uniform(-9, 264, (len(kinds), 4)), kinds) for _ in range(2)
    )
    texels = random.uniform(0, 255, (len(kinds), 16, 4))
    line, scalar = bc7.indices_of(texels, first, second, kinds)
    blocks = bc7.pack(first, second, kinds, line, scalar)
    assert bc7.is_known(blocks).all()
    np.testing.assert_array_equal(bc7.unpack(blocks)[2], kinds)
    expected = bc7.decode_indices(first, second, kinds, line, scalar)
    np.testing.assert_array_equal(bc7.decode(blocks), expected)


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (4, 4), (5, 9), (13, 2)])
def test_texels_beyond_the_edge_of_a_level_are_left_out_again(size):
    texels = np.random.default_rng(2).integers(0, 256, (*size, 8))
    np.testing.assert_array_equal(bc7.from_blocks(bc7.to_blocks(texels), *size), texels)
