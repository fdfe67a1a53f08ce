"""The square of the UDIM tiles that a material's images have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.material.files.image_headers import find_tiles
from verdigris.core.material.files.paths import is_tiled
from verdigris.core.material.tiles import MOST_ALONG_A_SIDE, Tiles

if TYPE_CHECKING:
    from verdigris.core.material.files.paths import SearchPath


def find_atlas(files: Iterable[str], search: SearchPath) -> Tiles | None:
    """The square around all tiles of these images; None if they have the tile 1001 alone, or lie
    too far apart. Their reader reports files that are not found."""
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
