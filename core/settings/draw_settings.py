"""Settings of the drawing of training samples: part of the settings of a bake."""

from __future__ import annotations

from dataclasses import dataclass

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.plain_values import convert_numbers
from verdigris.core.material.evaluator import DEFAULT_SLOPE_STEP
from verdigris.core.settings.direction_profiles import Table, checked_table, profile_table

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
    """Places of its footprint that a sample of the first coarser level averages; twice as many on
    the next level, four times as many beyond."""

    most_coarse_places: int = 0
    """Upper bound of the places on levels beyond that; 0 for none."""

    finest_places: int = 4
    """Places that a sample of the finest level averages. More than 1 keeps detail below a texel,
    which the student cannot hold, from becoming noise."""

    finest_width: float = 0.85
    """Width of a sample's footprint on the finest level, in texels. Filtering between texels blurs
    once more, so that less is sharper, and noisier."""

    slope_step: float = DEFAULT_SLOPE_STEP
    """Distance in uv of finite differences, for slopes of procedural patterns."""

    pairs: int = 1
    """Consecutive samples that share their place."""

    repeats: int = 1
    """How often a drawn sample is trained, some steps apart. Steps are faster where drawing is
    slow, and reach a few percent less on a processor."""

    live_inputs: int = 0
    """Number of live inputs whose values are drawn; a bake sets it to those of its materials."""

    importance_in_loss: float = 0.0
    """Weight of the loss: the importance of the place to this power. 0 uses importance for sampling
    only, 1 counts it twice."""

    directions: str = "uniform"
    """Direction profile, a name of core/settings/direction_profiles.py."""

    direction_table: Table = ()
    """Weights of directions in the place of a profile: rows by the cosine of the viewer, columns by
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
        """Most places that a sample of any coarser level averages."""
        farthest = 4 * self.coarse_places
        return max(self.coarse_places, min(farthest, self.most_coarse_places or farthest))

    def direction_weights(self) -> Table:
        return self.direction_table or profile_table(self.directions)
