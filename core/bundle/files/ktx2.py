"""KTX 2.0 files: 2D textures and arrays with a full mip chain, in plain texels or in blocks.

Khronos specifies the container in "KTX File Format 2.0", and the data format descriptor in
"Khronos Data Format 1.3".
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files import bc6h
from verdigris.core.network.latents import bc7

Texels = NDArray[Any]

IDENTIFIER = b"\xabKTX 20\xbb\r\n\x1a\n"
# Row 0 has the lowest v.
ORIENTATION = "ru"
# Limit of key/value data. Verdigris writes two pairs.
_MOST_PAIR_BYTES = 1 << 16
_HEADER = struct.Struct("<12s9I4I2Q")
# Fields of the header after the identifier.
_HEADER_FIELDS = (
    *("vkFormat", "typeSize", "pixelWidth", "pixelHeight", "pixelDepth", "layerCount"),
    *("faceCount", "levelCount", "supercompressionScheme", "dfdByteOffset", "dfdByteLength"),
    *("kvdByteOffset", "kvdByteLength", "sgdByteOffset", "sgdByteLength"),
)
_LEVEL = struct.Struct("<3Q")
_LINEAR, _SRGB, _BT709 = 1, 2, 1
_RGBSDA, _BC4, _BC5, _BC6H, _BC7, _ASTC = 1, 131, 132, 133, 134, 162
_DESCRIPTOR_VERSION = 2
_SAMPLE_IDS = (0, 1, 2, 15)
_ALPHA = 3
_FLOAT, _FLOAT_SIGNED, _LINEAR_SAMPLE = 0x80, 0xC0, 0x10
_MINUS_ONE, _ONE, _MOST = 0xBF800000, 0x3F800000, 0xFFFFFFFF


@dataclass(frozen=True)
class TexelFormat:
    """A texel format of the files that are written here."""

    name: str
    """Name in the manifest."""
    number: int
    """VkFormat."""
    dtype: np.dtype[Any]
    """Type of a channel, or of a byte of a block."""
    channels: int
    """Channels of a texel, or bytes of a block."""
    words: str = ""
    """For people: how a latent channel is stored."""
    uses: tuple[str, ...] = ()
    """Textures of a bundle that may have it: `latents`, `emission`, `opacity`, `proxies`,
    `relief`."""
    is_device_only: bool = False
    """Only devices decode it: bundles with it are for loaders."""
    device: str = ""
    """Name in slangpy.Format, if it is uploaded here."""
    is_srgb: bool = False
    """Red, green and blue have the sRGB transfer function; alpha is linear."""
    side: int = 1
    """Texels along a side of a block; 1 for plain texels."""
    model: int = _RGBSDA
    """Colour model of the data format descriptor."""
    is_half_block: bool = False
    """Blocks of unsigned half floats."""
    block_channels: int = 1
    """Parts of a block that have a channel each."""

    @property
    def size(self) -> int:
        """Bytes of a texel or of a block."""
        return self.channels * self.dtype.itemsize

    @property
    def is_block(self) -> bool:
        return self.side > 1

    def stored_size(self, width: int, height: int, level: int) -> tuple[int, int]:
        """Rows and columns of texels, or of blocks, of a mip level."""
        rows, columns = level_size(width, height, level)
        return -(-rows // self.side), -(-columns // self.side)

    @property
    def is_float(self) -> bool:
        return self.dtype.kind == "f"

    @property
    def alignment(self) -> int:
        """Alignment of a level: the least common multiple of 4 and a texel's or block's size."""
        return int(np.lcm(self.size, 4))


# One byte, four bytes, four half floats.
R8, RGBA8, RGBA16F = "R8_UNORM", "R8G8B8A8_UNORM", "R16G16B16A16_SFLOAT"
RGBA8_SRGB = "R8G8B8A8_SRGB"
# Blocks of 4 x 4 texels in 16 bytes, of which the readers here accept modes 4, 5 and 6.
BC7 = "BC7_UNORM_BLOCK"
# The same for half floats from 0 up, of which the readers here accept mode 11.
BC6H = "BC6H_UFLOAT_BLOCK"
# Written for rungs of a ladder; nothing here reads them.
BC7_SRGB, BC5, BC4 = "BC7_SRGB_BLOCK", "BC5_UNORM_BLOCK", "BC4_UNORM_BLOCK"
# Written by `verdigris export`, for phones.
ASTC = "ASTC_4x4_UNORM_BLOCK"
_BYTE, _HALF = np.dtype("u1"), np.dtype("<f2")
# The table of texel formats in Python; the first of a texture is the usual one. verdigris.h and
# web/src/formats.js have one each; tests/core/bundle/files/test_formats.py compares them.
FORMATS = {
    each.name: each
    for each in (
        TexelFormat(R8, 9, _BYTE, 1, uses=("opacity",), device="r8_unorm"),
        TexelFormat(
            BC7, 145, _BYTE, 16, "BC7 blocks", ("latents",), device="bc7_unorm", side=4, model=_BC7
        ),
        TexelFormat(
            RGBA8, 37, _BYTE, 4, "8 bits each", ("latents", "relief"), device="rgba8_unorm"
        ),
        TexelFormat(
            RGBA8_SRGB, 43, _BYTE, 4, uses=("proxies",), device="rgba8_unorm_srgb", is_srgb=True
        ),
        TexelFormat(
            BC6H, 143, _BYTE, 16, uses=("emission",), side=4, model=_BC6H, is_half_block=True
        ),
        TexelFormat(
            RGBA16F, 97, _HALF, 4, "half floats", ("latents", "emission"), device="rgba16_float"
        ),
        TexelFormat(ASTC, 157, _BYTE, 16, "ASTC blocks", ("latents",), True, side=4, model=_ASTC),
        TexelFormat(
            BC7_SRGB, 146, _BYTE, 16, device="bc7_unorm_srgb", is_srgb=True, side=4, model=_BC7
        ),
        TexelFormat(BC5, 141, _BYTE, 16, device="bc5_unorm", side=4, model=_BC5, block_channels=2),
        TexelFormat(BC4, 139, _BYTE, 8, device="bc4_unorm", side=4, model=_BC4),
    )
}


def formats_of(texture: str) -> tuple[str, ...]:
    """Names of the formats that this texture of a bundle may have, and that are read here."""
    return tuple(
        each.name for each in FORMATS.values() if texture in each.uses and not each.is_device_only
    )


# Blocks that are accepted here, and names of their modes.
_KNOWN_BLOCKS = {BC7: (bc7.is_known, "4, 5 and 6 of BC7"), BC6H: (bc6h.is_known, "11 of BC6H")}


def level_size(width: int, height: int, level: int) -> tuple[int, int]:
    """Height and width of a mip level."""
    return max(1, height >> level), max(1, width >> level)


def descriptor(texel: TexelFormat) -> bytes:
    """The data format descriptor: one basic block."""
    bits = 8 * (texel.size // texel.block_channels if texel.is_block else texel.dtype.itemsize)
    samples = b"".join(
        struct.pack(
            "<HBBIII",
            bits * index,
            bits - 1,
            _SAMPLE_IDS[index] | _qualifiers(texel, index),
            0,
            _MINUS_ONE if texel.is_float else 0,
            _ONE if texel.is_float or texel.is_half_block else min((1 << bits) - 1, _MOST),
        )
        for index in range(texel.block_channels if texel.is_block else texel.channels)
    )
    last = texel.side - 1
    block = struct.pack(
        "<IHHBBBB4B8B",
        *(0, _DESCRIPTOR_VERSION, 24 + len(samples)),
        *(texel.model, _BT709, _SRGB if texel.is_srgb else _LINEAR, 0),
        *(last, last, 0, 0),
        *(texel.size, 0, 0, 0, 0, 0, 0, 0),
    )
    return struct.pack("<I", 4 + len(block) + len(samples)) + block + samples


def _qualifiers(texel: TexelFormat, channel: int) -> int:
    if texel.is_srgb and channel == _ALPHA:
        return _LINEAR_SAMPLE
    if texel.is_half_block:
        return _FLOAT
    return _FLOAT_SIGNED if texel.is_float else 0


def write_ktx2(
    format_name: str, levels: Sequence[Texels], writer: str, size: tuple[int, int] | None = None
) -> bytes:
    """The bytes of a file. `levels` are finest first, each [height, width, channels] or, for an
    array, [layers, height, width, channels]. Row 0 has the lowest v. Levels of blocks are [rows,
    columns, bytes] of blocks, and `size` is their height and width in texels."""
    texel = FORMATS[format_name]
    is_array = levels[0].ndim == 4
    height, width = size or levels[0].shape[-3:-1]
    pairs = _key_values({"KTXorientation": ORIENTATION, "KTXwriter": writer})
    description = descriptor(texel)
    description_at = _HEADER.size + _LEVEL.size * len(levels)
    pairs_at = description_at + len(description)
    end = pairs_at + len(pairs)

    entries: list[tuple[int, int]] = []
    chunks: list[bytes] = []
    for number, level in reversed(list(enumerate(levels))):
        layers = level.shape[:-3]
        expected = (*layers, *texel.stored_size(width, height, number), texel.channels)
        if level.shape != expected or level.dtype != texel.dtype or layers != levels[0].shape[:-3]:
            raise ValueError(f"level {number} is {level.dtype} {level.shape}, not {expected}")
        chunks.append(bytes(-end % texel.alignment))
        end += len(chunks[-1])
        chunks.append(np.ascontiguousarray(level, texel.dtype).tobytes())
        entries.append((end, len(chunks[-1])))
        end += len(chunks[-1])

    header = _HEADER.pack(
        *(IDENTIFIER, texel.number, texel.dtype.itemsize, width, height, 0),
        *(levels[0].shape[0] if is_array else 0, 1, len(levels), 0),
        *(description_at, len(description), pairs_at, len(pairs), 0, 0),
    )
    index = b"".join(_LEVEL.pack(at, size, size) for at, size in reversed(entries))
    return b"".join([header, index, description, pairs, *chunks])


def _key_values(values: dict[str, str]) -> bytes:
    """Pairs sorted by key. Each text ends with a zero byte; each pair is padded to 4 bytes."""
    result = b""
    for key, text in sorted(values.items()):
        pair = key.encode() + b"\0" + text.encode() + b"\0"
        result += struct.pack("<I", len(pair)) + pair
        result += bytes(-len(result) % 4)
    return result


@dataclass(frozen=True)
class TextureShape:
    """The format and size that the manifest requires of a texture."""

    format: TexelFormat
    width: int
    height: int
    levels: int
    layers: int
    """0 for a texture that is not an array."""

    def level(self, number: int) -> tuple[int, ...]:
        """The level's layers if it is an array, its rows and columns, and channels or bytes."""
        layers = (self.layers,) if self.layers else ()
        stored = self.format.stored_size(self.width, self.height, number)
        return (*layers, *stored, self.format.channels)

    @property
    def texel_bytes(self) -> int:
        """Bytes of all levels on a device, without the file's header."""
        return sum(map(self.level_bytes, range(self.levels)))

    def level_bytes(self, number: int) -> int:
        rows, columns = self.format.stored_size(self.width, self.height, number)
        return max(1, self.layers) * rows * columns * self.format.size


