"""The presets by trainer and name. Each is a recipe: settings for every kind of material."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.settings.bake_settings import RGBA8_FORMAT, TRAINERS, BakeSettings, SizeSettings
from verdigris.core.settings.draw_settings import DrawSettings


class Kind(Enum):
    """What a material demands of a bake."""

    CONSTANT = "constant"
    """The response is the same at every place."""
    SMOOTH = "smooth"
    """Texels have hardly any detail inside."""
    DETAILED = "detailed"
    """Texels have detail inside, which samples must average."""
    DENSE = "dense"
    """All texels have much detail inside: nothing is sharp."""


@dataclass(frozen=True)
class Recipe:
    """Settings for each kind of material."""

    by_kind: Mapping[Kind, BakeSettings]

    def __getitem__(self, kind: Kind) -> BakeSettings:
        return self.by_kind[kind]

    @property
    def largest(self) -> BakeSettings:
        """Settings of the most demanding kind: an upper bound of memory, time and bytes."""
        return self[Kind.DETAILED]

    @property
    def is_one_for_all(self) -> bool:
        """Whether all kinds have the same settings."""
        return all(settings == self.largest for settings in self.by_kind.values())

    @classmethod
    def of(cls, settings: BakeSettings | Recipe) -> Recipe:
        """These settings for every kind; a recipe as it is."""
        if isinstance(settings, Recipe):
            return settings
        return cls(dict.fromkeys(Kind, settings))

    def map(self, change: Callable[[BakeSettings], BakeSettings]) -> Recipe:
        """The recipe with changed settings of every kind."""
        return Recipe({kind: change(each) for kind, each in self.by_kind.items()})

    def changed(self, changes: Mapping[str, Any]) -> Recipe:
        """The recipe with other values of some fields, for every kind."""
        return self.map(lambda settings: settings.changed(changes))

    def text(self) -> str:
        """The same text for equal recipes."""
        values = {kind.value: settings.to_json() for kind, settings in self.by_kind.items()}
        return json.dumps(values, sort_keys=True)


# A constant material needs few texels, and learns them in a third of the steps of a long bake on a
# CPU, and in a sixth with a GPU's larger batches.
_CONSTANT_RESOLUTION, _CONSTANT_SHARE = 16, 1 / 3
# Places of a texel that a sample averages: enough for smooth materials.
_SMOOTH_PLACES = 2
# How often a GPU trains a sample in a long bake: the log MAE of five materials is .98 to
# 1.03 times that of new samples, and training takes .38 (a costly graph) to .9 times as long. With
# 8 it is up to 1.15 times.
_REPEATS = 4
# The same for several materials that share a decoder.
_REPEATS_OF_MORE = {"tensor": 1, "numpy": 2}
# Width, in texels, of a sample's patch: filtering between texels blurs once more, so that less than
# a texel is sharper. Dense detail is noise at any width, and least at a whole texel.
_WIDTH, _DENSE_WIDTH = 0.7, 1.0
# With live inputs: steps, as a part of those without, and how often a sample is trained at most.
_LIVE_STEPS, _LIVE_REPEATS = 1.5, 2
# Learning rate of wide decoders: at the rate of narrow ones they end worse.
_WIDE_RATE = 1e-2

# A smaller texture may raise the error by a tenth, about what two seeds differ by.
_SIZE = SizeSettings(tolerance=0.1)

_ON_GPU = BakeSettings(draw=DrawSettings(finest_places=8), size=_SIZE)
# Several pairs of directions per place make steps cheaper, and so does training each sample twice.
_ON_CPU = BakeSettings(
    size=_SIZE,
    batch=4_096,
    loss="cbrt_bounded",
    encode_from=256,
    small_resolution=128,
    encoded_latent_rate=2e-3,
    draw=DrawSettings(pairs=2, coarse_share=0.1, coarse_places=4, finest_places=4),
)


def _recipe(
    detailed: BakeSettings,
    dense_width: float | None = None,
    constant_share: float = _CONSTANT_SHARE,
) -> Recipe:
    """A recipe from the settings for detailed materials."""
    draw = detailed.draw
    smooth = replace(detailed, draw=replace(draw, finest_places=_SMOOTH_PLACES))
    constant = replace(
        detailed,
        resolution=_CONSTANT_RESOLUTION,
        iterations=round(constant_share * detailed.iterations),
        starts=1,
        # blocks would save a kilobyte, and its few texels need the bits
        latent_format=RGBA8_FORMAT,
        draw=replace(draw, finest_places=1, coarse_places=1, repeats=1),
        size=SizeSettings(),
    )
    dense = replace(detailed, draw=replace(draw, finest_width=dense_width or draw.finest_width))
    return Recipe(
        {Kind.CONSTANT: constant, Kind.SMOOTH: smooth, Kind.DETAILED: detailed, Kind.DENSE: dense}
    )


NEXT_PRESET = {"draft": "standard", "standard": "final"}
"""The next better preset, which takes longer."""

PRESETS: dict[str, dict[str, Recipe]] = {
    "tensor": {
        # For a first look: half of the places, and no small texture first.
        "draft": _recipe(
            replace(
                _ON_GPU, iterations=11_000, draw=DrawSettings(coarse_places=8, finest_places=4)
            ),
            constant_share=0.6,
        ),
        "standard": _recipe(
            replace(
                _ON_GPU,
                iterations=62_000,
                decoder_rate=1.4e-2,
                starts=4,
                start_share=0.2,
                encode_from=512,
                small_resolution=128,
                small_share=0.1,
                encoded_latent_rate=5e-3,
                draw=replace(_ON_GPU.draw, finest_width=_WIDTH, repeats=_REPEATS),
            ),
            _DENSE_WIDTH,
            constant_share=0.16,
        ),
        "final": _recipe(
            replace(
                _ON_GPU,
                network="3x64",
                resolution=1024,
                iterations=90_000,
                decoder_rate=7e-3,
                starts=4,
                start_share=0.1,
                small_share=0.1,
                encoded_latent_rate=5e-3,
                latent_outliers=1e-4,
                draw=replace(_ON_GPU.draw, finest_width=_WIDTH),
            ),
            constant_share=0.16,
        ),
    },
    "numpy": {
        "draft": _recipe(replace(_ON_CPU, iterations=2_500), constant_share=1),
        "standard": _recipe(
            replace(
                _ON_CPU,
                iterations=20_000,
                small_share=0.1,
                encoded_latent_rate=5e-3,
                # fewer samples on coarse levels leave twice the error there
                draw=replace(
                    _ON_CPU.draw,
                    pairs=4,
                    repeats=2,
                    coarse_share=0.4,
                    coarse_places=8,
                    most_coarse_places=16,
                ),
            )
        ),
        "final": _recipe(
            replace(
                _ON_CPU, network="3x64", iterations=60_000, decoder_rate=_WIDE_RATE, encode_from=512
            )
        ),
    },
}


def _shared(alone: BakeSettings, most_repeats: int) -> BakeSettings:
    """The settings for materials that share a decoder, which must be a wide one. Half of the steps
    with a wide decoder take about as long."""
    return replace(
        alone,
        network="3x64",
        iterations=alone.iterations // 2,
        decoder_rate=_WIDE_RATE,
        draw=_with_most(alone.draw, most_repeats),
    )


def _with_most(draw: DrawSettings, repeats: int) -> DrawSettings:
    return replace(draw, repeats=min(draw.repeats, repeats))


_SHARED = {
    trainer: PRESETS[trainer]["standard"].map(partial(_shared, most_repeats=most))
    for trainer, most in _REPEATS_OF_MORE.items()
}


def require_trainer(trainer: str) -> str:
    """The trainer of this name."""
    if trainer not in TRAINERS:
        raise SettingsError(f"trainer {trainer!r} is not known: use one of {', '.join(TRAINERS)}")
    return trainer


def steps_for(steps: int, materials: int) -> int:
    """The steps of a decoder that several materials share, from those of one material. Each batch
    is divided among them, so that each material gets as many samples as in a bake of its own: on a
    GPU, four drafts with the steps of one have 1.4 times the FLIP, and lose a dot."""
    return steps * materials


def default_preset(trainer: str) -> str:
    """The preset if none is chosen: anything better than a draft takes long on a CPU."""
    return "draft" if trainer == "numpy" else "standard"


def for_live_inputs(recipe: Recipe, count: int) -> Recipe:
    """The recipe for materials with so many live inputs, which take more steps to learn."""
    if not count:
        return recipe
    return recipe.map(
        lambda each: replace(
            each.with_live_inputs(count),
            iterations=round(_LIVE_STEPS * each.iterations),
            draw=_with_most(each.with_live_inputs(count).draw, _LIVE_REPEATS),
        )
    )


def for_materials(recipe: Recipe, materials: int) -> Recipe:
    """The recipe with the steps for so many materials that share a decoder."""
    if materials == 1:
        return recipe
    return recipe.map(lambda each: replace(each, iterations=steps_for(each.iterations, materials)))


def require_recipe(preset: str, trainer: str, materials: int = 1) -> Recipe:
    """The preset of this name, for a trainer and so many materials that share a decoder. Its steps
    are those of one material: see `for_materials`."""
    if preset not in PRESETS[require_trainer(trainer)]:
        names = ", ".join(PRESETS[trainer])
        raise SettingsError(f"preset {preset!r} is not known: use one of {names}")
    if materials > 1 and preset == "standard":
        return _SHARED[trainer]
    return PRESETS[trainer][preset]
