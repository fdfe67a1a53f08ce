"""KTX 2.0 files, compared with the specification and an independent reader."""

import json
import shutil
import struct
import subprocess

import numpy as np
import pytest

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files.ktx2 import (
    BC6H,
    BC7,
    FORMATS,
    RGBA16F,
    TextureShape,
    descriptor,
    read_ktx2,
    write_ktx2,
)
from verdigris.core.bundle.proxies.proxy_texture import Proxies
from verdigris.core.network.spec import NetworkSpec

from ..bundles import lively_parameters, make_bundle, random_curves

KTX_PARSE = "ktx-parse@2.0.0"
# Prints what ktx-parse finds in the files it is given, as JSON.
SCRIPT = """
import { read } from 'ktx-parse';
import { readFileSync } from 'node:fs';
const found = process.argv.slice(2).map((path) => {
  const { levels, keyValue, dataFormatDescriptor, ...header } = read(readFileSync(path));
  return { ...header, keyValue, dfd: dataFormatDescriptor,
    levels: levels.map((level) => ({ size: level.uncompressedByteLength,
      data: Buffer.from(level.levelData).toString('hex') })) };
});
console.log(JSON.stringify(found));
"""


def texels(name, shape, seed=0):
    random = np.random.default_rng(seed)
    dtype = FORMATS[name].dtype
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    found = random.integers(0, 256, shape).astype(dtype)
    if name == BC7:
        # of mode 5
        found[..., 0] = found[..., 0] & 0xC0 | 0x20
    if name == BC6H:
        # of mode 11
        found[..., 0] = found[..., 0] & 0xE0 | 0x03
    return found


def chain(name, width, height, layers=0):
    """Random levels of a full chain, and the shape that reads them."""
    count = max(width, height).bit_length()
    shape = TextureShape(FORMATS[name], width, height, count, layers)
    return [texels(name, shape.level(level), level) for level in range(count)], shape


@pytest.mark.parametrize("layers", [0, 2])
@pytest.mark.parametrize("size", [(1, 1), (8, 8), (16, 2), (1, 64), (13, 6)])
@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_is_read_back(name, size, layers):
    levels, shape = chain(name, *size, layers)
    for wrote, found in zip(
        levels, read_ktx2(write_ktx2(name, levels, "t", size[::-1]), shape, "f"), strict=True
    ):
        np.testing.assert_array_equal(wrote, found)


def test_header_and_levels_lie_where_the_specification_puts_them():
    levels, _ = chain("R8G8B8A8_UNORM", 8, 4, 2)
    data = write_ktx2("R8G8B8A8_UNORM", levels, "t")
    assert data[:12] == bytes.fromhex("ab4b5458203230bb0d0a1a0a")
    assert struct.unpack_from("<9I", data, 12) == (37, 1, 8, 4, 0, 2, 1, 4, 0)
    index = [struct.unpack_from("<3Q", data, 80 + 24 * level) for level in range(4)]
    assert [size for _, size, _ in index] == [256, 64, 16, 8]
    # smallest first, finest last, nothing behind it
    offsets = [offset for offset, _, _ in index]
    assert offsets == sorted(offsets, reverse=True)
    assert offsets[0] + 256 == len(data)
    assert data[offsets[0] :][:4] == levels[0][0, 0, 0].tobytes()


