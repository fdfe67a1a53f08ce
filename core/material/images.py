"""Images of a material: found, checked by their headers, read with OpenImageIO."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.errors import TextureError
from verdigris.core.material.paths import TILE_TOKENS, is_tiled
from verdigris.core.material.windows import shown_size, shown_texels
from verdigris.core.outputs import require_unicode, resolved

if TYPE_CHECKING:
    import OpenImageIO as oiio
    from numpy.typing import NDArray

    from verdigris.core.material.paths import SearchPath

# Of the rectangle around all tiles of an image: one bit each in the shader.
MOST_PLACES_OF_TILES = 128
_DEFAULT_LARGEST_SIDE = 16384
_TILES_ACROSS = 10
# Of the orientations that cameras write.
_AS_STORED = 1
# OpenImageIO's base type -> numpy's, and the slangpy format of four channels of it
FORMATS: dict[str, tuple[type[np.generic], str]] = {
    "uint8": (np.uint8, "rgba8_unorm"),
    "uint16": (np.uint16, "rgba16_unorm"),
    "half": (np.float16, "rgba16_float"),
    "float": (np.float32, "rgba32_float"),
}


@dataclass(frozen=True)
class Tile:
    """One file of an image; a plain image is the tile in column and row 0."""

    path: Path
    column: int = 0
    row: int = 0


@dataclass(frozen=True)
class ImageInfo:
    """What an image's headers say. For a UDIM set, of the tile with the most texels."""

    width: int
    height: int
    channels: int
    kind: str
    tiles: tuple[Tile, ...]
    is_udim: bool = False
    orientation: int = _AS_STORED
    """The largest that a header says, of 1 to 8. Texels are read as they are stored."""

    @property
    def columns(self) -> int:
        return max(tile.column for tile in self.tiles) - self.first_column + 1

    @property
    def rows(self) -> int:
        return max(tile.row for tile in self.tiles) - self.first_row + 1

    @property
    def first_column(self) -> int:
        return min(tile.column for tile in self.tiles)

    @property
    def first_row(self) -> int:
        return min(tile.row for tile in self.tiles)

    @property
    def bytes_on_device(self) -> int:
        depth = np.dtype(FORMATS[self.kind][0]).itemsize * 4
        return self.width * self.columns * self.height * self.rows * depth * 4 // 3


@dataclass(frozen=True)
class Image:
    """Texels of a level each, four channels, row 0 at v = 0."""

    info: ImageInfo
    levels: tuple[NDArray[Any], ...]
    no_numbers: Mapping[Path, int] = field(default_factory=dict)
    """How many texels of which tile were not numbers, or infinite; they are 0 in the levels."""


def find_tiles(file: str, asker: str, search: SearchPath) -> tuple[Tile, ...]:
    """The file of a name, or every file that a UDIM name stands for."""
    token = next((token for token in TILE_TOKENS if token in file), None)
    if token is None:
        return (Tile(_require_file(file, asker, search)),)
    if file.replace("\\", "/").rpartition("/")[2].count(token) != 1:
        raise TextureError(
            f"{asker}: {file!r}: {token} must stand in the file's name, once, and not in a folder's"
        )
    looked: list[Path] = []
    for pattern in search.candidates(file):
        looked.append(pattern.parent)
        try:
            tiles = _matching_tiles(pattern, token)
        except OSError as failure:
            raise TextureError(
                f"{asker}: the folder {pattern.parent} cannot be read ({failure.strerror}): "
                "let it be read, or put the tiles elsewhere"
            ) from None
        if not tiles:
            continue
        for tile in tiles:
            if not search.allows(resolved(tile.path)):
                search.require(str(tile.path), None, asker, TextureError)
        return tuple(sorted(tiles, key=lambda tile: (tile.row, tile.column)))
    folders = ", ".join(str(folder) for folder in dict.fromkeys(looked))
    raise TextureError(
        f"{asker}: no tile of {file!r} was found in {folders}: {search.remedy(file)}"
    )


def _require_file(file: str, asker: str, search: SearchPath) -> Path:
    try:
        return search.require(file, None, asker, TextureError)
    except TextureError as failure:
        # such as Houdini's %(UDIM)d and Arnold's <udim>
        tokens = (each for each in TILE_TOKENS if re.search(rf"[<($]{each[1:-1]}", file, re.I))
        meant = next(tokens, None)
        if meant is None:
            raise
        raise TextureError(f"{failure}; the token for its tiles is {meant}") from None


