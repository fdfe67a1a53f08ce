"""Exports with other textures: plain bytes to the bit, and ASTC, decoded by a decoder of others."""

import json
import struct
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle import export
from verdigris.core.bundle.export import export_textures
from verdigris.core.bundle.files.ktx2 import BC6H, BC7, RGBA8, RGBA16F
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.reference import exported_response
from verdigris.core.bundle.files.stored_textures import emission_levels, export_numbers
from verdigris.core.bundle.files.write import Contents, write_bundle
from verdigris.core.bundle.verify.verify import verify
from verdigris.core.geometry.height_map import make_height_map
from verdigris.core.material.live_inputs.live_input import LiveInput
from verdigris.core.network.spec import LatentLayout, NetworkSpec

from ..geometry.reliefs import bumpy_heights
from .bundles import lively_parameters, made_up, make_bundle
from .runtime.test_sides import lively_sides

LAYOUT = LatentLayout(16, 8, 5)


def smooth_parameters():
    """Latents that vary slowly over a texture, as trained ones do."""
    parameters = lively_parameters(layout=LAYOUT)
    for level in range(LAYOUT.levels):
        texels = parameters.level(level)[0]
        height, width, channels = texels.shape
        v, u = np.mgrid[0:height, 0:width] / max(height, width)
        for channel in range(channels):
            texels[..., channel] = np.sin(2 * u + channel) + 0.3 * np.cos(3 * v * (channel - 2))
    return parameters


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    exported = export_numbers(smooth_parameters(), format_name=BC7)
    glow = np.random.default_rng(1).uniform(0, 5, (8, 8, 3)).astype(np.float32)
    contents = Contents(emission=emission_levels(glow), emission_format=BC6H)
    path = tmp_path_factory.mktemp("bundles") / "a.vdg"
    return open_bundle(write_bundle(path, exported, contents))


def test_plain_bytes_are_those_that_the_blocks_decode_to(bundle, tmp_path):
    found = export_textures(bundle, "rgba8", tmp_path / "b.vdg")
    assert found.errors == {}
    opened = open_bundle(found.folder)
    assert opened.manifest.latents.format == RGBA8
    np.testing.assert_array_equal(opened.parameters().latents, bundle.parameters().latents)
    assert opened.manifest.emission.format == RGBA16F
    for level, wanted in zip(opened.emission(), bundle.emission(), strict=True):
        np.testing.assert_array_equal(level, wanted)
    # the reference still holds, and the bytes are those of the files
    assert verify(opened).holds
    document = json.loads((found.folder / "manifest.json").read_text())
    size = (found.folder / "latents.ktx2").stat().st_size
    assert document["cost"]["latents_bytes"] == size == document["latents"]["bytes"]
    assert document["export"]["target"] == "rgba8" and document["export"]["from"] == BC7


@pytest.mark.parametrize("target", ["rgba8", "astc"])
def test_bundles_of_four_latents_are_exported_with_one_layer(target, tmp_path):
    pytest.importorskip("astc_encoder", reason="astc-encoder-py is an optional extra")
    spec = NetworkSpec(8, 1, "silu", latent_channels=4)
    bundle = make_bundle(tmp_path / "a.vdg", lively_parameters(spec, LAYOUT))
    found = export_textures(bundle, target, tmp_path / "b.vdg")
    assert struct.unpack_from("<I", (found.folder / "latents.ktx2").read_bytes(), 32) == (1,)
    assert target == "astc" or verify(open_bundle(found.folder)).holds


