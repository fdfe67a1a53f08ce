"""Unpacks USDZ packages, so that bakes find their images as files."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path, PurePosixPath, PureWindowsPath

from verdigris.core.base.arrays import UNREADABLE
from verdigris.core.base.device import cache_folder
from verdigris.core.base.files import make_folders, replace_file

_FOLDER, _DONE = "packages", "unpacked"
_LAYERS = (".usd", ".usda", ".usdc")


def unpack(path: Path) -> tuple[Path, Path] | None:
    """The folder of a package's files, and the stage in it; None if the package is not as USD
    requires, or if there is no folder for it. USD then says what is wrong."""
    cache = cache_folder()
    if cache is None:
        return None
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        with zipfile.ZipFile(path) as archive:
            entries = [each for each in archive.infolist() if not each.is_dir()]
            if not _is_valid(entries, path.stat().st_size):
                return None
            folder = cache / _FOLDER / digest[:32]
            if not (folder / _DONE).is_file():
                for entry in entries:
                    place = folder / "files" / entry.filename
                    make_folders(place.parent)
                    replace_file(place, archive.read(entry))
                # last: a package that was interrupted is unpacked again
                replace_file(folder / _DONE, b"")
    except (*UNREADABLE, OSError):
        return None
    return folder / "files", folder / "files" / entries[0].filename


def _is_valid(entries: list[zipfile.ZipInfo], size: int) -> bool:
    """Whether the first file is a layer, no file is compressed, and all stay in the folder."""
    names = [PurePosixPath(each.filename) for each in entries]
    return (
        bool(entries)
        and names[0].suffix.lower() in _LAYERS
        and sum(each.file_size for each in entries) <= size
        and all(each.compress_type == zipfile.ZIP_STORED for each in entries)
        and not any(
            name.is_absolute()
            or ".." in name.parts
            or "\\" in str(name)
            or "\0" in str(name)
            or PureWindowsPath(name).drive
            for name in names
        )
    )
