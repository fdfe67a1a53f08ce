"""Opens files of numpy, which anyone may have written."""

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

# What numpy and zipfile raise for a file that is damaged somewhere: a compression or an encryption
# that nobody asked for, a header that is no Python, a shape beyond all memory.
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
# Of arrays that hold real numbers.
REAL_KINDS = "fiub"


def open_array(path: Path) -> NDArray[Any]:
    """The array of a .npy file; nothing but its header is read."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as failure:
        raise SettingsError(
            f"{path}: cannot be read ({reason(failure)}): name another file"
        ) from None
    except (*UNREADABLE, OverflowError) as failure:
        detail = "" if "pickle" in str(failure) else f" ({failure})"
        raise SettingsError(
            f"{path}: is no array of numpy{detail}: save the weights with numpy.save"
        ) from None
    if not isinstance(found, np.ndarray):
        found.close()
        raise SettingsError(f"{path}: holds several arrays (.npz): save one with numpy.save")
    return found
