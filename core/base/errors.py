"""Errors that the user can act on.

Each error names the thing, the value and the remedy.
"""

import errno
import stat
from pathlib import Path

LONGEST_MESSAGE = 1200
# The signal to a program whose output is closed; Windows does not have it.
BROKEN_PIPE = 13
_IN_WORDS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk's quota is used up",
    errno.EFBIG: "the file is too large for the file system or ulimit -f",
}

_ALSO_HELPS = {
    errno.ENOSPC: "free space or ",
    errno.EDQUOT: "free space or ",
    errno.EFBIG: "lift the limit (ulimit -f unlimited) or ",
}


def reason(failure: Exception) -> str:
    """The message of an error; of a system error, without its number and file, which the caller
    names."""
    if not isinstance(failure, OSError):
        return str(failure)
    return _IN_WORDS.get(failure.errno or 0) or failure.strerror or str(failure)


def suggest_elsewhere(failure: OSError, wanted: str = "another folder") -> str:
    """The remedy for a file that cannot be written."""
    return f"{_ALSO_HELPS.get(failure.errno or 0, '')}choose {wanted}"


def why_no_folder(path: Path) -> str:
    """Why a path is not an existing folder; empty if it is."""
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError) as failure:
        return f"the folder {path} cannot be read ({reason(failure)})"
    return "" if is_folder else f"{path} is not a folder"


class VerdigrisError(Exception):
    """A failure that the user can act on. Commands print it as one line and exit with 1."""

    def __str__(self) -> str:
        """The message on one line. Damaged files can cause very long messages, which are cut in the
        middle."""
        text = " ".join(super().__str__().split())
        if len(text) <= LONGEST_MESSAGE:
            return text
        half = LONGEST_MESSAGE // 2
        return f"{text[:half]} … {text[-half:]}"


class DocumentError(VerdigrisError):
    """A MaterialX document that cannot be read, resolved or compiled."""


class TextureError(VerdigrisError):
    """An image of a material that cannot be used."""


class MissingTextureError(TextureError):
    """One or several images that were not found."""

    def __init__(
        self, text: str, file: str = "", folders: tuple[Path, ...] = (), is_of_several: bool = False
    ) -> None:
        super().__init__(text)
        self.file = file
        self.is_of_several = is_of_several
        self.folders = folders
        """For one file, folders of which each would make it found; for several files, folders that
        make all of them found."""


class MeshError(VerdigrisError):
    """A mesh that cannot be read, or lacks data that the task needs."""


class LightingError(VerdigrisError):
    """An environment that cannot be read, or cannot light anything."""


class DeviceError(VerdigrisError):
    """There is no usable device, or the device lacks a capability."""


class SettingsError(VerdigrisError):
    """A setting with an invalid value."""


class SceneError(VerdigrisError):
    """A scene that cannot be read, or that asks for something impossible."""


class BundleError(VerdigrisError):
    """A bundle, or a file in one, that cannot be read or written, or is not valid."""


class NothingLearntError(VerdigrisError):
    """A bake was ended before its first step."""


class EndedError(VerdigrisError):
    """A signal ended the command early."""

    def __init__(self, text: str, number: int) -> None:
        super().__init__(text)
        self.exit_code = 128 + number


class HostError(VerdigrisError):
    """A host's scene lacks something or does not allow it."""
