"""How much of the processor's memory there is to take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# By the controllers of a control group, as Linux lists it: where limits are kept, under what name.
_LIMITS = {"": ("", "memory.max"), "memory": ("memory", "memory.limit_in_bytes")}

# Of a file: below it every bake on a processor that was tried has crashed; one of 16 texels a side
# takes some 200 MB.
LEAST_FILE_SIZE = 1 << 27


def usable_bytes(root: Path = Path("/")) -> int | None:
    """All memory, or what a container or batch system leaves to this process; None where nothing
    tells. `root` is that of the file system."""
    try:
        every = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, AttributeError, OSError):
        return None
    return min([every, *_limits(root)])


def address_space() -> int | None:
    """How much this process may map, as `ulimit -v` sets it; None where nothing limits it."""
    return _limit_of("RLIMIT_AS")


def file_size() -> int | None:
    """How large a file of this process may be, as `ulimit -f` sets it; None where nothing limits
    it. Mesa keeps what a device of the processor holds in a file."""
    return _limit_of("RLIMIT_FSIZE")


def _limit_of(name: str) -> int | None:
    try:
        import resource
    except ImportError:
        # Windows has no such limits
        return None
    limit, _ = resource.getrlimit(getattr(resource, name))
    return None if limit == resource.RLIM_INFINITY else limit


def _limits(root: Path) -> Iterator[int]:
    """Of the control groups of this process, and of those around them."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, group = line.split(":", 2)
        for controller in {*controllers.split(",")} & {*_LIMITS}:
            folder, name = _LIMITS[controller]
            top = root / "sys/fs/cgroup" / folder
            # a container may see its own group as the topmost, under whatever name
            own = top / group.strip("/")
            for each in (own, *own.parents):
                text = _text(each / name).strip()
                # "max" where there is none
                if text.isdecimal():
                    yield int(text)
                if each == top:
                    break


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