def test_astc_is_decoded_by_another_decoder_to_what_the_reference_holds(bundle, tmp_path):
    pytest.importorskip("astc_encoder", reason="astc-encoder-py is an optional extra")
    other = pytest.importorskip("texture2ddecoder", reason="decodes ASTC independently")
    found = export_textures(bundle, "astc", tmp_path / "b.vdg")
    data = (found.folder / "latents.ktx2").read_bytes()
    # VK_FORMAT_ASTC_4x4_UNORM_BLOCK, width, height, layers and levels; KHR_DF_MODEL_ASTC, 4 x 4
    assert struct.unpack_from("<I4xII4xI4xI", data, 12) == (157, 16, 8, 2, 5)
    at = struct.unpack_from("<I", data, 48)[0]
    assert data[at + 12] == 162 and data[at + 16 : at + 20] == bytes([3, 3, 0, 0])
    encoder = export.AstcEncoder()
    levels = []
    for number in range(5):
        start, size = struct.unpack_from("<QQ", data, 80 + 24 * number)
        height, width = LAYOUT.level_size(number)
        assert size == 2 * -(-height // 4) * -(-width // 4) * 16
        layers = []
        for layer in range(2):
            part = data[start + layer * size // 2 : start + (layer + 1) * size // 2]
            bgra = np.frombuffer(other.decode_astc(part, width, height, 4, 4), np.uint8)
            layers.append(bgra.reshape(height, width, 4)[..., [2, 1, 0, 3]])
            blocks = np.frombuffer(part, np.uint8).reshape(1, -(-height // 4), -(-width // 4), 16)
            (own,) = encoder.decode(blocks, height, width)
            # it rounds to bytes, and half floats of .5 to 1 are an eighth of a byte apart
            assert np.abs(255 * own - layers[-1]).max() < 0.5 + 1 / 8
        levels.append(np.concatenate(layers, -1).reshape(height * width, 8))
    latents = bundle.manifest.latents
    values = np.float64(latents.offset) + np.float64(latents.scale) * np.concatenate(levels) / 255
    reference = json.loads((found.folder / "reference.json").read_text())
    # the same decoder, with texels that another program decoded
    exact = replace(bundle.exact_parameters(), latents=values)
    wanted = exported_response(exact, bundle.reference())
    apart = np.abs(np.float64(reference["exported"]) - wanted) / (np.abs(wanted) + 0.05)
    assert apart.max() < 2e-2 and apart.mean() < 1e-3
    document = json.loads((found.folder / "manifest.json").read_text())
    before = bundle.reference().exported
    moved = np.abs(np.log1p(np.float64(reference["exported"])) - np.log1p(before)).mean()
    assert document["export"]["errors"]["log_mae"] == pytest.approx(moved, rel=1e-3)
    assert 0 < moved < 0.1 and document["export"]["errors"]["rms_of_255"] < 8
    with pytest.raises(
        BundleError, match=r"latents.format is 'ASTC_4x4_UNORM_BLOCK': only devices"
    ):
        open_bundle(found.folder)


def test_exports_refuse_what_they_cannot_do(bundle, tmp_path, monkeypatch):
    with pytest.raises(BundleError, match="is the bundle itself: choose another folder"):
        export_textures(bundle, "rgba8", bundle.folder)
    halves = export_numbers(smooth_parameters(), format_name=RGBA16F)
    opened = open_bundle(write_bundle(tmp_path / "h.vdg", halves, Contents()))
    with pytest.raises(BundleError, match="latents are half floats, which rgba8 cannot hold"):
        export_textures(opened, "rgba8", tmp_path / "b.vdg")
    monkeypatch.setitem(export.__dict__["__builtins__"], "__import__", _without_astc)
    with pytest.raises(BundleError, match="needs the package astc-encoder-py: install it with"):
        export_textures(bundle, "astc", tmp_path / "b.vdg")
    assert not (tmp_path / "b.vdg").exists()


def _without_astc(name, *others, _import=__import__, **named):
    if name == "astc_encoder":
        raise ImportError(name)
    return _import(name, *others, **named)


def test_a_living_bundle_is_exported_with_its_values_in_the_reference(tmp_path):
    live = (LiveInput("wetness", "float", (0.0,), (1.0,), 0.25),)
    exported = made_up(NetworkSpec(8, 1, "silu", live_inputs=1), texel_format=BC7)
    bundle = make_bundle(tmp_path / "a.vdg", exported, live=live)
    found = export_textures(bundle, "rgba8", tmp_path / "b.vdg")
    assert verify(open_bundle(found.folder)).holds


def test_exports_count_and_check_both_sides_and_heights(tmp_path):
    contents = {"relief": make_height_map(bumpy_heights())}
    bundle = make_bundle(tmp_path / "a.vdg", lively_sides(1.5), **contents)
    plain = export_textures(bundle, "rgba8", tmp_path / "b.vdg").folder
    assert verify(open_bundle(plain)).holds
    names = ("weights.bin", "transmitted.bin", "latents.ktx2", "height.ktx2")
    cost = json.loads((plain / "manifest.json").read_text())["cost"]
    assert cost["loaded_bytes"] == sum((plain / name).stat().st_size for name in names)

    pytest.importorskip("astc_encoder", reason="astc-encoder-py is an optional extra")
    folder = export_textures(bundle, "astc", tmp_path / "c.vdg").folder
    document = json.loads((folder / "manifest.json").read_text())
    _, decoded = export.encode_levels(bundle.latents().decoded().levels)
    latents = replace(bundle.latents().decoded(), levels=decoded).exact_values()
    records = document["reference"], document["transmission"]["reference"]
    for side, record in zip((bundle, bundle.transmitted), records, strict=True):
        text = (folder / record["file"]).read_bytes()
        assert record["sha256"] == sha256(text).hexdigest()
        found, before = np.float64(json.loads(text)["exported"]), side.reference()
        numbers = replace(side.parameters(), transmitted=None, latents=latents)
        np.testing.assert_allclose(found, exported_response(numbers, before), rtol=1e-6)
        assert 1e-5 < np.abs(found - before.exported).mean() < 0.1