@pytest.mark.parametrize(
    ("name", "block"),
    [
        # total size, vendor and type, version 2 and block size, RGBSDA with BT.709 linear, plane 0;
        # then a sample a channel: bit offset, length - 1, channel, lower, upper
        (
            "R8_UNORM",
            "2c000000 00000000 02002800 01010100 00000000 0100000000000000"
            "0000 07 00 00000000 00000000 ff000000",
        ),
        # sRGB: transfer function 2, and alpha with the bit of linear samples
        (
            "R8G8B8A8_SRGB",
            "5c000000 00000000 02005800 01010200 00000000 0400000000000000"
            "0000 07 00 00000000 00000000 ff000000 0800 07 01 00000000 00000000 ff000000"
            "1000 07 02 00000000 00000000 ff000000 1800 07 1f 00000000 00000000 ff000000",
        ),
        # BC7 (134), 4 x 4 texels of 16 bytes: one sample of 128 bits
        (
            "BC7_UNORM_BLOCK",
            "2c000000 00000000 02002800 86010100 03030000 1000000000000000"
            "0000 7f 00 00000000 00000000 ffffffff",
        ),
        # BC6H (133): the same, unsigned floats from 0 to 1
        (
            "BC6H_UFLOAT_BLOCK",
            "2c000000 00000000 02002800 85010100 03030000 1000000000000000"
            "0000 7f 80 00000000 00000000 0000803f",
        ),
        # ASTC (162)
        (
            "ASTC_4x4_UNORM_BLOCK",
            "2c000000 00000000 02002800 a2010100 03030000 1000000000000000"
            "0000 7f 00 00000000 00000000 ffffffff",
        ),
        (
            "R16G16B16A16_SFLOAT",
            "5c000000 00000000 02005800 01010100 00000000 0800000000000000"
            "0000 0f c0 00000000 000080bf 0000803f 1000 0f c1 00000000 000080bf 0000803f"
            "2000 0f c2 00000000 000080bf 0000803f 3000 0f cf 00000000 000080bf 0000803f",
        ),
    ],
)
def test_the_descriptor_is_khronos_own(name, block):
    assert descriptor(FORMATS[name]) == bytes.fromhex(block)


