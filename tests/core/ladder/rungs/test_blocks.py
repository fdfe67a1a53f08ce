"""Block-compressed rungs: files, bytes and errors are those of the blocks."""

import copy
import struct

import numpy as np
import pytest

from verdigris.core.baking.ladder_request import LadderRequest
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import SettingsError
from verdigris.core.bundle.files.ktx2 import BC4, BC5, BC7, BC7_SRGB, FORMATS
from verdigris.core.ladder.ladder_settings import LadderSettings
from verdigris.core.ladder.rungs.detail import DetailAndColour, DetailRung
from verdigris.core.ladder.rungs.pbr import PbrRung
from verdigris.core.ladder.texels import pbr_model
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.texels.images import RungImage, decode_bc4, encode_bc4
from verdigris.core.ladder.texels.pbr_model import PbrMaterial, PbrTextures

from ..image_rungs import CURVE, sums_of, unlit_rung

SIDE = 16


def smooth(channels):
    """A picture as materials have them, (SIDE, SIDE, channels)."""
    v, u = np.indices((SIDE, SIDE)) / SIDE
    waves = [0.5 + 0.4 * np.sin(3 * u + each) * np.cos(2 * v - each) for each in range(channels)]
    return np.stack(waves, -1).astype(np.float32)


def read_by_another(data, format_name):
    """Level 0 of a KTX 2.0 file, (SIDE, SIDE, 4) as RGBA."""
    decoder = pytest.importorskip("texture2ddecoder", reason="texture2ddecoder is not installed")
    assert struct.unpack_from("<I", data, 12)[0] == FORMATS[format_name].number
    at, size = struct.unpack_from("<2Q", data, 80)
    decode = {BC4: decoder.decode_bc4, BC5: decoder.decode_bc5}.get(format_name, decoder.decode_bc7)
    bgra = np.frombuffer(decode(data[at : at + size], SIDE, SIDE), np.uint8)
    return bgra.reshape(SIDE, SIDE, 4)[..., [2, 1, 0, 3]] / 255


@pytest.mark.parametrize("channels", [1, 2])
def test_blocks_of_one_and_two_channels_are_near_and_equal_ends_are_exact(channels):
    image = smooth(channels)
    found = decode_bc4(encode_bc4(image), SIDE, SIDE)
    assert np.sqrt(((found - image) ** 2).mean()) < 0.006
    flat = np.full((4, 8, channels), 77 / 255, np.float32)
    flat[:, 4:] = 0
    assert decode_bc4(encode_bc4(flat), 4, 8) == pytest.approx(flat, abs=1e-6)


def test_another_decoder_reads_what_the_rung_is_measured_with(tmp_path):
    model = DetailAndColour(
        Grid(SIDE, SIDE, smooth(1).reshape(-1, 1)),
        Grid(SIDE, SIDE, smooth(3).reshape(-1, 3)),
        CURVE,
    )
    before = copy.deepcopy(model)
    rung = DetailRung(model, size=SIDE)
    rung.compress()
    # half a byte a texel for one channel, and a byte for three
    assert rung.byte_size == SIDE * SIDE // 2 + SIDE * SIDE
    written = rung.write_files(tmp_path)
    for use, format_name, grid, old in (
        ("detail", BC4, model.detail, before.detail), ("colour", BC7, model.colour, before.colour),
    ):  # fmt: skip
        data = (tmp_path / written.files[f"{use}.ktx2"]).read_bytes()
        found = read_by_another(data, format_name)[..., : grid.channels]
        assert found == pytest.approx(grid.image, abs=1.01 / 255)
        assert not np.array_equal(grid.values, old.values)
        assert np.abs(grid.values - old.values).mean() < 0.01


def pbr_rung(device):
    stored = np.tile(np.array(pbr_model.START, np.float32), (SIDE * SIDE, 1))
    stored[:, : pbr_model.CHANNELS] = 0.2 + 0.6 * smooth(pbr_model.CHANNELS).reshape(-1, 15)
    pbr_model.keep_in_range(stored)
    grid = Grid(SIDE, SIDE, stored)
    occlusion = Grid(SIDE, SIDE, smooth(1).reshape(-1, 1))
    layers = tuple(pbr_model.LAYERS)
    textures = PbrTextures(grid, layers, occlusion=occlusion)
    return PbrRung(textures, size=SIDE, material=PbrMaterial(grid, device))


def test_gltf_textures_are_drawn_and_written_as_their_blocks_hold_them(tmp_path):
    device = open_device("software")
    rung = pbr_rung(device)
    before = rung.textures.grid.values.copy()
    rung.compress()
    after = rung.textures.grid.values
    assert 0 < np.abs(after - before).mean() < 0.02
    written = rung.write_files(tmp_path)
    for use, format_name in (
        ("base_color", BC7_SRGB),
        ("orm", BC7),
        ("normal", BC5),
        ("coat", BC5),
    ):
        data = (tmp_path / written.files[f"{use}.ktx2"]).read_bytes()
        channels = 2 if format_name == BC5 else 3
        found = read_by_another(data, format_name)[..., :channels]
        image = rung.images()[use].pixels[..., :channels]
        # a coat has a least roughness, which is above some texels of blocks
        assert found == pytest.approx(image, abs=0.02)
    rng = np.random.default_rng(0)
    uv = rng.random((200, 2)).astype(np.float32)
    towards = np.tile(np.array([0.3, 0.2, 0.9], np.float32), (200, 1))
    towards /= np.linalg.norm(towards[0])
    filtered = Grid(SIDE, SIDE, pbr_model.decode(after)).sample(uv.T)
    expected = pbr_model.evaluate(filtered, towards.T, towards.T).T
    assert rung.material.response(uv, towards, towards) == pytest.approx(expected, rel=1e-2)


def test_the_texture_unit_reads_the_blocks_that_are_timed():
    device = open_device("software")
    rung = unlit_rung()
    rung.compress()
    by_blocks = sums_of(rung, device)
    rung.blocks.clear()
    assert by_blocks == pytest.approx(sums_of(rung, device), rel=1e-2)


def test_the_blocks_of_noise_are_no_worse_than_a_line_of_four_bits():
    noise = np.random.default_rng(3).random((SIDE, SIDE, 3)).astype(np.float32)
    found = RungImage(noise).encode().decode()[..., :3]
    assert np.sqrt(((found - noise) ** 2).mean()) < 0.2


def test_formats_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(SettingsError, match="texture_format is 'bc1': use rgba8 or bc7"):
        LadderSettings(texture_format="bc1")
    with pytest.raises(SettingsError, match="write them, too"):
        LadderRequest(tmp_path, ("pbr",), changes={"texture_format": "bc7"}, has_ktx=False)
