"""How training samples are drawn, a part of the settings of a bake; profiles of directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.arrays import REAL_KINDS, open_array
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.inputs import require_file
from verdigris.core.base.json_fields import LARGEST_JSON, read_json_file
from verdigris.core.base.plain_values import convert_numbers
from verdigris.core.material.evaluator import DEFAULT_SLOPE_STEP

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Doubles


Table = tuple[tuple[float, ...], ...]
# Cells a side of a profile's table, and at most of a table from a file.
CELLS, LARGEST_TABLE = 16, 64
_Profile = Callable[["Doubles", "Doubles"], "Doubles"]
# How often a drawn sample is trained at most.
MOST_REPEATS = 16


@dataclass(frozen=True)
class DrawSettings:
    """How places and directions are sampled."""

    mirror_share: float = 0.05
    """Share of pairs around the mirror direction, at random roughness."""

    half_difference_share: float = 0.0
    """Share of pairs with uniform angles of half and difference vector; the rest are uniform on the
    hemisphere."""

    least_cosine: float = 0.001
    """Least cosine of a direction with the normal."""

    coarse_share: float = 0.3
    """Share of samples on coarser mip levels, half as many on each level as on the one before."""

    coarse_places: int = 16
    """Places that a sample of the first coarser level averages over its footprint. Samples of the
    next level average twice as many, and of levels beyond four times as many."""

    most_coarse_places: int = 0
    """The most places on levels beyond that; 0 sets no limit."""

    finest_places: int = 4
    """Places that a sample of the finest level averages. With more than 1, detail below a texel,
    which the student cannot represent, does not become noise."""

    finest_width: float = 0.85
    """Width of a sample's footprint on the finest level, in texels. Filtering between texels blurs
    the result again, so a smaller width is sharper, and noisier."""

    slope_step: float = DEFAULT_SLOPE_STEP
    """Distance in uv of finite differences, for slopes of procedural patterns."""

    pairs: int = 1
    """Consecutive samples that share their place."""

    repeats: int = 1
    """How often a drawn sample is trained, some steps apart. Where drawing is slow, steps become
    faster; on a CPU the result is a few percent worse."""

    live_inputs: int = 0
    """Number of live inputs whose values are drawn. A bake sets it from its materials."""

    importance_in_loss: float = 0.0
    """The loss of a sample is weighted by the importance of its place to this power. 0 uses the
    importance for sampling only; 1 counts it twice."""

    directions: str = "uniform"
    """The direction profile, a key of PROFILES."""

    direction_table: Table = ()
    """Weights of directions in place of a profile: rows by the cosine of the viewer, columns by
    that of the light, both uniform from the horizon to the normal."""

    def __post_init__(self) -> None:
        convert_numbers(self)
        for name in ("mirror_share", "half_difference_share", "coarse_share", "least_cosine"):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise SettingsError(f"{name} is {value}: use 0 to less than 1")
        if not 0 <= self.finest_width <= 1:
            raise SettingsError(f"finest_width is {self.finest_width}: use 0 to 1")
        if self.most_coarse_places < 0:
            raise SettingsError(f"most_coarse_places is {self.most_coarse_places}: use 0 or more")
        for name in ("coarse_places", "finest_places", "pairs"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name)}: use at least 1")
        if not 1 <= self.repeats <= MOST_REPEATS:
            raise SettingsError(f"repeats is {self.repeats}: use 1 to {MOST_REPEATS}")
        if not 0 <= self.importance_in_loss <= 4:
            raise SettingsError(f"importance_in_loss is {self.importance_in_loss}: use 0 to 4")
        profile_table(self.directions)
        # JSON has lists; frozen settings have tuples
        table = checked_table(self.direction_table) if len(self.direction_table) else ()
        object.__setattr__(self, "direction_table", table)

    @property
    def places_at_most(self) -> int:
        """The most places that a sample of any coarser level averages."""
        farthest = 4 * self.coarse_places
        return max(self.coarse_places, min(farthest, self.most_coarse_places or farthest))

    def direction_weights(self) -> Table:
        return self.direction_table or profile_table(self.directions)


# Weights by the cosines of viewer and light; 1 is normal. Every direction has a weight above 0, for
# a camera that leaves its usual path.
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
        # checked first, before an array is read from its file
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
    """The name and the table of a profile, or of a file: JSON (rows of numbers) or `.npy`."""
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
    values = read_json_file(path, SettingsError, LARGEST_JSON)
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


def _as_table(table: Doubles) -> Table:
    return tuple(tuple(float(value) for value in row) for row in table)
