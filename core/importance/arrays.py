"""Opens files of numpy, which anyone may have written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.errors import SettingsError, reason
from verdigris.core.network.parameters import UNREADABLE

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

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
