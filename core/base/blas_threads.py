"""How many threads numpy's BLAS uses, settable after it has started."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

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
    """One BLAS thread, for products too small to share out.

    Where BLAS cannot be reached this does nothing: results are right, only slower.
    """
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