def _matching_tiles(pattern: Path, token: str) -> list[Tile]:
    before, after = pattern.name.split(token, 1)
    name = re.compile(re.escape(before) + TILE_TOKENS[token] + re.escape(after))
    if not pattern.parent.is_dir():
        return []
    tiles = []
    for path in pattern.parent.iterdir():
        match = name.fullmatch(path.name)
        if match is None:
            continue
        if token == "<UDIM>":
            number = int(match["udim"]) - 1001
            if number >= 0:
                tiles.append(Tile(path, number % _TILES_ACROSS, number // _TILES_ACROSS))
        else:
            tiles.append(Tile(path, int(match["u"]) - 1, int(match["v"]) - 1))
    return tiles


def read_info(file: str, asker: str, search: SearchPath) -> ImageInfo:
    """What the headers of an image say, without decoding it."""
    tiles = find_tiles(file, asker, search)
    specs = [_read_header(tile.path, asker) for tile in tiles]
    width, height, channels, *_ = max(specs, key=lambda spec: spec[0] * spec[1])
    kind = _kind_for({spec[3] for spec in specs})
    orientation = max(spec[4] for spec in specs)
    return ImageInfo(width, height, channels, kind, tiles, is_tiled(file), orientation)


def _kind_for(kinds: set[str]) -> str:
    """One that holds what tiles of several kinds do."""
    if len(kinds) == 1:
        return kinds.pop()
    return "uint16" if kinds == {"uint8", "uint16"} else "float"


def _read_header(path: Path, asker: str) -> tuple[int, int, int, str, int]:
    import OpenImageIO as oiio

    try:
        size = path.stat().st_size
    except OSError as failure:
        raise TextureError(
            f"{asker}: {path} cannot be read ({failure.strerror}): write it again or remove it"
        ) from None
    if size == 0:
        raise TextureError(f"{asker}: {path} is empty (0 bytes): write it again or remove the node")
    require_unicode(path, TextureError)
    source = oiio.ImageInput.open(str(path))
    if source is None:
        raise TextureError(
            f"{asker}: {path} is not an image that can be read: {_one_line(oiio.geterror())}: "
            "save it as PNG, TIFF or EXR"
        )
    spec, (width, height) = source.spec(), shown_size(source)
    source.close()
    if spec.depth > 1 or spec.nchannels < 1:
        raise TextureError(f"{asker}: {path} is not a flat image")
    orientation = int(spec.get_int_attribute("Orientation", _AS_STORED))
    return width, height, spec.nchannels, _kind(str(spec.format)), orientation


def _kind(name: str) -> str:
    """Of those that a device has, what holds the numbers that a file says it has."""
    if name in FORMATS:
        return name
    return "uint16" if name in ("uint32", "uint", "int16", "int") else "float"


def check_size(info: ImageInfo, asker: str, largest_side: int = _DEFAULT_LARGEST_SIDE) -> None:
    """Refuses an image that the device cannot hold, before its texels are read."""
    places = info.columns * info.rows
    if places > MOST_PLACES_OF_TILES:
        raise TextureError(
            f"{asker}: the tiles of {info.tiles[0].path} lie in {info.columns} x {info.rows} places"
            f", and at most {MOST_PLACES_OF_TILES} are loaded: name one tile in place of the token"
        )
    width, height = info.width * info.columns, info.height * info.rows
    if max(width, height) > largest_side:
        what = f"{info.columns} x {info.rows} tiles, together " if info.is_udim else ""
        raise TextureError(
            f"{asker}: {info.tiles[0].path} is {what}{width} x {height} texels and the device "
            f"holds at most {largest_side} a side: scale it down"
        )


def read_image(info: ImageInfo, asker: str) -> Image:
    """Decodes an image with its mip levels; UDIM tiles come side by side in one atlas."""
    kind = FORMATS[info.kind][0]
    no_numbers: dict[Path, int] = {}
    if not info.is_udim:
        texels = _read_numbers(info.tiles[0].path, kind, asker, no_numbers)
        return Image(info, build_levels(texels), no_numbers)
    shape = (info.height * info.rows, info.width * info.columns, 4)
    atlas = np.zeros(shape, kind)
    for tile in info.tiles:
        texels = _read_numbers(tile.path, kind, asker, no_numbers)
        if texels.shape[:2] != (info.height, info.width):
            texels = _resized(texels, info.width, info.height)
        top = (tile.row - info.first_row) * info.height
        left = (tile.column - info.first_column) * info.width
        atlas[top : top + info.height, left : left + info.width] = texels
    return Image(info, build_levels(atlas), no_numbers)


def _read_numbers(
    path: Path, kind: type[np.generic], asker: str, no_numbers: dict[Path, int]
) -> NDArray[Any]:
    """The texels of a tile. One that is no number would spread with each coarser level."""
    texels = _read_tile(path, kind, asker)
    if issubclass(kind, np.floating):
        are_numbers = np.isfinite(texels)
        if not are_numbers.all():
            no_numbers[path] = int((~are_numbers.all(-1)).sum())
            texels[~are_numbers] = 0
    return texels


def _read_tile(path: Path, kind: type[np.generic], asker: str) -> NDArray[Any]:
    import OpenImageIO as oiio

    config = oiio.ImageSpec()
    # MaterialX samples colours as they are stored: alpha is a channel beside them
    config["oiio:UnassociatedAlpha"] = 1
    source = oiio.ImageInput.open(str(path), config)
    if source is None:
        raise TextureError(
            f"{asker}: {path} is not an image that can be read: {_one_line(oiio.geterror())}: "
            "save it as PNG, TIFF or EXR"
        )
    channels = _first_channels(source.spec())
    texels = source.read_image(0, 0, 0, channels, _OIIO_KINDS[kind])
    problem = source.geterror()
    source.close()
    if texels is None or problem:
        detail = problem or oiio.geterror() or "the file ends early"
        raise TextureError(f"{asker}: {path} is damaged: {_one_line(detail)}")
    texels = shown_texels(source, np.asarray(texels))
    # a copy, because of one row numpy takes any stride for contiguous
    return with_four_channels(texels, source.spec().alpha_channel >= 0)[::-1].copy()


def _first_channels(spec: oiio.ImageSpec) -> int:
    """How many are read. Depth, or another layer of an OpenEXR file, is no alpha of a colour."""
    count = min(int(spec.nchannels), 4)
    if count < 4 or spec.alpha_channel >= 0:
        return count
    layers = [name.rpartition(".")[0] for name in spec.channelnames[:4]]
    return 3 if layers[3] != layers[2] or spec.channelnames[3].endswith("Z") else 4


def _one_line(text: str) -> str:
    return "; ".join(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


_OIIO_KINDS: dict[type[np.generic], str] = {
    np.uint8: "uint8",
    np.uint16: "uint16",
    np.float16: "half",
    np.float32: "float",
}


def with_four_channels(texels: NDArray[Any], has_alpha: bool) -> NDArray[Any]:
    """Grey becomes a colour, and what has no alpha is solid. Two channels without alpha are those
    of a vector."""
    height, width, channels = texels.shape
    kind = texels.dtype
    one = np.iinfo(kind).max if kind.kind == "u" else 1
    is_vector = channels == 2 and not has_alpha
    result = np.zeros((height, width, 4), kind)
    result[..., 3] = one if channels in (1, 3) or is_vector else texels[..., channels - 1]
    if is_vector:
        result[..., :2] = texels
    else:
        result[..., :3] = texels[..., :3] if channels >= 3 else texels[..., :1]
    return result


def _resized(texels: NDArray[Any], width: int, height: int) -> NDArray[Any]:
    import OpenImageIO as oiio

    source = oiio.ImageBuf(np.ascontiguousarray(texels))
    result = oiio.ImageBufAlgo.resize(source, roi=oiio.ROI(0, width, 0, height, 0, 1, 0, 4))
    return np.asarray(result.get_pixels(_OIIO_KINDS[texels.dtype.type])).astype(texels.dtype)


def build_levels(texels: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """The mip chain by 2 x 2 averages. Each level is averaged before it is rounded: rounded
    averages of rounded averages drift."""
    levels, exact = [texels], texels
    while max(exact.shape[:2]) > 1:
        for axis in (0, 1):
            exact = _halved(exact, axis)
        rounded = np.rint(exact) if texels.dtype.kind == "u" else exact
        levels.append(rounded.astype(texels.dtype))
    return tuple(levels)


def _halved(texels: NDArray[Any], axis: int) -> NDArray[np.float32]:
    """Half as many texels along an axis; of an odd number each new one covers two and a bit."""
    size = texels.shape[axis]
    if size == 1:
        return texels.astype(np.float32)
    half = size // 2

    def every_other(first: int) -> NDArray[np.float32]:
        return texels.take(range(first, first + 2 * half - 1, 2), axis).astype(np.float32)

    if size % 2 == 0:
        return (every_other(0) + every_other(1)) * np.float32(0.5)
    place = np.arange(half, dtype=np.float32).reshape((half, 1, 1) if axis == 0 else (1, half, 1))
    weights = (half - place) / size, np.float32(half / size), (place + 1) / size
    first, second, third = (every_other(at) * weight for at, weight in enumerate(weights))
    return np.asarray(first + second + third, np.float32)