def read_ktx2(data: bytes, expected: TextureShape, file: str) -> list[Texels]:
    """The levels, finest first. The file must have exactly the expected shape."""
    texel = expected.format
    if len(data) < _HEADER.size:
        remedy = f"a header has {_HEADER.size} bytes"
        _require(False, file, "length", len(data), remedy)
    if data[:12] != IDENTIFIER:
        raise BundleError(f"{file}: is not KTX 2.0: the identifier is {data[:12]!r}")
    header = dict(zip(_HEADER_FIELDS, _HEADER.unpack_from(data)[1:], strict=True))
    wanted = {
        "vkFormat": texel.number,
        "typeSize": texel.dtype.itemsize,
        "pixelWidth": expected.width,
        "pixelHeight": expected.height,
        "pixelDepth": 0,
        "layerCount": expected.layers,
        "faceCount": 1,
        "levelCount": expected.levels,
        "supercompressionScheme": 0,
        "sgdByteOffset": 0,
        "sgdByteLength": 0,
    }
    for name, value in wanted.items():
        _require(header[name] == value, file, name, header[name], f"the manifest needs {value}")
    index_end = _HEADER.size + _LEVEL.size * expected.levels
    _require(len(data) >= index_end, file, "length", len(data), "the level index is cut off")
    start = _check_descriptions(data, header, index_end, texel, file)
    return _read_levels(data, expected, start, file)