@pytest.fixture(scope="module")
def ktx_parse(tmp_path_factory):
    """A folder in which node finds ktx-parse."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    folder = tmp_path_factory.mktemp("node")
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", KTX_PARSE]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm does not fetch {KTX_PARSE} within a minute")
    if done.returncode:
        pytest.skip(f"npm cannot fetch {KTX_PARSE}: {done.stderr.strip()[-200:]}")
    (folder / "read.mjs").write_text(SCRIPT)
    return folder


def test_an_independent_reader_finds_what_was_written(ktx_parse, tmp_path):
    glow, _ = chain("R16G16B16A16_SFLOAT", 8, 8)
    cover, _ = chain("R8_UNORM", 8, 8)
    albedo, _ = chain("R8G8B8A8_SRGB", 4, 2, 5)
    proxies = Proxies(albedo, 2, random_curves())
    folders = [
        make_bundle(tmp_path / "bytes.vdg", emission=glow, opacity=cover, proxies=proxies).folder,
        make_bundle(tmp_path / "halves.vdg", texel_format=RGBA16F).folder,
        # an array of one layer
        make_bundle(
            tmp_path / "four.vdg", lively_parameters(NetworkSpec(8, 1, "silu", latent_channels=4))
        ).folder,
    ]
    files = [path for folder in folders for path in sorted(folder.glob("*.ktx2"))]
    assert len(files) == 6
    done = subprocess.run(
        ["node", "read.mjs", *map(str, files)],
        cwd=ktx_parse,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    for path, found in zip(files, json.loads(done.stdout), strict=True):
        manifest = json.loads((path.parent / "manifest.json").read_text())
        facts = manifest[path.stem]
        texel = FORMATS[facts["format"]]
        assert found["vkFormat"] == texel.number
        assert (found["pixelWidth"], found["pixelHeight"]) == (facts["width"], facts["height"])
        assert found["layerCount"] == facts.get("layers", 0)
        assert (found["faceCount"], found["supercompressionScheme"]) == (1, 0)
        assert found["keyValue"]["KTXorientation"] == "ru"
        assert found["keyValue"]["KTXwriter"].startswith("verdigris ")
        (block,) = found["dfd"]
        curve = 2 if path.stem == "proxies" else 1
        model = 134 if facts["format"] == BC7 else 1
        assert (block["colorModel"], block["transferFunction"]) == (model, curve)
        assert block["bytesPlane"][0] == texel.size
        assert len(block["samples"]) == (1 if texel.is_block else texel.channels)
        data = path.read_bytes()
        for number, level in enumerate(found["levels"]):
            offset, length, _ = struct.unpack_from("<3Q", data, 80 + 24 * number)
            assert level["size"] == length
            assert bytes.fromhex(level["data"]) == data[offset : offset + length]


# Where each field of the header lies, or of a level index of four levels behind it.
FIELDS = {
    "vkFormat": 12,
    "typeSize": 16,
    "pixelWidth": 20,
    "pixelHeight": 24,
    "pixelDepth": 28,
    "layerCount": 32,
    "faceCount": 36,
    "levelCount": 40,
    "supercompressionScheme": 44,
    "dfdByteOffset": 48,
    "dfdByteLength": 52,
    "kvdByteOffset": 56,
    # its third byte, so that it ends far beyond the file
    "kvdByteLength": 62,
    "sgdByteOffset": 64,
    "sgdByteLength": 72,
    "level 0 byteOffset": 80,
    "level 1 byteOffset": 104,
    "level 2 byteLength": 136,
    "level 2 uncompressedByteLength": 144,
    "the data format descriptor": 180,
}


@pytest.mark.parametrize("field", FIELDS)
def test_a_wrong_field_is_refused_by_its_name(field):
    levels, shape = chain("R8G8B8A8_UNORM", 8, 4, 2)
    data = bytearray(write_ktx2("R8G8B8A8_UNORM", levels, "t"))
    data[FIELDS[field]] ^= 0x5A
    with pytest.raises(BundleError, match=f"a.ktx2: {field} is "):
        read_ktx2(bytes(data), shape, "a.ktx2")


def test_rows_that_run_the_other_way_are_refused():
    levels, shape = chain("R8_UNORM", 4, 4)
    data = write_ktx2("R8_UNORM", levels, "t").replace(b"ru\0", b"rd\0")
    with pytest.raises(BundleError, match=r"KTXorientation is b'rd.*row 0 at the lowest v"):
        read_ktx2(data, shape, "a.ktx2")


def with_pairs_of(data, size):
    """The file of one level, its key/value data grown to so many bytes by one more pair."""
    at, length = struct.unpack_from("<2I", data, 56)
    (level_at,) = struct.unpack_from("<Q", data, 80)
    more = struct.pack("<I", size - length - 4) + b"x".ljust(size - length - 4, b"\0")
    grown = bytearray(data[: at + length] + more + data[at + length :])
    struct.pack_into("<I", grown, 60, size)
    struct.pack_into("<Q", grown, 80, level_at + len(more))
    return bytes(grown)


def test_key_value_data_are_read_up_to_a_limit():
    levels, shape = chain("R8_UNORM", 1, 1)
    data = write_ktx2("R8_UNORM", levels, "t")
    (found,) = read_ktx2(with_pairs_of(data, 1 << 16), shape, "a.ktx2")
    assert found == levels[0]
    with pytest.raises(BundleError, match=r"kvdByteLength is 65540: the limit is 65536 bytes"):
        read_ktx2(with_pairs_of(data, (1 << 16) + 4), shape, "a.ktx2")


def test_half_floats_that_are_no_numbers_are_refused():
    levels, shape = chain("R16G16B16A16_SFLOAT", 4, 4)
    levels[1][0, 1, 2] = np.nan
    data = write_ktx2("R16G16B16A16_SFLOAT", levels, "t")
    with pytest.raises(BundleError, match="level 1 contains values that are not finite"):
        read_ktx2(data, shape, "a.ktx2")


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        (lambda data: data[:60], "a.ktx2: length is 60: a header has 80 bytes"),
        (lambda data: b"PNG" + data[3:], r"a.ktx2: is not KTX 2.0: the identifier is b'PNG"),
        (lambda data: data[:-4], r"level 0 byteOffset is \d+: the level ends at \d+, after"),
        (lambda data: data + b"\0", r"level 0 byteOffset is \d+: the level ends at \d+, the file"),
    ],
)
def test_a_file_that_is_too_short_or_too_long_is_refused_with_the_reason(cut, message):
    levels, shape = chain("R8G8B8A8_UNORM", 8, 8)
    with pytest.raises(BundleError, match=message):
        read_ktx2(cut(write_ktx2("R8G8B8A8_UNORM", levels, "t")), shape, "a.ktx2")


def test_every_truncation_is_refused():
    levels, shape = chain("R8_UNORM", 4, 4)
    data = write_ktx2("R8_UNORM", levels, "t")
    for length in range(len(data)):
        with pytest.raises(BundleError, match=r"a\.ktx2: "):
            read_ktx2(data[:length], shape, "a.ktx2")
