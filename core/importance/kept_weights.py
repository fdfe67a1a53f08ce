"""The file NAME.weights.npz: painted weights as an artist left them, with the last undo steps."""

from __future__ import annotations

import contextlib
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from verdigris.core.base.arrays import UNREADABLE, open_archive, stored_array, why_unreadable
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.files import remove_file, rename_file, replace_file
from verdigris.core.importance.maps import LARGEST_SIDE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

SUFFIX = ".weights.npz"
_DAMAGED = ".damaged"
_WEIGHTS, _UNDO = "weights", "undo_"
_MOST_STEPS, _MOST_STEP_BYTES = 8, 1 << 22
# Headers of arrays and of the archive.
_OVERHEAD = 1 << 14
_MOST_BYTES = 4 * LARGEST_SIDE**2 + _MOST_STEP_BYTES + _OVERHEAD
# Half-written files of a program that was killed.
_LEFTOVER_SECONDS = 60.0


def write_weights(path: Path, weights: Floats, undo: Sequence[Floats] = ()) -> None:
    """Writes a whole file or none, with the last undo steps that have room. Raises OSError."""
    steps: list[Floats] = []
    room = _MOST_STEP_BYTES
    for step in reversed(undo[-_MOST_STEPS:]):
        room -= step.nbytes
        if room < 0:
            break
        steps.insert(0, step)
    arrays = {_WEIGHTS: weights}
    arrays |= {f"{_UNDO}{number}": step for number, step in enumerate(steps)}
    _clear_leftovers(path)
    # numpy's stub mistakes the keywords for allow_pickle
    replace_file(path, partial(cast("Any", np.savez_compressed), **arrays))


def read_weights(path: Path) -> tuple[Floats, list[Floats]]:
    """The weights and the undo steps. Raises SettingsError for a damaged file."""
    name = _WEIGHTS
    try:
        with open_archive(path, _MOST_BYTES) as archive:
            weights = _checked(stored_array(archive, name))
            steps = []
            for number in range(_MOST_STEPS):
                name = f"{_UNDO}{number}"
                if name not in archive.files:
                    break
                steps.append(_checked(stored_array(archive, name)))
    except UNREADABLE as failure:
        raise SettingsError(
            f"{path}: its painted weights cannot be read ({why_unreadable(failure)}). The file "
            "stays: restore it from a backup, or paint again"
        ) from None
    return weights, steps


def set_aside(path: Path) -> None:
    """Renames a damaged file, in whose place another one is to be written."""
    rename_file(path, path.with_name(path.name.removesuffix(SUFFIX) + _DAMAGED + SUFFIX))


def remove_oldest(folder: Path, most: int) -> None:
    """Removes all but the newest files of weights in a folder, as far as the system permits."""
    with contextlib.suppress(OSError):
        files = [each for each in folder.iterdir() if each.name.endswith(SUFFIX)]
        files.sort(key=lambda each: each.lstat().st_mtime)
        for path in files[: max(0, len(files) - most)]:
            remove_file(path)


def _checked(found: NDArray[Any]) -> Floats:
    """A map as the brush makes it: finite, from 0 up, perhaps 0 everywhere."""
    if found.dtype != np.float32 or found.ndim != 2 or not found.size:
        raise ValueError(f"it is {found.dtype} with shape {found.shape}")
    if max(found.shape) > LARGEST_SIDE or not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError("it contains weights that are no numbers from 0 up")
    return found


def _clear_leftovers(path: Path) -> None:
    """Removes what a killed program has written of this file."""
    with contextlib.suppress(OSError):
        for each in path.parent.iterdir():
            is_ours = each.name.startswith(f".{path.name}.") and each.suffix == ".tmp"
            if is_ours and time.time() - each.lstat().st_mtime > _LEFTOVER_SECONDS:
                remove_file(each)
