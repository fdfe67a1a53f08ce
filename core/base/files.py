"""Files and folders whose names Verdigris chooses: opened, made, locked, renamed and deleted here.

A folder can come from a stranger who planted links under these names. So no link is followed below
a folder that the user named, and nothing is written to a file that has a second name elsewhere.
Where the system offers it, the folder is held open and names are looked up in it: someone who
swaps a folder for a link between a check and its use gains nothing.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# Linux and macOS look names up in an open folder; Windows does not.
_HOLDS_FOLDERS = {os.open, os.mkdir, os.rename, os.unlink, os.stat} <= os.supports_dir_fd
_ALWAYS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
# Opening a planted pipe must not wait for its other end.
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_REPARSE_POINT = getattr(stat, "FILE_ATTRIBUTE_REPARSE_POINT", 0x400)

Content = bytes | Callable[[IO[bytes]], object]
"""The bytes of a file, or a function that writes them."""


class PlantedError(OSError):
    """A name of ours is a link, or a file that is not ours alone."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(None, f"{path.name} {what}: remove it")
        self.path = path


def is_link(path: Path) -> bool:
    """Whether a name is a symbolic link, a junction or another reparse point."""
    try:
        return _is_link(path.lstat())
    except OSError:
        return False


class Folder:
    """A folder that is held open. Names in it are plain names, and never followed."""

    def __init__(self, path: Path, handle: int | None) -> None:
        self.path, self._handle = path, handle

    @classmethod
    @contextmanager
    def at(cls, path: Path) -> Iterator[Folder]:
        """Opens a folder that the user named, which may be a link."""
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY) if _HOLDS_FOLDERS else None
        with _closing(handle):
            yield cls(path, handle)

    @contextmanager
    def new_folder(self, name: str) -> Iterator[Folder]:
        """Makes a folder below this one, and opens it. An existing one raises FileExistsError."""
        os.mkdir(self._place(name), dir_fd=self._handle)
        with self.folder(name) as made:
            yield made

    @contextmanager
    def folder(self, name: str, makes: bool = False) -> Iterator[Folder]:
        """Opens a folder below this one, and makes it first if it `makes` it. Refuses a link."""
        if makes:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._place(name), dir_fd=self._handle)
        found = self._look(name)
        if found is not None and _is_link(found):
            raise PlantedError(self.path / name, "is a link, and not a folder")
        if makes and found is not None and not stat.S_ISDIR(found.st_mode):
            raise PlantedError(self.path / name, "is not a folder")
        handle = None
        if _HOLDS_FOLDERS:
            flags = os.O_RDONLY | os.O_DIRECTORY | _ALWAYS
            handle = os.open(name, flags, dir_fd=self._handle)
        with _closing(handle):
            yield Folder(self.path / name, handle)

    def open(self, name: str, flags: int) -> int:
        """Opens a plain file that has no other name, with the flags of `os.open`. Nothing is
        truncated before it is checked."""
        is_there = self._look(name)
        if is_there is not None and _is_link(is_there):
            raise PlantedError(self.path / name, "is a link")
        handle = os.open(self._place(name), flags | _ALWAYS | _NO_WAIT, 0o666, dir_fd=self._handle)
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            os.close(handle)
            raise PlantedError(self.path / name, "is not a plain file of its own")
        return handle

    def make(self, name: str) -> IO[bytes]:
        """A new file. An existing one, or a link, raises FileExistsError."""
        return os.fdopen(self.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb")

    def replace(self, name: str, content: Content) -> None:
        """Writes a file completely or not at all: under a new name, which is then renamed. A link
        of this name is replaced, and what it leads to stays."""
        new = temporary_name(name)
        try:
            with self.make(new) as file:
                file.write(content) if isinstance(content, bytes) else content(file)
                file.flush()
                os.fsync(file.fileno())
            self.rename(new, name)
        except BaseException:
            # a file whose name is too long cannot be removed either
            with contextlib.suppress(OSError):
                self.remove(new)
            raise

    def rename(self, old: str, new: str, to: Folder | None = None) -> None:
        """Gives a file or a folder another name, here or in another folder. A file of that name is
        replaced."""
        target = to or self
        os.replace(
            self._place(old), target._place(new), src_dir_fd=self._handle, dst_dir_fd=target._handle
        )

    @property
    def steady_path(self) -> Path:
        """For libraries that open files by themselves: a path that leads here whatever becomes of
        the folder's name. Only Linux has one; elsewhere it is the plain path."""
        held = Path(f"/proc/self/fd/{self._handle}")
        return held if self._handle is not None and held.exists() else self.path

    def touch(self) -> None:
        """Gives the folder itself the present time, whatever its name leads to now."""
        os.utime(self.path if self._handle is None else self._handle)

    def names(self) -> list[str]:
        """What is in the folder, in no order."""
        return os.listdir(self._handle or self.path)  # noqa: PTH208 - as above

    def remove(self, name: str) -> None:
        """Removes a file, or a link, if it exists."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._place(name), dir_fd=self._handle)

    def remove_tree(self, name: str, first: str = "") -> None:
        """Removes a folder and what is in it, if it exists, even a read-only one from an asset
        store: the file `first`, without which nobody takes the rest for whole, and then all. Of a
        link, only the link. What the system does not permit stays."""
        found = self._look(name)
        if found is None:
            return
        if not stat.S_ISDIR(found.st_mode) or _is_link(found):
            self.remove(name)
            return
        if first:
            with contextlib.suppress(OSError), self.folder(name) as inner:
                inner.remove(first)
        place = self._place(name)
        shutil.rmtree(place, ignore_errors=True, dir_fd=self._handle)
        if self._look(name) is not None:
            with contextlib.suppress(OSError):
                _unprotect(place, self._handle)
            shutil.rmtree(place, ignore_errors=True, dir_fd=self._handle)

    def has(self, name: str, opened: os.stat_result) -> bool:
        """Whether a name is still that of an opened file."""
        found = self._look(name)
        return found is not None and os.path.samestat(found, opened)

    def _look(self, name: str) -> os.stat_result | None:
        with contextlib.suppress(FileNotFoundError):
            return os.stat(self._place(name), dir_fd=self._handle, follow_symlinks=False)
        return None

    def _place(self, name: str) -> str:
        """What the system looks up: the name in the open folder, or a path."""
        if not name or name in (".", "..") or Path(name).name != name:
            raise ValueError(f"{name!r} is not a plain name")
        return name if self._handle is not None else str(self.path / name)


def replace_file(path: Path, content: Content) -> None:
    """Writes a file completely or not at all, as `Folder.replace` does."""
    with Folder.at(path.parent) as folder:
        folder.replace(path.name, content)


def rename_file(old: Path, new: Path) -> None:
    """Gives a file another name, and replaces the file of that name."""
    with Folder.at(old.parent) as folder, Folder.at(new.parent) as to:
        folder.rename(old.name, new.name, to)


def remove_file(path: Path) -> None:
    """Removes a file, or a link, if it exists."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), Folder.at(path.parent) as at:
        at.remove(path.name)


def remove_folder(path: Path, first: str = "") -> None:
    """Removes a folder and what is in it, if it exists, as far as the system permits. `first`: see
    `Folder.remove_tree`."""
    with contextlib.suppress(OSError), Folder.at(path.parent) as folder:
        folder.remove_tree(path.name, first)


def remove_empty_folder(path: Path) -> None:
    """Removes a folder that is empty. Others stay, with the system's error."""
    path.rmdir()


def make_folders(path: Path) -> None:
    """Makes a folder and its parents. What exists may be a link: the user named it."""
    path.mkdir(parents=True, exist_ok=True)


def make_private_folder(path: Path) -> None:
    """Makes a folder and its parents, which other users cannot enter. Existing ones stay as they
    are."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)


def make_own_folder(path: Path) -> None:
    """Makes a folder of ours in a folder that exists. Refuses a link in its place."""
    with Folder.at(path.parent) as parent, parent.folder(path.name, makes=True):
        pass


def new_file(path: Path) -> IO[bytes]:
    """A new file in the place of an older one, for a program's output or a copy."""
    with Folder.at(path.parent) as folder:
        folder.remove(path.name)
        return folder.make(path.name)


def temporary_name(name: str) -> str:
    """A name that nobody can guess, for a file or a folder that is renamed to `name`."""
    return f".{name}.{os.getpid()}.{secrets.token_hex(4)}.tmp"


def _is_link(found: os.stat_result) -> bool:
    attributes = getattr(found, "st_file_attributes", 0)
    return stat.S_ISLNK(found.st_mode) or bool(attributes & _REPARSE_POINT)


@contextmanager
def _closing(handle: int | None) -> Iterator[None]:
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _unprotect(place: str, handle: int | None) -> None:
    """Makes a tree removable: read-only folders protect their entries, and on Windows files protect
    themselves."""
    if handle is not None:
        _permit(place, handle)
        for _, folders, _, inner in os.fwalk(place, dir_fd=handle):
            for each in folders:
                # a link to a folder is listed, too
                with contextlib.suppress(OSError):
                    _permit(each, inner)
        return
    Path(place).chmod(stat.S_IRWXU)
    for path, folders, files in os.walk(place):
        for inside in (Path(path, name) for name in (*folders, *files)):
            if not is_link(inside):
                inside.chmod(stat.S_IRWXU)


def _permit(name: str, handle: int) -> None:
    """Permits all in a folder to its owner. Nothing else is opened: the name may meanwhile be that
    of a link, or of a file of somebody else."""
    held = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _ALWAYS, dir_fd=handle)
    with _closing(held):
        os.fchmod(held, stat.S_IRWXU)