def _check_descriptions(
    data: bytes, header: dict[str, int], index_end: int, texel: TexelFormat, file: str
) -> int:
    """Checks descriptor and key/value pairs; returns the first byte that texels may have."""
    wanted = descriptor(texel)
    at, size = header["dfdByteOffset"], header["dfdByteLength"]
    _require(
        at == index_end, file, "dfdByteOffset", at, f"it must be {index_end}, after the level index"
    )
    _require(size == len(wanted), file, "dfdByteLength", size, f"it must be {len(wanted)}")
    found = data[at : at + size]
    _require(found == wanted, file, "the data format descriptor", found[:8], f"not {texel.name}'s")
    at, size = header["kvdByteOffset"], header["kvdByteLength"]
    begin = index_end + len(wanted)
    _require(at == begin, file, "kvdByteOffset", at, f"it must be {begin}, after the descriptor")
    _require(at + size <= len(data), file, "kvdByteLength", size, "the data end after the file")
    most = f"the limit is {_MOST_PAIR_BYTES} bytes of key/value data"
    _require(size <= _MOST_PAIR_BYTES, file, "kvdByteLength", size, most)
    pairs = _parse_pairs(data[at : at + size], file)
    orientation = pairs.get(b"KTXorientation")
    _require(
        orientation == ORIENTATION.encode() + b"\0",
        file,
        "KTXorientation",
        orientation,
        f"it must be {ORIENTATION!r}: row 0 at the lowest v",
    )
    return at + size


