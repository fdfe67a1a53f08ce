"""Direction profiles: weights by the cosines of viewer and light, by name or as a table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.arrays import REAL_KINDS, open_array
from verdigris.core.base.errors import SettingsError, reason
from verdigris.core.base.inputs import require_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Table = tuple[tuple[float, ...], ...]
CELLS = 16
LARGEST_TABLE = 64

_Profile = Callable[["Floats", "Floats"], "Floats"]

# Weights by the cosines of viewer and light; 1 is normal. Each profile has weight everywhere, for a
# camera that leaves its usual path.
_PROFILES: dict[str, tuple[str, _Profile]] = {
    "uniform": ("all alike", lambda viewer, light: np.ones_like(viewer * light)),
    "grazing": (
        "the viewer near the horizon: floors, roads and water seen from eye height",
        lambda viewer, light: 1 + 7 * (1 - viewer) ** 4 + 0 * light,
    ),
    "head-on": (
        "the viewer above the surface: walls, signs and screens that are looked at",
        lambda viewer, light: 1 + 7 * viewer**4 + 0 * light,
    ),
    "overhead-light": (
        "the light high above the surface: noon, and rooms lit from the ceiling",
        lambda viewer, light: 1 + 7 * light**4 + 0 * viewer,
    ),
    "low-light": (
        "the light near the horizon: evenings, and walls lit from above",
        lambda viewer, light: 1 + 7 * (1 - light) ** 4 + 0 * viewer,
    ),
    "fixed-camera": (
        "the viewer at 35 to 60 degrees from the normal: floors under an isometric camera",
        lambda viewer, light: np.where((viewer > 0.5) & (viewer < 0.82), 8.0, 1.0) + 0 * light,
    ),
}
PROFILES = {name: text for name, (text, _) in _PROFILES.items()}


def profile_table(name: str) -> Table:
    """The profile's table: rows by the cosine of the viewer, columns by that of the light."""
    if name not in _PROFILES:
        raise SettingsError(f"directions {name!r} are not known: use one of {', '.join(PROFILES)}")
    cosine = (np.arange(CELLS) + 0.5) / CELLS
    return _as_table(_PROFILES[name][1](cosine[:, None], cosine[None, :]))


def checked_table(values: Any, name: str = "direction_table") -> Table:
    """A table of weights as tuples; raises an error for anything else."""
    try:
        # before an array is read from its file
        _check_shape(np.shape(values), name)
        given = np.asarray(values)
        if given.dtype.kind not in REAL_KINDS:
            raise TypeError(given.dtype)
        table = given.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        raise SettingsError(f"{name}: rows must be numbers, and equally many each") from None
    if not np.isfinite(table).all() or (table < 0).any() or not table.any():
        raise SettingsError(f"{name}: weights must be finite, from 0 up, and not all 0")
    return _as_table(table)


def read_directions(text: str) -> tuple[str, Table]:
    """Name and table of a profile, or of a file: JSON (rows of numbers) or `.npy`."""
    if text in PROFILES:
        return text, ()
    path = Path(text)
    if not names_table(text):
        raise SettingsError(
            f"directions {text!r} are neither one of {', '.join(PROFILES)} nor a .json or .npy file"
        )
    require_file(path, SettingsError, "name another file")
    if path.suffix.lower() == ".npy":
        return "uniform", checked_table(open_array(path), str(path))
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as failure:
        raise SettingsError(
            f"{path}: cannot be read ({reason(failure)}): name another file"
        ) from None
    except (ValueError, RecursionError) as failure:
        raise SettingsError(f"{path}: cannot be read as a table: {failure}") from None
    return "uniform", checked_table(values, str(path))


def names_table(text: str) -> bool:
    """Whether a text names the file of a table, and not a profile."""
    return Path(text).suffix.lower() in (".json", ".npy")


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2 or not 1 <= min(shape) <= max(shape) <= LARGEST_TABLE:
        raise SettingsError(
            f"{name} has shape {shape}: use rows by the cosine of the viewer and columns by "
            f"that of the light, at most {LARGEST_TABLE} of each"
        )


def _as_table(table: Floats) -> Table:
    return tuple(tuple(float(value) for value in row) for row in table)
