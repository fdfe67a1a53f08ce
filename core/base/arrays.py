"""Opens untrusted numpy files."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import SettingsError, reason

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

# Exceptions of numpy and zipfile for damaged files: an unknown compression or encryption, a header
# that is not Python, a shape too large for memory.
UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    TypeError,
    KeyError,
    RuntimeError,
    MemoryError,
    SyntaxError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
# numpy kinds of real numbers.
REAL_KINDS = "fiub"


def open_array(path: Path) -> NDArray[Any]:
    """The array of a .npy file, memory-mapped."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as failure:
        raise SettingsError(
            f"{path}: cannot be read ({reason(failure)}): name another file"
        ) from None
    except (*UNREADABLE, OverflowError) as failure:
        raise SettingsError(
            f"{path}: is not a numpy array ({why_unreadable(failure)}): save the weights with "
            "numpy.save"
        ) from None
    if not isinstance(found, np.ndarray):
        found.close()
        raise SettingsError(f"{path}: contains several arrays (.npz): save one with numpy.save")
    return found


def why_unreadable(failure: Exception) -> str:
    """Why numpy cannot read a file. Numpy's own advice, to load pickled objects, would run their
    code."""
    return "it contains no plain numbers" if "pickle" in str(failure) else reason(failure)
