"""Names that lead to one document: links to it, which are no materials of their own."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path

from verdigris.core.base.outputs import resolved

DOCUMENT_SUFFIX = ".mtlx"


def identity(path: Path) -> Hashable:
    """The same of all names of one document: where links lead, and of hard links in one folder
    what they have in common. In another folder a hard link's textures are others."""
    whole = resolved(path)
    try:
        found = whole.stat()
    except (OSError, ValueError):
        # leads nowhere, or has a name that no file can have
        return whole
    # numbers of files are not to be relied on everywhere, where they say nothing of links
    return (whole.parent, found.st_dev, found.st_ino) if found.st_nlink > 1 else whole


def distinct(paths: Iterable[Path]) -> dict[Path, tuple[str, ...]]:
    """Each document once, with the other names that it has; of several names that which is no
    link, or the first. What is no document stays: a stage's files lie where its link does."""
    names: dict[Hashable, list[Path]] = {}
    for path in paths:
        is_document = path.suffix.lower() == DOCUMENT_SUFFIX
        names.setdefault(identity(path) if is_document else path, []).append(path)
    found = {}
    for several in names.values():
        chosen = next((each for each in several if not each.is_symlink()), several[0])
        found[chosen] = tuple(str(each) for each in several if each != chosen)
    return found
