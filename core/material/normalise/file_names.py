"""Files that included documents name: those that lie beside such a document are meant, though
there are others of that name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import TextureError
from verdigris.core.base.outputs import resolved
from verdigris.core.material.files.image_headers import Tile, find_tiles

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.files.paths import SearchPath


def name_files_beside(
    included: mx.Document, folder: Path, search: SearchPath, outer: Path | None
) -> None:
    """Names files of an included document by their folders, where the search of the document in
    the folder `outer` that includes it would find others."""
    import MaterialX as mx

    beside = search.with_folder(folder)
    for port in included.traverseTree():
        if isinstance(port, mx.Input) and port.getType() == "filename" and port.hasValueString():
            file = port.getResolvedValueString()
            meant = _find_tiles(file, beside)
            if meant and meant != _find_tiles(file, search):
                port.setValueString(_seen_from(outer, folder, file))
                port.setFilePrefix("")


def _find_tiles(file: str, search: SearchPath) -> tuple[Tile, ...]:
    try:
        return find_tiles(file, "", search)
    except TextureError:
        return ()


def _seen_from(outer: Path | None, folder: Path, file: str) -> str:
    """The name of a file that is `file` seen from a folder; relative where it can be, for what is
    moved with its folder to stay the same."""
    whole, start = resolved(folder), resolved(outer) if outer else None
    if start and whole.is_relative_to(start):
        whole = whole.relative_to(start)
    return (whole / file.replace("\\", "/")).as_posix()
