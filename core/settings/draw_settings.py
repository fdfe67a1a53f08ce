"""How training samples are drawn: part of the settings of a bake."""

from __future__ import annotations

from dataclasses import dataclass

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.plain_values import convert_numbers
from verdigris.core.material.evaluator import DEFAULT_SLOPE_STEP
from verdigris.core.settings.direction_profiles import Table, checked_table, profile_table

# How often the numpy trainer trains a drawn sample at most.
MOST_REPEATS = 16


@dataclass(frozen=True)
class DrawSettings:
    """How places and directions are drawn."""

    mirror_share: float = 0.05
    """Share of pairs around the mirror direction at random roughness. More starves the rest."""

    half_difference_share: float = 0.0
    """Share of pairs with even angles of half and difference vector; the rest are uniform."""

    least_cosine: float = 0.001
    """Directions are not closer to the horizon than this."""

    coarse_share: float = 0.3
    """Share of samples on coarser mip levels, half as many on each as on the one before."""

    coarse_places: int = 16
    """Places of what its texel stands for that a sample of the first coarser level averages. Twice
    as many on the next and four times as many on those beyond, which hold more that differs."""

    most_coarse_places: int = 0
    """So many at most beyond the first coarser level, but no fewer than on it; 0 sets no bound."""

    finest_places: int = 4
    """Places that a sample of the finest level averages. More than 1 keeps detail below a texel,
    which the student cannot hold, from becoming noise."""

    finest_width: float = 0.85
    """The width, in texels, of the patch that a sample of the finest level is the mean over.
    Filtering between texels blurs once more, so that narrower is sharper, and noisier."""

    slope_step: float = DEFAULT_SLOPE_STEP
    """The width in uv over which a material takes slopes of its own patterns."""

    pairs: int = 1
    """Samples in a row that share their place."""

    repeats: int = 1
    """How often the numpy trainer trains a drawn sample, some steps apart and each time beside
    others. Where drawing is what takes the time, steps take up to half as long, and teach a few
    percent less."""

    importance_in_loss: float = 0.0
    """The loss is weighed by the density of painted importance to this power, beside being drawn
    by it: 0 leaves the loss alone, 1 counts paint twice."""

    directions: str = "uniform"
    """Which directions matter: a profile of core/settings/direction_profiles.py."""

    direction_table: Table = ()
    """The same as weights of one's own, instead of a profile: rows by the cosine of the viewer,
    columns by that of the light, both evenly from the horizon to the normal."""

    def __post_init__(self) -> None:
        convert_numbers(self)
        for name in ("mirror_share", "half_difference_share", "coarse_share", "least_cosine"):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise SettingsError(f"{name} is {value}: use 0 to less than 1")
        if not 0 <= self.finest_width <= 1:
            raise SettingsError(f"finest_width is {self.finest_width}: use 0 to 1")
        for name in ("most_coarse_places",):
            if getattr(self, name) < 0:
                raise SettingsError(f"{name} is {getattr(self, name)}: use 0 or more")
        for name in ("coarse_places", "finest_places", "pairs"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name)}: use at least 1")
        if not 1 <= self.repeats <= MOST_REPEATS:
            raise SettingsError(f"repeats is {self.repeats}: use 1 to {MOST_REPEATS}")
        if not 0 <= self.importance_in_loss <= 4:
            raise SettingsError(f"importance_in_loss is {self.importance_in_loss}: use 0 to 4")
        profile_table(self.directions)
        # JSON has lists, and frozen settings hold none
        table = checked_table(self.direction_table) if len(self.direction_table) else ()
        object.__setattr__(self, "direction_table", table)

    @property
    def places_at_most(self) -> int:
        """That a sample of any coarser level averages."""
        farthest = 4 * self.coarse_places
        return max(self.coarse_places, min(farthest, self.most_coarse_places or farthest))

    def direction_weights(self) -> Table:
        return self.direction_table or profile_table(self.directions)
