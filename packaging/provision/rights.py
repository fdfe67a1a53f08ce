"""What the system refuses the set-up, in words that say which folder and what to do."""

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
    """Refuses a repository that nothing can be written in, before anything is done: its packages
    write beside its pyproject.toml, wherever .venv and .cache lead."""
    try:
        with tempfile.TemporaryFile(dir=root):
            pass
    except OSError as failure:
        # the name of the trial says nothing
        told = OSError(failure.errno, failure.strerror, str(root))
        raise SetupError(why_stopped(told, root)) from failure


def why_stopped(failure: Exception, root: Path) -> str:
    """What to tell of a failure, for people who set up the repository at `root`."""
    if not isinstance(failure, OSError) or failure.filename is None:
        return f"the set-up stopped: {failure}. Mend that, {AGAIN}."
    path = Path(os.fsdecode(failure.filename))
    found = next((each for each in (path, *path.parents) if os.path.lexists(each)), path)
    said = failure.strerror or str(failure)
    if failure.errno in _NO_RIGHTS:
        return (
            f"the system refuses the set-up {_kind(found)} {found} ({said}{_owner(found)}). "
            f"{_remedy(root)}"
        )
    if failure.errno in _NO_FOLDER and not found.is_dir():
        return f"{found} is no folder, and the set-up needs one there: move it away, {AGAIN}."
    if failure.errno in _NO_ROOM:
        return f"there is no room left in {_kind(found)} {found} ({said}): make some, {AGAIN}."
    return f"the set-up stopped at {path} ({said}): mend that, {AGAIN}."


def _kind(found: Path) -> str:
    return "the folder" if found.is_dir() else "the file"


def _owner(found: Path) -> str:
    try:
        return f"; it belongs to {found.owner()}"
    except (OSError, KeyError, NotImplementedError):
        return ""


def _remedy(root: Path) -> str:
    return (
        "Get the right to write there, copy the repository to a folder of your own, or have "
        f"whoever owns {root} set it up: once that is done, running it writes nothing there. "
        f"{AGAIN.capitalize()}."
    )
