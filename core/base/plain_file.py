"""Files that are read: plain ones. Pipes and devices may have no end, or wait for ever."""

from __future__ import annotations

from pathlib import Path

from verdigris.core.base.errors import VerdigrisError, reason
from verdigris.core.base.process.working_folder import require_for


def require_file(path: Path, error: type[VerdigrisError], remedy: str) -> None:
    """Refuses paths that are not plain files."""
    try:
        if path.is_file():
            return
        is_folder, is_there = path.is_dir(), path.exists()
    except (OSError, ValueError) as failure:
        raise error(f"{path}: cannot be read ({reason(failure)}): {remedy}") from None
    require_for(path)
    what = "is a folder" if is_folder else "is not a plain file"
    raise error(f"{path}: {what if is_there else 'there is no such file'}: {remedy}")
