"""examples/learn/texture_compression: sizes, and the comparison with BC7. tests/core/compress has
the rest."""

import numpy as np
import pytest

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.compress.compressor import Effort


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


def test_plain_blocks_take_eight_bits_for_each_texel_of_each_texture(texture_set):
    textures = texture_set.load_textures("painted_wood", 64)
    plain = texture_set.plain_blocks(textures, (0.5, 1.0))
    assert plain[0].bits == 2 * len(textures.textures)
    assert plain[-1].bits == 8 * len(textures.textures)
    assert plain[0].decibels + 3 < plain[-1].decibels
    # between them some textures are reduced and others are not
    assert len(plain) > 2
    assert all(each.texels.shape == textures.texels.shape for each in plain)


def test_the_better_of_smaller_sizes_counts_for_bc7(example, texture_set):
    sizes = [texture_set.Plain(None, *each) for each in ((20.0, 1.0), (30.0, 4.0), (25.0, 8.0))]
    found = example.Result(None, 25.0, 8.0)
    decibels, bits = example.beside_plain(sizes, found)
    assert (decibels, bits) == pytest.approx((30.0, 2.0))


def test_a_short_training_beats_bc7(example, texture_set, device):
    textures = texture_set.load_textures("glazed_tile", 64)
    found = example.compress(device, textures, (0.5, 0.5), Effort(16, 1, 512, 200))
    plain, _ = example.beside_plain(texture_set.plain_blocks(textures), found)
    assert found.decibels > plain + 1.2
    assert found.bits == 2 * 8 * 0.25 + 16 * (24 * 16 + 16 + 16 * 9 + 9) / 64**2


def test_a_target_takes_the_smallest_size_that_reaches_it(
    example, device, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(example, "SMALL_SIDE", 32)
    monkeypatch.setattr(example, "SMALL", Effort(16, 1, 256, 10))
    arguments = ["glazed_tile", "--out", str(tmp_path), "--sizes", "0.5,0.5", "0.25,0.25"]
    made, compress = {}, example.compress

    def once(device, textures, shares, effort):
        if shares not in made:
            made[shares] = compress(device, textures, shares, effort)
        return made[shares]

    monkeypatch.setattr(example, "compress", once)
    for target, sizes in (("1", [8]), ("99", [8, 16])):
        options = example.arguments().parse_args([*arguments, "--target", target])
        example.main(options, device)
        printed = capsys.readouterr().out
        tried = [each.split("|")[3] for each in printed.splitlines() if "| glazed_tile" in each]
        assert [32 * float(each.split(",")[0]) for each in tried] == sizes
        assert ("no size reaches 99 dB; the best has" in printed) == (target == "99")
    assert (tmp_path / "texture_compression_glazed_tile.png").stat().st_size > 1000


def test_sizes_that_cannot_be_are_refused(example, capsys):
    for text in ("1", "0.5,1", "0,0", "2,1", "big,small"):
        with pytest.raises(SystemExit):
            example.arguments().parse_args(["--sizes", text])
        assert f"{text}: give two parts" in capsys.readouterr().err
    assert example.smaller_than(2, [(1, 1), (1, 0.5), (0.5, 0.5)]) == [(0.5, 0.5), (1, 0.5)]
    with pytest.raises(VerdigrisError, match="not smaller than 1 textures"):
        example.smaller_than(1, [(1, 1)])
