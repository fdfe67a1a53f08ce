"""What can be chosen of a bake; presets.py chooses it for the artist."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.plain_values import take_plain_numbers
from verdigris.core.network.spec import LatentLayout, NetworkSpec, require_preset
from verdigris.core.settings.draw_settings import DrawSettings
from verdigris.core.settings.limits import require_limits, require_shares
from verdigris.core.settings.schedule import Quantisation, Schedule, TrainingSettings

TRAINERS = ("tensor", "numpy")
# Places of a texel that are enough for a smooth texture.
_SMOOTH_PLACES = 2
# By so many samples a step a graphics card is busy: more starts beside each other take as much
# longer. And texels a side of the largest of which there is room for several.
_SAMPLES_ABREAST = 65_536
_LARGEST_ABREAST = 256
# What certain materials would have in the place of a setting, and have no more where that is asked
# for by number.
_GIVEN_UP_FOR: dict[str, dict[str, float | str]] = {
    "iterations": {"uniform_share": 1.0, "uniform_starts": 0, "smooth_share": 1.0},
    "candidates": {"uniform_starts": 0},
    "batch": {"uniform_batch": 0, "smooth_batch": 0},
    "loss": {"uniform_loss": ""},
    "decoder_rate": {"uniform_rate": 0.0, "smooth_rate": 0.0},
    "horizon_at": {"uniform_horizon": 1.0, "crowded_width": 0.0},
    "encoded_latent_rate": {"smooth_latent_rate": 0.0},
    "carries_moments": {"smooth_moments": False},
    "finest_places": {
        "smooth_share": 1.0,
        "smooth_batch": 0,
        "smooth_rate": 0.0,
        "smooth_latent_rate": 0.0,
        "smooth_moments": False,
    },
    "finest_width": {"crowded_width": 0.0},
    "draw_errors_at": {"crowded_width": 0.0},
    "mend_at": {"crowded_width": 0.0},
}


@dataclass(frozen=True)
class BakeSettings:
    """Everything that shapes the result. Two bakes with equal settings and sources are equal."""

    network: str = "2x32"
    """The decoder: hidden layers x neurons. More is sharper and slower to evaluate."""

    activation: str = "silu"
    """What bends inside the decoder. Smooth ones draw smooth highlights."""

    resolution: int = 512
    """Latent texels a side. Detail finer than a texel is averaged."""

    uniform_resolution: int = 16
    """Latent texels a side of a material that is the same everywhere, which needs no more; 0 gives
    it as many as others."""

    uniform_instead_of: int = 0
    """How many were asked for where it is; the bake says so."""

    uniform_share: float = 1.0
    """The part of the steps that such a material gets, which has learnt early. A number of steps
    that is asked for is taken as it is."""

    uniform_starts: int = 0
    """Whole bakes of such a material, the best of which is kept: where they are short, no two come
    out alike. 0 tries starts as others do, and so does a number of steps or of `candidates` that is
    asked for."""

    uniform_batch: int = 0
    """Samples of a step of such a material, which holds no noise for many to average; 0 takes as
    many as others, and so does a `batch` that is asked for."""

    uniform_rate: float = 0.0
    """Peak learning rate of such a material's decoder; 0 takes that of others, and so does a
    `decoder_rate` that is asked for."""

    uniform_loss: str = ""
    """The loss of such a material; an empty word takes that of others, and so does a `loss` that is
    asked for."""

    uniform_horizon: float = 1.0
    """The part of `horizon_at` that such whole bakes get, whose rates do not stay high for long; a
    `horizon_at` that is asked for is taken as it is."""

    iterations: int = 20_000
    """Steps of training."""

    batch: int = 16_384
    """Samples a step."""

    loss: str = "cbrt_log"
    """What training makes small, a key of LOSSES."""

    seed: int = 0
    """Where the random numbers start."""

    candidates: int = 1
    """Starts that are tried; the best goes on. It removes bad luck."""

    candidate_share: float = 0.04
    """The part of the steps of its first texture that each candidate gets before one is chosen; 1
    trains all of them to the end."""

    decoder_rate: float = 2e-2
    """Peak learning rate of decoder and frames."""

    smooth_rate: float = 0.0
    """The same for a texture with hardly any detail inside of its texels, which a high rate leads
    to other ends from seed to seed; 0 takes the other, and so does a `decoder_rate` that is asked
    for."""

    smooth_share: float = 1.0
    """The part of the steps that such a texture gets: many lead its seeds apart. A number of steps
    that is asked for is taken as it is."""

    smooth_batch: int = 0
    """Samples of its steps, which may be the larger where they are fewer; 0 takes as many as
    others, and so does a `batch` that is asked for."""

    latent_rate: float = 1e-2
    """Peak learning rate of the latent texels."""

    latent_bits: int = 8
    """Bits of a latent channel in the bundle: 8, or 4 to see what that would cost; 0 keeps half
    floats, which are twice as large."""

    quantise_share: float = 0.1
    """The part of all steps, at the end, in which latents are trained as they will be rounded."""

    latent_outliers: float = 0.0
    """The part of a latent channel's values, at either end, that its range leaves out. In a large
    texture few would double the range, and with it what rounding costs all others; but a short
    phase of rounding mends no texel that was one of these for a reason."""

    encode_from: int = 1024
    """From this resolution on a small texture is trained first, and an encoder makes the large one
    of it; 0 never."""

    small_resolution: int = 256
    """Texels a side of that small texture."""

    small_share: float = 0.25
    """The part of all steps that trains it."""

    encoded_latent_rate: float = 3e-3
    """Peak learning rate of latents that were encoded."""

    smooth_latent_rate: float = 0.0
    """The same for a texture with hardly any detail inside of its texels, which seeds learn more
    alike at a lower one; 0 takes the other, and so does an `encoded_latent_rate` that is asked
    for."""

    carries_moments: bool = False
    """The large texture begins with how large gradients are, and how they lie, as the small one has
    found out. Its first steps are then no longer than the rate says, and most of what was learnt
    stays; without it latents move many times as fast for a while."""

    smooth_moments: bool = False
    """The same for a texture with hardly any detail inside of its texels, in which it shows what is
    shaken in that while; whoever asks for `carries_moments` has what they asked for."""

    mend_at: tuple[float, ...] = ()
    """After which parts of the steps, or of those after an encoder, texels that have gone astray
    begin again as one of their neighbours. In a short bake many are on their way yet."""

    draw_errors_at: tuple[float, ...] = ()
    """After which parts of the same errors are looked at, and places drawn from then on the more
    often, up to 64 times as others, the larger their errors."""

    crowded_width: float = 0.0
    """`draw.finest_width` of a material that has far finer detail than its texels everywhere.
    Nothing of it is sharp, so that narrower is noisier alone, and places are not drawn by errors.
    Where all texels have errors, looking for stray ones gains nothing, and directions near the
    horizon are drawn from the start. 0 treats it as others, and so does asking for any of these by
    number."""

    is_crowded: bool = False
    """Whether the material is such a one, which the bake finds out."""

    average_at: float = 0.0
    """After which part of them coarse levels that are worse than means of the finest begin again as
    these; 0 never. Where few samples are coarse, short bakes gain by it."""

    horizon_at: float = 0.0
    """After which part of them directions near the horizon are drawn, too. At the rates of long
    bakes' beginnings they can drive a decoder astray, from which it does not come back."""

    draw: DrawSettings = field(default_factory=DrawSettings)
    """How places and directions are drawn."""

    most_places: int = 8
    """Places of a texel that a sample averages at most, where a material has finer detail."""

    def __post_init__(self) -> None:
        take_plain_numbers(self)
        for name in ("mend_at", "draw_errors_at"):
            # JSON has lists, and frozen settings hold none
            object.__setattr__(self, name, require_shares(name, getattr(self, name)))
        require_limits(self)

    @property
    def spec(self) -> NetworkSpec:
        return replace(require_preset(self.network), activation=self.activation)

    def layout(self, materials: int = 1) -> LatentLayout:
        """The latent textures, with every mip level."""
        levels = int(math.log2(self.resolution)) + 1
        return LatentLayout(self.resolution, self.resolution, levels, materials)

    @property
    def peak_rate(self) -> float:
        """The learning rate of the decoder, once it is known how many places a texel needs."""
        return self.smooth_rate if self._is_smooth and self.smooth_rate else self.decoder_rate

    @property
    def large_latent_rate(self) -> float:
        """That of latents which were encoded, once the same is known."""
        own = self.smooth_latent_rate if self._is_smooth else 0.0
        return own or self.encoded_latent_rate

    @property
    def hands_on_moments(self) -> bool:
        """Whether the large texture begins with the small one's moments, once the same is known."""
        return self.carries_moments or (self.smooth_moments and self._is_smooth)

    @property
    def _is_smooth(self) -> bool:
        could_be_more = self.most_places > _SMOOTH_PLACES and not self.uniform_instead_of
        return could_be_more and 0 < self.draw.finest_places <= _SMOOTH_PLACES

    @property
    def candidate_steps(self) -> int:
        """Of each start that is tried."""
        return min(self.iterations, max(2, int(self.iterations * self.candidate_share)))

    @property
    def has_whole_candidates(self) -> bool:
        """Whether each start is trained to its end, and the best result is kept; a small texture
        would not be one."""
        return self.candidates > 1 and self.candidate_share == 1 and not self.is_encoded

    @property
    def most_abreast(self) -> int:
        """Starts that may train side by side, by a trainer that can: textures that are no larger
        than those that others are made of."""
        if self.resolution > _LARGEST_ABREAST:
            return 1
        return max(1, min(_SAMPLES_ABREAST // self.batch, self.candidates))

    @property
    def is_encoded(self) -> bool:
        """Whether the texture is made of a smaller one."""
        return 0 < self.encode_from <= self.resolution and self.iterations > 1

    @property
    def small_steps(self) -> int:
        """Of those in all, that train the smaller texture first."""
        return min(self.iterations - 1, max(1, int(self.iterations * self.small_share)))

    @property
    def horizon_step(self) -> int:
        """The step from which on directions near the horizon are drawn."""
        return 0 if self._draws_otherwise else math.ceil(self.horizon_at * self.iterations)

    @property
    def start_share(self) -> float:
        """Steps of each start that is tried, as a part of all steps."""
        return self.candidate_share * (self.small_share if self.is_encoded else 1.0)

    @property
    def share_in_vain(self) -> float:
        """Steps of starts that do not go on, as a part of all steps."""
        return (self.candidates - 1) * self.start_share

    def with_few_texels(self, few: int) -> BakeSettings:
        """These for a material that is the same everywhere. A start is tried to its end, or for the
        part of all steps that it would be with the small texture of an encoder."""
        has_short_bakes = self.uniform_starts > 0
        return replace(
            self,
            resolution=few,
            uniform_instead_of=self.resolution,
            iterations=max(1, round(self.uniform_share * self.iterations)),
            batch=self.uniform_batch or self.batch,
            loss=self.uniform_loss or self.loss,
            decoder_rate=self.uniform_rate or self.decoder_rate,
            candidates=self.uniform_starts or self.candidates,
            candidate_share=1.0 if has_short_bakes else self.start_share,
            horizon_at=(self.uniform_horizon if has_short_bakes else 1.0) * self.horizon_at,
        )

    def with_places(self, places: int, is_crowded: bool) -> BakeSettings:
        """These for a material of which so many places of a texel are averaged, unless a number of
        them was asked for."""
        if self.draw.finest_places:
            return self
        draw = replace(self.draw, finest_places=places)
        found = replace(self, draw=draw, is_crowded=is_crowded)
        if not found._is_smooth:
            return found
        return replace(
            found,
            iterations=max(1, round(self.smooth_share * self.iterations)),
            batch=self.smooth_batch or self.batch,
        )

    @property
    def sampling(self) -> DrawSettings:
        """How samples are drawn, once it is known what a texel holds."""
        if not self._draws_otherwise:
            return self.draw
        return replace(self.draw, finest_width=self.crowded_width)

    @property
    def errors_drawn_at(self) -> tuple[float, ...]:
        """When places begin to be drawn by their errors."""
        return () if self._draws_otherwise else self.draw_errors_at

    @property
    def mended_at(self) -> tuple[float, ...]:
        """When stray texels are looked for."""
        return () if self._draws_otherwise else self.mend_at

    @property
    def _draws_otherwise(self) -> bool:
        return self.is_crowded and self.crowded_width > 0

    def training(self) -> TrainingSettings:
        schedule = Schedule(
            steps=self.iterations, decoder_rate=self.peak_rate, latent_rate=self.latent_rate
        )
        return TrainingSettings(
            batch=self.batch,
            loss=self.loss,
            schedule=schedule,
            quantisation=self._quantisation(),
        )

    def _quantisation(self) -> Quantisation | None:
        if not self.latent_bits:
            return None
        steps = max(1, round(self.quantise_share * self.iterations))
        return Quantisation(
            self.iterations - steps, steps, self.latent_bits, outliers=self.latent_outliers
        )

    def changed(self, changes: Mapping[str, Any]) -> BakeSettings:
        """These with other values; those of `draw` may come as a table of what changes there. What
        is asked for by number is for any material: steps and their samples, starts, places and a
        rate of the decoder."""
        _require_known("settings", dict(changes), BakeSettings)
        draw, asked = changes.get("draw"), set(changes)
        if isinstance(draw, Mapping):
            _require_known("settings of draw", dict(draw), DrawSettings)
            changes = {**changes, "draw": replace(self.draw, **draw)}
            asked |= set(draw)
        elif "draw" in changes and not isinstance(draw, DrawSettings):
            raise SettingsError(f"draw is {draw!r}: use a table, such as {{'pairs': 2}}")
        given_up = {
            name: value
            for each, values in _GIVEN_UP_FOR.items()
            if each in asked
            for name, value in values.items()
        }
        return replace(self, **{**given_up, **changes})

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> BakeSettings:
        """The inverse of `to_json`; unknown names are an error that lists the known ones."""
        _require_known("settings", values, cls)
        draw = values.get("draw", {})
        _require_known("settings of draw", draw, DrawSettings)
        return cls(**{**values, "draw": DrawSettings(**draw)})

    def text(self) -> str:
        return json.dumps(self.to_json(), sort_keys=True)


def unequal(
    before: Mapping[str, Any], now: Mapping[str, Any], prefix: str = ""
) -> list[tuple[str, Any, Any]]:
    """Of settings as JSON, each that differs: its name, as it is now, as it was before."""
    found = []
    for name, value in now.items():
        old = before.get(name)
        if isinstance(value, dict) and isinstance(old, dict):
            found += unequal(old, value, f"{name}.")
        elif old != value:
            found.append((f"{prefix}{name}", value, old))
    return found


def _require_known(what: str, given: Any, kind: type) -> None:
    if not isinstance(given, dict):
        raise SettingsError(f"{what} are {given!r}: use an object of names and values")
    known = {entry.name for entry in fields(kind)}
    unknown = sorted(set(given) - known)
    if unknown:
        raise SettingsError(
            f"{what} {', '.join(unknown)} are not known: use {', '.join(sorted(known))}"
        )
