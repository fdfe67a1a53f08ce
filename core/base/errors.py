"""What can go wrong in ways that the user can mend.

Each error names the thing, the value and the remedy.
"""

import errno
import stat
from pathlib import Path

LONGEST_MESSAGE = 1200
# The signal that a program ends by whose output nobody takes; Windows has no such signal.
BROKEN_PIPE = 13
_IN_WORDS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk's quota is used up",
    errno.EFBIG: "no file may be as large there, by the file system or ulimit -f",
}

_ALSO_HELPS = {
    errno.ENOSPC: "free space or ",
    errno.EDQUOT: "free space or ",
    errno.EFBIG: "lift the limit (ulimit -f unlimited) or ",
}


def reason(failure: Exception) -> str:
    """What the system says is wrong, without its number, and without the file, which the caller
    names; of what did not come from the system, all that it says."""
    if not isinstance(failure, OSError):
        return str(failure)
    return _IN_WORDS.get(failure.errno or 0) or failure.strerror or str(failure)


def suggest_elsewhere(failure: OSError, wanted: str = "another folder") -> str:
    """What helps against a file that cannot be written."""
    return f"{_ALSO_HELPS.get(failure.errno or 0, '')}choose {wanted}"


def why_no_folder(path: Path) -> str:
    """What is wrong with a path that must name a folder which is there; or nothing."""
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError) as failure:
        return f"the folder {path} cannot be read ({reason(failure)})"
    return "" if is_folder else f"{path} is no folder"


class VerdigrisError(Exception):
    """A failure that the user can act on. Commands print it as one line and exit with 1."""

    def __str__(self) -> str:
        """The message on one line; what a damaged file makes endless is cut in the middle."""
        text = " ".join(super().__str__().split())
        if len(text) <= LONGEST_MESSAGE:
            return text
        half = LONGEST_MESSAGE // 2
        return f"{text[:half]} … {text[-half:]}"


class DocumentError(VerdigrisError):
    """A MaterialX document that cannot be read, resolved or compiled."""


class TextureError(VerdigrisError):
    """An image that a material refers to and that cannot be used."""


class MeshError(VerdigrisError):
    """A mesh that cannot be read or lacks what the task needs."""


class DeviceError(VerdigrisError):
    """No usable device, or one that lacks a capability."""


class SettingsError(VerdigrisError):
    """A setting outside what it may be."""


class SceneError(VerdigrisError):
    """A scene that cannot be read, or that asks for something impossible."""


class BundleError(VerdigrisError):
    """A bundle, or a file in one, that cannot be read or written, or that does not hold."""


class NothingLearntError(VerdigrisError):
    """A bake was asked to end when there was nothing yet to keep."""


class EndedError(VerdigrisError):
    """A signal has ended the command before its work was done."""

    def __init__(self, text: str, number: int) -> None:
        super().__init__(text)
        self.exit_code = 128 + number


class HostError(VerdigrisError):
    """What an application's scene lacks or does not allow."""
