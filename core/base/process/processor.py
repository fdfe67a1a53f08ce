"""Limits of this process: CPU cores, memory, file size; its threads, and those of numpy's BLAS."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")
# More threads would wait for the interpreter lock.
_MOST_THREADS = 4

# For each controller of a Linux control group, folder and file of the memory limit.
_LIMITS = {"": ("", "memory.max"), "memory": ("memory", "memory.limit_in_bytes")}

# The file size limit that a software device needs: with a lower one, bakes crash. A texture of
# 16 x 16 texels needs about 200 MB.
LEAST_FILE_SIZE = 1 << 27

# glibc's parameter for the number of heaps.
_MOST_HEAPS = -8


def usable_processors() -> int:
    """The number of cores that the calling thread may use, as a container or batch system limits
    them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def usable_memory(root: Path = Path("/")) -> int | None:
    """The memory of the machine, or the limit of a container or batch system; None if unknown.
    `root` is the root of the file system."""
    try:
        every = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, AttributeError, OSError):
        return None
    return min([every, *_limits(root)])


def address_space() -> int | None:
    """The limit of mapped memory (`ulimit -v`); None without a limit."""
    return _limit_of("RLIMIT_AS")


def file_size() -> int | None:
    """The limit of file size (`ulimit -f`); None without a limit. It matters to software devices:
    Mesa keeps their memory in a file."""
    return _limit_of("RLIMIT_FSIZE")


def share_one_heap() -> None:
    """Makes all threads allocate from one heap. By default, glibc opens a heap for each of several
    threads, and freed memory of one is not used for another: after many compilations, a process
    holds twice the memory. Call it before other threads begin. Only glibc has these heaps."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_MOST_HEAPS, 1)


def return_freed_memory() -> None:
    """Returns freed memory to the system, where glibc would keep it. Takes some 0.03 s."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _limit_of(name: str) -> int | None:
    try:
        import resource
    except ImportError:
        # Windows does not have these limits
        return None
    limit, _ = resource.getrlimit(getattr(resource, name))
    return None if limit == resource.RLIM_INFINITY else limit


def _limits(root: Path) -> Iterator[int]:
    """Memory limits of the control groups of this process, and of their parents."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, group = line.split(":", 2)
        for controller in {*controllers.split(",")} & {*_LIMITS}:
            folder, name = _LIMITS[controller]
            top = root / "sys/fs/cgroup" / folder
            # a container can see its own group as the top, under any name
            own = top / group.strip("/")
            for each in (own, *own.parents):
                text = _text(each / name).strip()
                # "max" means no limit
                if text.isdecimal():
                    yield int(text)
                if each == top:
                    break


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def running_threads() -> frozenset[int]:
    """All threads of this process, with those of libraries, as Linux numbers them."""
    try:
        return frozenset(int(each.name) for each in Path("/proc/self/task").iterdir())
    except OSError:
        return frozenset()


def find_affinities(threads: Iterable[int]) -> dict[int, set[int]]:
    """The cores on which each thread may run. Threads that have ended are left out."""
    found = {}
    if sys.platform == "linux":
        for thread in threads:
            with suppress(OSError):
                found[thread] = os.sched_getaffinity(thread)
    return found


def pin_thread(thread: int, processors: Collection[int]) -> None:
    """Restricts a thread to these cores."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.sched_setaffinity(thread, processors)


# numpy's wheels carry OpenBLAS under this prefix and suffix; other builds use the plain names.
_NAMES = (
    ("scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"),
    ("openblas_get_num_threads", "openblas_set_num_threads"),
)


@cache
def _find_controls() -> tuple[Any, Any] | None:
    package = Path(np.__file__).parent
    folders = (package.parent / "numpy.libs", package / ".dylibs")
    libraries = [path for folder in folders for path in sorted(folder.glob("*openblas*"))]
    for library in libraries:
        try:
            loaded = ctypes.CDLL(str(library))
        except OSError:
            continue
        for read, write in _NAMES:
            if hasattr(loaded, read) and hasattr(loaded, write):
                return getattr(loaded, read), getattr(loaded, write)
    return None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limits BLAS to one thread, which is faster for small matrix products. Does nothing if BLAS
    has no such control."""
    controls = _find_controls()
    if controls is None:
        yield
        return
    read, write = controls
    before = int(read())
    write(1)
    try:
        yield
    finally:
        write(before)


def on_all_cores(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The results of numpy work for each item. Long numpy calls do not hold the interpreter lock,
    and BLAS has one thread in each of ours."""
    listed = list(items)
    with single_threaded_blas():
        if len(listed) < 2 or usable_processors() < 2:
            return [work(each) for each in listed]
        return list(_pool().map(work, listed))


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(min(_MOST_THREADS, usable_processors()), "all-cores")


def resident_bytes() -> int | None:
    """The memory that this process holds; None if the system does not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
