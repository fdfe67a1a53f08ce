"""Error messages for missing rights, files in the way and full disks."""

import errno
import os
import tempfile
from pathlib import Path

from provision.console import SetupError

_NO_RIGHTS = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_FOLDER = (errno.ENOTDIR, errno.EEXIST)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
AGAIN = "then run the same command again"


def require_writable(root: Path) -> None:
    """Raises an error if the repository is not writable, before the first change. pip writes next
    to pyproject.toml, also if .venv is a link to another disk."""
    try:
        with tempfile.TemporaryFile(dir=root):
            pass
    except OSError as failure:
        # names the folder instead of the temporary file
        refused = OSError(failure.errno, failure.strerror, str(root))
        raise SetupError(explain_failure(refused, root)) from failure


def explain_failure(failure: Exception, root: Path) -> str:
    """The message for a failure of the set-up of the repository at `root`."""
    if not isinstance(failure, OSError) or failure.filename is None:
        return f"the set-up stopped: {failure}. Correct this, {AGAIN}."
    path = Path(os.fsdecode(failure.filename))
    found = next((each for each in (path, *path.parents) if os.path.lexists(each)), path)
    error = failure.strerror or str(failure)
    if failure.errno in _NO_RIGHTS:
        return (
            f"the set-up may not change {_kind(found)} {found} ({error}{_owner(found)}). "
            f"{_remedy(root)}"
        )
    if failure.errno in _NO_FOLDER and not found.is_dir():
        return f"{found} is not a folder, and the set-up needs one there: move it, {AGAIN}."
    if failure.errno in _NO_ROOM:
        return f"the disk of {_kind(found)} {found} is full ({error}): free some space, {AGAIN}."
    return f"the set-up stopped at {path} ({error}): correct this, {AGAIN}."


def _kind(found: Path) -> str:
    return "the folder" if found.is_dir() else "the file"


def _owner(found: Path) -> str:
    try:
        return f"; owner: {found.owner()}"
    except (OSError, KeyError, NotImplementedError):
        return ""


def _remedy(root: Path) -> str:
    return (
        "Get write access, or copy the repository to a folder of your own, or ask the owner of "
        f"{root} to set it up; later runs write nothing there. {AGAIN.capitalize()}."
    )
