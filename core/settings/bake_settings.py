"""Settings of a bake. A preset contains settings for every kind of material (presets.py)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.plain_values import convert_numbers
from verdigris.core.network.spec import LatentLayout, NetworkSpec, require_loss, require_preset
from verdigris.core.settings.draw_settings import DrawSettings
from verdigris.core.settings.schedule import (
    BlockLines,
    Quantisation,
    Schedule,
    TrainingSettings,
    require_rates,
)

TRAINERS = ("tensor", "numpy")
LARGEST_RESOLUTION = 8192
# How a bundle stores latents.
BC7_FORMAT, RGBA8_FORMAT, HALF_FORMAT = LATENT_FORMATS = ("bc7", "rgba8", "half")
MOST_STARTS = 64
# JSON readers keep whole numbers up to this size.
_SEED_BITS = 53
# Days of training on any device, and exact as a float.
_MOST_ITERATIONS = 1_000_000_000
# Latent channels of a texel: one or two layers of four.
FEWER_LATENTS, MORE_LATENTS = LATENT_CHANNELS = (4, 8)
# Parts of the steps between which latents move to the lines that blocks of BC7 can hold.
_LINES = (0.05, 0.3)
# Settings of the size that let a bake choose another size than its resolution.
_CHOICES = {"tolerance", "most_bytes"}
# Points that are sampled between two moves: 16 steps on a GPU, more with smaller batches, whose
# steps take less time than a move.
_POINTS_A_MOVE = 1 << 18


@dataclass(frozen=True)
class SizeSettings:
    """Whether and how a bake chooses a smaller latent texture: its target, and its limit."""

    tolerance: float = 0.0
    """A smaller texture is chosen if its log MAE is above that of the largest by at most this part,
    or if nobody sees the error. 0 keeps the resolution."""

    most_bytes: int = 0
    """The most bytes of a bundle on a GPU: weights, latents and maps. 0 sets no limit."""

    latent_channels: int = 0
    """Latent channels of a texel: 8, or 4 with half of the bytes. 0 chooses 8, or 4 if the error is
    smaller with them within `most_bytes`."""

    def __post_init__(self) -> None:
        convert_numbers(self)
        if not 0 <= self.tolerance <= 1:
            raise SettingsError(f"tolerance is {self.tolerance}: use 0 to 1")
        if self.most_bytes < 0:
            raise SettingsError(f"most_bytes is {self.most_bytes}: use 0 or more")
        if self.latent_channels not in (0, *LATENT_CHANNELS):
            raise SettingsError(f"latent_channels is {self.latent_channels}: use 0, 4 or 8")

    @property
    def channels(self) -> tuple[int, ...]:
        """The numbers of channels that a bake may choose from; the first is the default. Without a
        limit all decoders have one architecture, so that any materials can be packed together."""
        may_choose = self.most_bytes and not self.latent_channels
        return LATENT_CHANNELS[::-1] if may_choose else (self.latent_channels or MORE_LATENTS,)

    @property
    def is_open(self) -> bool:
        """Whether the bake may choose another size than its resolution."""
        return self.tolerance > 0 or self.most_bytes > 0


@dataclass(frozen=True)
class BakeSettings:
    """Everything that shapes the result. Two bakes with equal settings and sources are equal."""

    network: str = "2x32"
    """The decoder: hidden layers x neurons. A larger one is sharper and slower to evaluate."""

    activation: str = "silu"
    """Activation of the hidden layers. Smooth ones give smooth highlights."""

    resolution: int = 512
    """Latent texels per side; the most texels if the bake chooses the size (`size`). Detail finer
    than a texel is averaged."""

    iterations: int = 20_000
    """Training steps."""

    batch: int = 16_384
    """Samples per step."""

    loss: str = "cbrt_log"
    """Loss function: a key of LOSSES."""

    seed: int = 0
    """Seed of all random numbers."""

    starts: int = 1
    """Starts that are compared; the best one continues. More starts make the result less a matter
    of luck."""

    start_share: float = 0.04
    """Steps of each start before the best one is chosen, as a part of the first stage."""

    decoder_rate: float = 2e-2
    """Peak learning rate of decoder and frames."""

    latent_rate: float = 1e-2
    """Peak learning rate of the latents."""

    latent_format: str = "bc7"
    """How the bundle stores latents. With 8 channels, a texel takes 2 bytes as `bc7`, whose blocks
    GPUs decode, 8 bytes as `rgba8`, and 16 bytes as `half` floats."""

    quantise_share: float = 0.1
    """Length of the last phase, as a part of all steps. It trains latents as they will be
    rounded."""

    latent_outliers: float = 0.0
    """The part of a latent channel's values that its range clips at each end. A few outliers in a
    large texture would double the range, and the rounding error of all other values."""

    encode_from: int = 1024
    """Resolution from which training has two stages: it begins with a small texture, from which an
    encoder initialises the large one. 0 always trains one stage."""

    small_resolution: int = 256
    """Latent texels per side of the small texture."""

    small_share: float = 0.25
    """Steps of the small texture, as a part of all steps."""

    encoded_latent_rate: float = 3e-3
    """Peak learning rate of latents that an encoder has initialised."""

    draw: DrawSettings = field(default_factory=DrawSettings)
    """How places and directions are sampled."""

    size: SizeSettings = field(default_factory=SizeSettings)
    """Whether and how the bake chooses a smaller texture."""

    def __post_init__(self) -> None:
        convert_numbers(self)
        _require_limits(self)

    @property
    def spec(self) -> NetworkSpec:
        return replace(
            require_preset(self.network),
            activation=self.activation,
            latent_channels=self.size.channels[0],
            live_inputs=self.draw.live_inputs,
        )

    def with_live_inputs(self, count: int) -> BakeSettings:
        return replace(self, draw=replace(self.draw, live_inputs=count))

    def layout(self, materials: int = 1) -> LatentLayout:
        """The latent textures with all mip levels."""
        levels = int(math.log2(self.resolution)) + 1
        return LatentLayout(self.resolution, self.resolution, levels, materials)

    @property
    def start_steps(self) -> int:
        """Steps of each start before the best is chosen."""
        return min(self.iterations, max(2, int(self.iterations * self.start_share)))

    @property
    def has_two_stages(self) -> bool:
        """Whether a small texture is trained first."""
        return 0 < self.encode_from <= self.resolution and self.iterations > 1

    @property
    def small_steps(self) -> int:
        """Steps of the small texture."""
        return min(self.iterations - 1, max(1, int(self.iterations * self.small_share)))

    @property
    def last_phase_step(self) -> int:
        """The step at which the last phase begins, in which latents are rounded."""
        return self.iterations - max(1, round(self.quantise_share * self.iterations))

    @property
    def discarded_share(self) -> float:
        """Steps of discarded starts, as a part of all steps."""
        share = self.start_share * (self.small_share if self.has_two_stages else 1.0)
        return (self.starts - 1) * share

    def training(self) -> TrainingSettings:
        schedule = Schedule(
            steps=self.iterations, decoder_rate=self.decoder_rate, latent_rate=self.latent_rate
        )
        return TrainingSettings(
            batch=self.batch, loss=self.loss, schedule=schedule, quantisation=self._quantisation()
        )

    def _quantisation(self) -> Quantisation | None:
        if self.latent_format == HALF_FORMAT:
            return None
        first = self.last_phase_step
        lines = None
        if self.latent_format == BC7_FORMAT:
            begin, end = (round(share * self.iterations) for share in _LINES)
            points = self.batch // self.draw.pairs
            lines = BlockLines(begin, min(end, first), max(1, _POINTS_A_MOVE // points))
        return Quantisation(first, self.iterations - first, lines, outliers=self.latent_outliers)

    def changed(self, changes: Mapping[str, Any]) -> BakeSettings:
        """The settings with other values of some fields; `draw` and `size` may be mappings with the
        fields that change. A new resolution is kept, unless a target or a limit of its size is
        given with it."""
        _require_known("settings", dict(changes), BakeSettings)
        changes = dict(changes)
        size = changes.get("size", {})
        if "resolution" in changes and isinstance(size, Mapping) and not _CHOICES & {*size}:
            changes["size"] = {"tolerance": 0.0, **size}
        for name, (kind, example) in TABLES.items():
            table = changes.get(name)
            if isinstance(table, Mapping):
                _require_known(f"settings of {name}", dict(table), kind)
                changes[name] = replace(getattr(self, name), **table)
            elif name in changes and not isinstance(table, kind):
                raise SettingsError(f"{name} is {table!r}: use a table, such as {example}")
        return replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        values = asdict(self)
        if not self.draw.live_inputs:
            # as in bundles from before live inputs
            del values["draw"]["live_inputs"]
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> BakeSettings:
        """The inverse of `to_json`; an unknown name is an error that lists the known ones."""
        _require_known("settings", values, cls)
        tables: dict[str, Any] = {}
        for name, (kind, _) in TABLES.items():
            tables[name] = values.get(name, {})
            _require_known(f"settings of {name}", tables[name], kind)
            tables[name] = kind(**tables[name])
        return cls(**{**values, **tables})


# Fields that are tables: their type, and an example.
TABLES: dict[str, tuple[type, str]] = {
    "draw": (DrawSettings, "{'pairs': 2}"),
    "size": (SizeSettings, "{'tolerance': 0.1}"),
}


def unequal(
    before: Mapping[str, Any], now: Mapping[str, Any], prefix: str = ""
) -> list[tuple[str, Any, Any]]:
    """The settings that differ between two settings as JSON: name, new value, old value."""
    found = []
    for name, value in now.items():
        old = before.get(name)
        if isinstance(value, dict) and isinstance(old, dict):
            found += unequal(old, value, f"{name}.")
        elif old != value:
            found.append((f"{prefix}{name}", value, old))
    return found


def as_read(settings: BakeSettings) -> dict[str, Any]:
    """Settings as a JSON reader returns them."""
    values: dict[str, Any] = json.loads(json.dumps(settings.to_json()))
    return values


def _require_known(what: str, given: Any, kind: type) -> None:
    if not isinstance(given, dict):
        raise SettingsError(f"{what} are {given!r}: use an object of names and values")
    known = {entry.name for entry in fields(kind)}
    unknown = sorted(set(given) - known)
    if unknown:
        raise SettingsError(
            f"{what} {', '.join(unknown)} are not known: use {', '.join(sorted(known))}"
        )


def _require_limits(settings: BakeSettings) -> None:
    """Refuses values that no bake can have."""
    require_preset(settings.network)
    require_loss(settings.loss)
    for name in ("resolution", "small_resolution"):
        size = getattr(settings, name)
        if not 4 <= size <= LARGEST_RESOLUTION or size & (size - 1):
            raise SettingsError(
                f"{name} is {size}: use a power of two from 4 to {LARGEST_RESOLUTION}"
            )
    if settings.encode_from and settings.encode_from <= settings.small_resolution:
        raise SettingsError(
            f"encode_from is {settings.encode_from}: use 0, or more than small_resolution, "
            f"{settings.small_resolution}"
        )
    require_rates(settings, "decoder_rate", "latent_rate", "encoded_latent_rate")
    for name in ("iterations", "batch", "starts"):
        if getattr(settings, name) < 1:
            raise SettingsError(f"{name} is {getattr(settings, name)}: use at least 1")
    if settings.iterations > _MOST_ITERATIONS:
        # a number with hundreds of digits does not fit on a line
        shown = settings.iterations if settings.iterations < 10**18 else "beyond all bounds"
        raise SettingsError(f"iterations is {shown}: use at most {_MOST_ITERATIONS:,}")
    if settings.starts > MOST_STARTS:
        raise SettingsError(f"starts is {settings.starts}: use 1 to {MOST_STARTS}")
    if settings.seed < 0:
        raise SettingsError(f"seed is {settings.seed}: use 0 or more")
    if settings.seed.bit_length() > _SEED_BITS:
        raise SettingsError(
            f"seed has {settings.seed.bit_length()} bits: use 0 to {(1 << _SEED_BITS) - 1}"
        )
    if settings.latent_format not in LATENT_FORMATS:
        known = ", ".join(LATENT_FORMATS)
        raise SettingsError(f"latent_format is {settings.latent_format!r}: use one of {known}")
    for name in ("start_share", "quantise_share"):
        if not 0 < getattr(settings, name) <= 0.5:
            raise SettingsError(
                f"{name} is {getattr(settings, name)}: use more than 0, at most 0.5"
            )
    if not 0 <= settings.latent_outliers < 0.5:
        raise SettingsError(
            f"latent_outliers is {settings.latent_outliers}: use 0 to less than 0.5"
        )
    if not 0 < settings.small_share < 1:
        raise SettingsError(f"small_share is {settings.small_share}: use more than 0, less than 1")
    if settings.batch % settings.draw.pairs:
        raise SettingsError(f"batch is {settings.batch}: use a multiple of {settings.draw.pairs}")