def _parse_pairs(data: bytes, file: str) -> dict[bytes, bytes]:
    pairs: dict[bytes, bytes] = {}
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "little")
        key, end, value = data[at + 4 : at + 4 + size].partition(b"\0")
        holds = at + 4 + size <= len(data) and bool(key) and bool(end) and key not in pairs
        _require(holds, file, "key/value data", at, "the pair at this byte is damaged")
        pairs[key] = value
        at += 4 + size + -size % 4
    return pairs


def _read_levels(data: bytes, expected: TextureShape, start: int, file: str) -> list[Texels]:
    texel = expected.format
    levels: list[Texels] = []
    end = len(data)
    for number in range(expected.levels):
        field = f"level {number}"
        at, size, plain = _LEVEL.unpack_from(data, _HEADER.size + _LEVEL.size * number)
        wanted = expected.level_bytes(number)
        for what, given in (("byteLength", size), ("uncompressedByteLength", plain)):
            _require(given == wanted, file, f"{field} {what}", given, f"it must be {wanted}")
        _require(
            at % texel.alignment == 0,
            file,
            f"{field} byteOffset",
            at,
            f"it must be a multiple of {texel.alignment}",
        )
        beyond = f"the level ends at {at + size}, after the end of the file at {len(data)}"
        _require(at + size <= len(data), file, f"{field} byteOffset", at, beyond)
        # the finest level is last; only padding lies between levels
        gap = end - (at + size)
        holds = at >= start and (number == 0 or 0 <= gap < texel.alignment)
        _require(holds, file, f"{field} byteOffset", at, "levels must be ordered from the smallest")
        behind = f"the level ends at {at + size}, the file at {len(data)}: nothing may follow it"
        _require(number > 0 or gap == 0, file, f"{field} byteOffset", at, behind)
        values = np.frombuffer(data, texel.dtype, size // texel.dtype.itemsize, at)
        if texel.is_float and not np.isfinite(values).all():
            raise BundleError(f"{file}: {field} contains values that are not finite")
        levels.append(values.reshape(expected.level(number)))
        if texel.name in _KNOWN_BLOCKS:
            is_known, mode = _KNOWN_BLOCKS[texel.name]
            if not is_known(levels[-1]).all():
                raise BundleError(f"{file}: {field} contains blocks with other modes than {mode}")
        end = at
    gap = end - start
    _require(
        0 <= gap < texel.alignment, file, "length", len(data), f"{gap} bytes belong to no level"
    )
    return levels


def _require(holds: bool, file: str, field: str, value: object, remedy: str) -> None:
    if not holds:
        raise BundleError(f"{file}: {field} is {value!r}: {remedy}")
