"""examples/learn/texture_compression: gradients of latents, sizes, and the comparison with BC7."""

import json

import numpy as np
import pytest

from verdigris.core.base.errors import VerdigrisError

BATCHES = 16


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


def test_resizing_keeps_means_and_constants(learn):
    kit = learn("kit")
    texels = np.random.default_rng(1).random((24, 16, 2)).astype("f4")
    for size in ((12, 16), (7, 5), (31, 40)):
        found = kit.resized(texels, *size)
        assert found.shape == (*size, 2)
        np.testing.assert_allclose(found.mean((0, 1)), texels.mean((0, 1)), atol=0.03)
        np.testing.assert_allclose(kit.resized(0 * texels + 0.3, *size), 0.3, rtol=1e-5)
    np.testing.assert_allclose(
        kit.resized(texels, 12, 8), texels.reshape(12, 2, 8, 2, 2).mean((1, 3)), rtol=1e-5
    )


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
    found = example.Result(None, 25.0, 8.0, None)
    decibels, bits = example.beside_plain(sizes, found)
    assert (decibels, bits) == pytest.approx((30.0, 2.0))


def test_texels_on_lines_survive_their_blocks(learn):
    blocks = learn("blocks")
    random = np.random.default_rng(4)
    ends, shares = random.random((6, 2, 4)), random.integers(0, 16, (6, 16)) / 15
    shares[:, 0], shares[:, 1] = 0, 1
    lines = ends[:, :1] + shares[..., None] * (ends[:, 1:] - ends[:, :1])
    texels = lines.reshape(2, 3, 4, 4, 4).swapaxes(1, 2).reshape(8, 12, 4)
    packed = blocks.pack_lines(*blocks.lines_of(texels.astype("f4")))
    assert packed.shape == (6, 16)
    np.testing.assert_allclose(blocks.unpack_lines(packed, 8, 12), texels, atol=2.6 / 255)


def test_gradients_of_blocks_agree_with_finite_differences(example, texture_set, device):
    random = np.random.default_rng(2)
    texels = random.random((8, 8, 9)).astype("f4")
    textures = texture_set.TextureSet(texels, [slice(0, 9)])
    made = example.Compressor(device, textures, (1, 0.5), width=16, hidden=1, samples=1024)
    batch = {"latents": made._latents, "textures": made._textures, "size": made._size}
    # some, since each draws texels at random
    for step in range(BATCHES):
        made._program.run("trainTexels", 1024, step=step, **batch, **made._network.training)
    for grid in made._grids:
        count = grid._adam.count
        grid._program.run("collectGradients", 4, grid=grid.arguments)
        gradients, values = (
            example.read(each, count) for each in (grid._adam.gradients, grid._adam.values)
        )
        # of ends and of shares
        for part in (slice(0, count // 3), slice(2 * count // 3, count)):
            place = part.start + np.abs(gradients[part]).argmax()
            step = 0.04 * (1 if values[place] < 0.5 else -1)
            ends = []
            for factor in (0, 1):
                moved = values.copy()
                moved[place] += factor * step
                grid._adam.values.copy_from_numpy(moved)
                grid.expand(is_rounded=False)
                # the mean over texels and channels, as the training draws them
                ends.append(np.mean((made.decode() - texels) ** 2))
            mean = gradients[place] / BATCHES
            assert mean == pytest.approx((ends[1] - ends[0]) / step, rel=0.15)
            grid._adam.values.copy_from_numpy(values)
            grid.expand(is_rounded=False)
    # after an overflow there is none
    made._network._tape["scaling"].copy_from_numpy(np.array([np.inf, 0, 0], "f4"))
    made._program.run("trainTexels", 1024, step=0, **batch, **made._network.training)
    for grid in made._grids:
        assert np.isfinite(example.read(grid.arguments["byTexels"], -1)).all()


def test_a_short_training_beats_bc7_and_its_files_decode_to_the_same(
    example, texture_set, learn, device, tmp_path
):
    textures = texture_set.load_textures("glazed_tile", 64)
    sizes = {"width": 16, "hidden": 1, "samples": 512, "steps": 200}
    found = example.compress(device, textures, (0.5, 0.5), sizes)
    plain, _ = example.beside_plain(texture_set.plain_blocks(textures), found)
    assert found.decibels > plain + 1.2
    files = learn("compressed_set")
    files.write_set(tmp_path, found.compressed)
    again = files.read_set(tmp_path)
    # by numpy, from blocks and halves
    np.testing.assert_allclose(again.decode(), found.texels, atol=1e-2)
    assert again.bits == found.bits
    assert again.bits == 2 * 8 * 0.25 + 16 * (24 * 16 + 16 + 16 * 9 + 9) / 64**2
    (tmp_path / "sizes.json").write_text("{}")
    with pytest.raises(VerdigrisError, match="no compressed material"):
        files.read_set(tmp_path)


def test_a_target_takes_the_smallest_size_that_reaches_it(
    example, device, tmp_path, monkeypatch, capsys
):
    small = {"side": 32, "width": 16, "hidden": 1, "samples": 256, "steps": 10}
    monkeypatch.setattr(example, "SMALL", small)
    arguments = ["glazed_tile", "--out", str(tmp_path), "--sizes", "0.5,0.5", "0.25,0.25"]
    made, compress = {}, example.compress

    def once(device, textures, shares, sizes):
        if shares not in made:
            made[shares] = compress(device, textures, shares, sizes)
        return made[shares]

    monkeypatch.setattr(example, "compress", once)
    for target, sizes in (("1", [8]), ("99", [8, 16])):
        options = example.arguments().parse_args([*arguments, "--target", target])
        example.main(options, device)
        printed = capsys.readouterr().out
        tried = [each.split("|")[3] for each in printed.splitlines() if "| glazed_tile" in each]
        assert [32 * float(each.split(",")[0]) for each in tried] == sizes
        assert ("no size reaches 99 dB; the best has" in printed) == (target == "99")
    stored = json.loads((tmp_path / "glazed_tile" / "sizes.json").read_text())
    assert stored["latents"][0] in ([8, 8], [16, 16])
    assert (tmp_path / "texture_compression_glazed_tile.png").stat().st_size > 1000


def test_sizes_that_cannot_be_are_refused(example, capsys):
    for text in ("1", "0.5,1", "0,0", "2,1", "big,small"):
        with pytest.raises(SystemExit):
            example.arguments().parse_args(["--sizes", text])
        assert f"{text}: give two parts" in capsys.readouterr().err
    assert example.smaller_than(2, [(1, 1), (1, 0.5), (0.5, 0.5)]) == [(0.5, 0.5), (1, 0.5)]
    with pytest.raises(VerdigrisError, match="not smaller than 1 textures"):
        example.smaller_than(1, [(1, 1)])
