"""Finds the images of a material, reads their headers, and checks them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import TextureError, VerdigrisError
from verdigris.core.base.images import AS_STORED, UNREADABLE, ImageError, open_image
from verdigris.core.base.outputs import resolved
from verdigris.core.base.text import require_unicode
from verdigris.core.material.domain import MOST_ALONG_A_SIDE, Tiles
from verdigris.core.material.files.paths import is_tiled
from verdigris.core.material.files.similar_names import TILE_TOKENS

if TYPE_CHECKING:
    from verdigris.core.material.files.paths import SearchPath

# Cells of the rectangle around all tiles. Each is a bit in the shader.
MOST_TILE_CELLS = 128
_DEFAULT_LARGEST_SIDE = 16384
# Headers that are kept while their files do not change.
_MOST_KEPT = 1024
_TILES_ACROSS = 10
# Frame tokens of MaterialX, Houdini, Maya and Nuke.
_FRAMES = re.compile(r"\{\d*Frame\}|\$F\d?(?![A-Za-z])|<f\d?>|<frame\d*>|%0\dd|#{2,}")
# OpenImageIO's base type -> numpy's, and the slangpy format with four channels
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
    """The header of an image; for UDIM tiles, that of the tile with the most texels."""

    width: int
    height: int
    channels: int
    kind: str
    tiles: tuple[Tile, ...]
    is_udim: bool = False
    orientation: int = AS_STORED
    """The largest EXIF orientation of all tiles. Texels are read as stored."""

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


def read_info(file: str, asker: str, search: SearchPath) -> ImageInfo:
    """The header of an image, without decoding it."""
    tiles = find_tiles(file, asker, search)
    headers = [_read_header(tile, asker) for tile in tiles]
    return replace(
        max(headers, key=lambda each: each.width * each.height),
        kind=_kind_for({each.kind for each in headers}),
        tiles=tiles,
        is_udim=is_tiled(file),
        orientation=max(each.orientation for each in headers),
    )


def check_size(info: ImageInfo, asker: str, largest_side: int = _DEFAULT_LARGEST_SIDE) -> None:
    """Refuses an image that is too large for the device before its texels are read."""
    cells = info.columns * info.rows
    if cells > MOST_TILE_CELLS:
        raise TextureError(
            f"{asker}: the tiles of {info.tiles[0].path} span {info.columns} x {info.rows} cells, "
            f"and at most {MOST_TILE_CELLS} are supported: name one tile instead of the token"
        )
    width, height = info.width * info.columns, info.height * info.rows
    if max(width, height) > largest_side:
        what = f"{info.columns} x {info.rows} tiles, together " if info.is_udim else ""
        raise TextureError(
            f"{asker}: {info.tiles[0].path} is {what}{width} x {height} texels; the device "
            f"supports at most {largest_side} a side: scale it down"
        )


def _read_header(tile: Tile, asker: str) -> ImageInfo:
    path = tile.path
    try:
        status = path.stat()
    except PermissionError:
        raise _closed(path, asker) from None
    except OSError as failure:
        raise TextureError(
            f"{asker}: {path} cannot be read ({failure.strerror}): save it again or remove it"
        ) from None
    if status.st_size == 0:
        raise TextureError(f"{asker}: {path} is empty (0 bytes): save it again or remove the node")
    require_unicode(path, TextureError)
    try:
        found = _header(path, (status.st_mtime_ns, status.st_size, status.st_ino))
    except ImageError as failure:
        raise image_fault(path, asker, failure) from None
    return replace(found, tiles=(tile,))


@lru_cache(_MOST_KEPT)
def _header(path: Path, _stamp: tuple[int, ...]) -> ImageInfo:
    """The header of a file, without its tile. A bake asks for it five times."""
    with open_image(path) as image:
        kind, orientation = _kind(image.kind), image.orientation
        return ImageInfo(*image.size, image.channels, kind, (), orientation=orientation)


def _kind(name: str) -> str:
    """The device type that holds the numbers of a file."""
    if name in FORMATS:
        return name
    return "uint16" if name in ("uint32", "uint", "int16", "int") else "float"


def _kind_for(kinds: set[str]) -> str:
    """A type that holds the texels of all tiles."""
    if len(kinds) == 1:
        return kinds.pop()
    return "uint16" if kinds == {"uint8", "uint16"} else "float"


def image_fault(path: Path, asker: str, failure: ImageError) -> TextureError:
    """The error for an image that cannot be read."""
    if not os.access(path, os.R_OK):
        return _closed(path, asker)
    if failure.what == UNREADABLE:
        return TextureError(
            f"{asker}: {path} {UNREADABLE}: {failure.reason}: save it as PNG, TIFF or EXR"
        )
    # libraries report a fault in several lines, and the first line names it
    first = f" ({failure.reason.partition('; ')[0]})" if failure.reason else ""
    return TextureError(f"{asker}: {path} {failure.what}{first}: save it again")


def _closed(path: Path, asker: str) -> TextureError:
    return TextureError(
        f"{asker}: {path} cannot be read: its permissions do not allow it; change them"
    )


def find_tiles(file: str, asker: str, search: SearchPath) -> tuple[Tile, ...]:
    """The file with this name, or all files of a name with a token for tiles."""
    token = next((token for token in TILE_TOKENS if token in file), None)
    if token is None:
        return (Tile(_require_file(file, asker, search)),)
    if file.replace("\\", "/").rpartition("/")[2].count(token) != 1:
        raise TextureError(
            f"{asker}: {file!r}: {token} must occur once, in the file name and not in a folder"
        )

    def find_first(patterns: Iterable[Path]) -> tuple[Tile, ...]:
        found = (_allowed_tiles(each, token, file, asker, search) for each in patterns)
        return next(filter(None, found), ())

    candidates = search.candidates(file)
    if tiles := find_first(candidates):
        return tiles
    search.check_open(file, None, asker, TextureError)
    if tiles := find_first(search.repaired(file)):
        return tiles
    folders = ", ".join(dict.fromkeys(str(each.parent) for each in candidates))
    what = f"{asker}: no tile of {file!r} was found in {folders}"
    raise search.missing(what, file, None, TextureError)


def _allowed_tiles(
    pattern: Path, token: str, file: str, asker: str, search: SearchPath
) -> tuple[Tile, ...]:
    try:
        tiles = _matching_tiles(pattern, token)
    except OSError as failure:
        search.check_open(file, None, asker, TextureError)
        raise TextureError(
            f"{asker}: the folder {pattern.parent} cannot be read ({failure.strerror}): "
            "allow reading it, or move the tiles"
        ) from None
    for tile in tiles:
        if not search.allows(resolved(tile.path)):
            search.require(str(tile.path), None, asker, TextureError)
    return tuple(sorted(tiles, key=lambda tile: (tile.row, tile.column)))


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


def _require_file(file: str, asker: str, search: SearchPath) -> Path:
    try:
        return search.require(file, None, asker, TextureError)
    except TextureError as failure:
        # such as Houdini's %(UDIM)d and Arnold's <udim>
        tokens = (each for each in TILE_TOKENS if re.search(rf"[<($]{each[1:-1]}", file, re.I))
        token = next(tokens, None)
        if token is not None:
            raise TextureError(f"{failure}; the token for tiles is {token}") from None
        frames = _FRAMES.search(file)
        if frames is None:
            raise
        raise TextureError(
            f"{failure}; {frames[0]} is the frame of a sequence, which is not supported: name the "
            "file of one frame"
        ) from None


def find_atlas(files: Iterable[str], search: SearchPath) -> Tiles | None:
    """The square around all UDIM tiles of these images; None if the only tile is 1001, or if the
    tiles lie too far apart. The reader of the images reports files that are not found."""
    places = set[tuple[int, int]]()
    for file in filter(is_tiled, files):
        try:
            places |= {(tile.column, tile.row) for tile in find_tiles(file, "", search)}
        except VerdigrisError:
            return None
    if places <= {(0, 0)}:
        return None
    found = Tiles.around(places)
    return found if found.side <= MOST_ALONG_A_SIDE else None
