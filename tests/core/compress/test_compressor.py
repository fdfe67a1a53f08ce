"""Gradients of blocks, mip levels, and sizes."""

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.compress import compress as compressing
from verdigris.core.compress.compress import (
    DEFAULT,
    SIZES,
    Limits,
    forecast,
    sizes_within,
    usual_size,
)
from verdigris.core.compress.compressed_set import level_sizes, lines_of, pack_lines, unpack_lines
from verdigris.core.compress.compressor import Compressor, Effort, channel_weights
from verdigris.core.compress.mlp import read
from verdigris.core.compress.texture_set import TextureSet, resized

from .images import SMALL, waves

BATCHES = 16


def test_texels_on_lines_survive_their_blocks():
    random = np.random.default_rng(4)
    ends, shares = random.random((6, 2, 4)), random.integers(0, 16, (6, 16)) / 15
    shares[:, 0], shares[:, 1] = 0, 1
    lines = ends[:, :1] + shares[..., None] * (ends[:, 1:] - ends[:, :1])
    texels = lines.reshape(2, 3, 4, 4, 4).swapaxes(1, 2).reshape(8, 12, 4)
    packed = pack_lines(*lines_of(texels.astype("f4")))
    assert packed.shape == (6, 16)
    np.testing.assert_allclose(unpack_lines(packed), lines, atol=2.6 / 255)


def test_gradients_of_blocks_agree_with_finite_differences(device):
    texels = np.random.default_rng(2).random((8, 8, 9)).astype("f4")
    levels = [resized(texels, *size) for size in level_sizes(8, 8)]
    weights = np.linspace(0.5, 1.5, 9, dtype="f4")
    made = Compressor(device, levels, (1, 0.5), Effort(16, 1, 1024, 100), weights)
    batch = {"latents": made._arguments, "textures": made._textures}
    # some, since each draws texels at random
    for step in range(BATCHES):
        made._program.run("trainTexels", 1024, step=step, **batch, **made._network.training)
    # texels that are drawn: 7/8 in proportion to a quarter for each level, 1/8 of any
    drawn = np.array([3 / 4**level for level in range(1, 5)])
    drawn[-1] += 1 / 4**4
    drawn = 7 / 8 * drawn + 1 / 8 / 4
    for grid in made._grids:
        count = grid._adam.count
        grid._program.run("collectGradients", grid.blocks, grid=grid.arguments)
        gradients, values = (
            read(each, count) for each in (grid._adam.gradients, grid._adam.values)
        )
        # of ends and of shares
        for part in (slice(0, count // 3), slice(count // 3, count)):
            place = part.start + np.abs(gradients[part]).argmax()
            step = 0.04 * (1 if values[place] < 0.5 else -1)
            ends = []
            for factor in (0, 1):
                moved = values.copy()
                moved[place] += factor * step
                grid._adam.values.copy_from_numpy(moved)
                grid.expand(is_rounded=False)
                # the mean over texels and channels, as the training draws them
                errors = [
                    np.mean(weights * (made.decode(number) - level) ** 2)
                    for number, level in enumerate(levels)
                ]
                ends.append(drawn @ errors)
            mean = gradients[place] / BATCHES
            assert mean == pytest.approx((ends[1] - ends[0]) / step, rel=0.15)
            grid._adam.values.copy_from_numpy(values)
            grid.expand(is_rounded=False)
    # after an overflow there is none
    made._network._tape["scaling"].copy_from_numpy(np.array([np.inf, 0, 0], "f4"))
    made._program.run("trainTexels", 1024, step=0, **batch, **made._network.training)
    for grid in made._grids:
        assert np.isfinite(read(grid.arguments["byTexels"], -1)).all()


def test_channels_that_vary_little_count_more_and_not_without_end():
    random = np.random.default_rng(3)
    spreads = np.array([0.3, 0.03, 0.0])
    weights = channel_weights(0.5 + spreads * random.choice([-1, 1], (64, 64, 3)))
    assert weights.mean() == pytest.approx(1, rel=1e-5)
    # 1 / (spread + .02) ^ 1.5
    np.testing.assert_allclose(weights[1:] / weights[0], [6.4**1.5, 16**1.5], rtol=0.01)


def test_all_levels_are_learnt_and_numpy_decodes_them(device):
    """Sides that are no multiples of blocks, nor of each other."""
    rows, columns = 20, 28
    texels = waves(rows, columns, 9, 5).astype("f4")
    levels = [resized(texels, *size) for size in level_sizes(rows, columns)]
    made = Compressor(device, levels, (1, 0.5), SMALL)
    made.train()
    stored = made.compressed()
    assert [(each.rows, each.columns) for each in stored.latents] == [(20, 28), (8, 16)]
    assert [len(each.levels) for each in stored.latents] == [5, 5]
    for number, level in enumerate(levels):
        found = stored.decode(number)
        assert compressing.psnr(found, level) > 14
        # weights are halves in numpy, in the sums of the device, too
        np.testing.assert_allclose(found, made.decode(number), atol=1e-2)
    assert stored.bytes == forecast(TextureSet((), levels), (1, 0.5), SMALL)


def test_the_smallest_size_that_reaches_a_target_is_taken(device, small):
    levels = [waves(32, 32, 9, 6).astype("f4")]
    textures = TextureSet((), levels)
    found = compressing.choose_size(device, textures, Limits(target=8.0))
    assert (found.shares, found.reached) == (SIZES[0], True)
    most = forecast(textures, SIZES[1], SMALL)
    found = compressing.choose_size(device, textures, Limits(60.0, most))
    assert not found.reached
    assert found.shares in SIZES[:2]
    assert sizes_within(most, textures, SMALL) == [*SIZES[:2]]
    # of four texels a side, one block each
    assert sizes_within(None, TextureSet((), [np.zeros((4, 4, 9))]), SMALL) == [SIZES[0]]
    with pytest.raises(SettingsError, match=r"100 bytes are too few: .* --bytes 2K or a small"):
        sizes_within(100, textures, SMALL)


def test_without_limits_a_set_is_smaller_than_plain_blocks_where_it_can_be():
    textures = TextureSet((), [np.zeros((64, 64, 3))])
    plain = 64 * 64
    assert forecast(textures, DEFAULT, SMALL) > plain
    chosen = usual_size(plain, textures, SMALL)
    larger = SIZES[SIZES.index(chosen) + 1]
    assert forecast(textures, chosen, SMALL) < plain <= forecast(textures, larger, SMALL)
    assert usual_size(100 * plain, textures, SMALL) == DEFAULT
    assert usual_size(1, textures, SMALL) == SIZES[0]
