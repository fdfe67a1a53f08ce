"""The presets, by trainer and name: a recipe each, with settings for every kind of material."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from verdigris.core.base.errors import SettingsError
from verdigris.core.settings.bake_settings import TRAINERS, BakeSettings
from verdigris.core.settings.draw_settings import DrawSettings
from verdigris.core.settings.limits import RGBA8_FORMAT
from verdigris.core.settings.recipe import Kind, Recipe
from verdigris.core.settings.size_settings import SizeSettings

# A constant material needs few texels, and learns them in a third of the steps of a long bake on a
# processor, and half of that with a GPU's larger batches.
_CONSTANT_RESOLUTION, _CONSTANT_SHARE = 16, 1 / 3
# Places of a texel that a sample averages: enough for smooth materials.
_SMOOTH_PLACES = 2
# How often a graphics card trains a sample in a long bake: the log MAE of five materials is .98 to
# 1.03 times that of new samples, and training takes .38 (a costly graph) to .9 times as long. With
# 8 it is up to 1.15 times.
_REPEATS = 4
# Of several materials that share a decoder.
_REPEATS_OF_MORE = {"tensor": 1, "numpy": 2}
# Width, in texels, of a sample's patch: filtering between texels blurs once more, so that less than
# a texel is sharper. Dense detail is noise at any width, and least at a whole texel.
_WIDTH, _DENSE_WIDTH = 0.7, 1.0
# Learning rate of wide decoders: at the rate of narrow ones they end worse.
_WIDE_RATE = 1e-2

# A smaller texture may raise the error by a tenth, about what two seeds differ by.
_SIZE = SizeSettings(tolerance=0.1)

_ON_GPU = BakeSettings(draw=DrawSettings(finest_places=8), size=_SIZE)
# Several pairs of directions per place make steps cheaper, and so does training each sample twice.
_ON_PROCESSOR = BakeSettings(
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
"""The preset that takes longer than another, and comes closer."""

PRESETS: dict[str, dict[str, Recipe]] = {
    "tensor": {
        # To look at: half of the places, and no small texture first.
        "draft": _recipe(
            replace(
                _ON_GPU,
                iterations=11_000,
                draw=DrawSettings(coarse_places=8, finest_places=4),
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
        "draft": _recipe(replace(_ON_PROCESSOR, iterations=2_500), constant_share=1),
        "standard": _recipe(
            replace(
                _ON_PROCESSOR,
                iterations=20_000,
                small_share=0.1,
                encoded_latent_rate=5e-3,
                # fewer samples on coarse levels leave twice the error there
                draw=replace(
                    _ON_PROCESSOR.draw,
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
                _ON_PROCESSOR,
                network="3x64",
                iterations=60_000,
                decoder_rate=_WIDE_RATE,
                encode_from=512,
            )
        ),
    },
}


def _shared(alone: BakeSettings, most_repeats: int) -> BakeSettings:
    """For materials that share a decoder, which must be a wide one. Half of the steps of a wide
    decoder take about as long."""
    return replace(
        alone,
        network="3x64",
        iterations=alone.iterations // 2,
        decoder_rate=_WIDE_RATE,
        draw=_with_most(alone.draw, most_repeats),
    )


def _with_most(draw: DrawSettings, repeats: int) -> DrawSettings:
    return replace(draw, repeats=min(draw.repeats, repeats))


# Steps with live inputs, as a part of those without.
_LIVE_STEPS = 1.5
_LIVE_REPEATS = 2
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
    is divided among them, so that each material gets as many samples as in a bake of its own."""
    return steps * materials


def default_preset(trainer: str) -> str:
    """The preset where none is chosen: more than a draft would take long on a processor."""
    return "draft" if trainer == "numpy" else "standard"


def for_live_inputs(recipe: Recipe, count: int) -> Recipe:
    """With more steps for materials with so many live inputs: there is more to learn."""
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
    """With the steps for so many materials that share a decoder."""
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
