"""Settings of a bake. A preset (presets.py) has them for every kind of material (recipe.py)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.plain_values import convert_numbers
from verdigris.core.network.spec import LatentLayout, NetworkSpec, require_preset
from verdigris.core.settings.draw_settings import DrawSettings
from verdigris.core.settings.limits import BC7_FORMAT, HALF_FORMAT, require_limits
from verdigris.core.settings.schedule import BlockLines, Quantisation, Schedule, TrainingSettings
from verdigris.core.settings.size_settings import SizeSettings

TRAINERS = ("tensor", "numpy")
# Parts of the steps between which latents move to the lines that blocks of BC7 can hold.
_LINES = (0.05, 0.3)
# Settings of the size that let a bake choose another than its resolution.
_CHOICES = {"tolerance", "most_bytes"}
# Points that are sampled between two moves: 16 steps on a GPU, more with smaller batches, whose
# steps take less time than a move.
_POINTS_A_MOVE = 1 << 18


@dataclass(frozen=True)
class BakeSettings:
    """Everything that shapes the result. Two bakes with equal settings and sources are equal."""

    network: str = "2x32"
    """The decoder: hidden layers x neurons. A larger one is sharper and slower to evaluate."""

    activation: str = "silu"
    """Activation of the hidden layers. Smooth ones give smooth highlights."""

    resolution: int = 512
    """Latent texels per side, or the most of them where the bake chooses (`size`). Detail finer
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
    """Starts that are compared; the best is trained on. More starts remove bad luck."""

    start_share: float = 0.04
    """Steps of each start before the best is chosen, as a part of the steps of the first stage."""

    decoder_rate: float = 2e-2
    """Peak learning rate of decoder and frames."""

    latent_rate: float = 1e-2
    """Peak learning rate of the latents."""

    latent_format: str = "bc7"
    """How the bundle stores latents: bc7, blocks that GPUs decode, at 2 bytes a texel of 8
    channels; rgba8, at 8 bytes; half, half floats at 16 bytes."""

    quantise_share: float = 0.1
    """Length of the last phase, which trains latents as they will be rounded, as a part of all
    steps."""

    latent_outliers: float = 0.0
    """Part of a latent channel's values that its range clips at either end. In a large texture a
    few outliers would double the range, and with it the rounding error of all other values."""

    encode_from: int = 1024
    """Resolution from which training has two stages: a small texture first, from which an encoder
    initialises the large one; 0 for never."""

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
        require_limits(self)

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
        """Steps of starts that are not trained on, as a part of all steps."""
        share = self.start_share * (self.small_share if self.has_two_stages else 1.0)
        return (self.starts - 1) * share

    def training(self) -> TrainingSettings:
        schedule = Schedule(
            steps=self.iterations, decoder_rate=self.decoder_rate, latent_rate=self.latent_rate
        )
        return TrainingSettings(
            batch=self.batch,
            loss=self.loss,
            schedule=schedule,
            quantisation=self._quantisation(),
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
        """With other values of some fields; `draw` and `size` may be mappings of the fields that
        change. A resolution without a target or a limit of bytes is kept as it is."""
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
            # as in bundles before there were any
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
    """Each setting that differs, both as JSON: name, new value, old value."""
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
