"""The presets: settings that were measured, by trainer and name."""

from __future__ import annotations

from dataclasses import replace

from verdigris.core.base.errors import SettingsError
from verdigris.core.settings.bake_settings import TRAINERS, BakeSettings
from verdigris.core.settings.draw_settings import DrawSettings

# What is the same everywhere has learnt in a third of the steps that a texture takes.
_UNIFORM_SHARE = 1 / 3
# With many steps less of a start is needed, and the large texture has time to learn what it gave.
# A fifth of its small texture's steps tell a poor start of standard from a good one. Of what is the
# same everywhere the best of many bakes that are shorter is better than a long one, and more alike.
_LONG = BakeSettings(
    small_share=0.1,
    encoded_latent_rate=5e-3,
    mend_at=(0.5, 0.8),
    uniform_resolution=4,
    uniform_batch=8_192,
)
# Textures that glint ask for a lower rate than short bakes have time for.
_STANDARD_RATE = 1.4e-2
# Half as many steps of twice the samples, at this one: five seeds of a marble come out alike, and
# a little better.
_SMOOTH_SHARE, _SMOOTH_BATCH, _SMOOTH_RATE = 30 / 62, 32_768, 1e-2
# And at these of its latents those of a large one, once an encoder has made it.
_SMOOTH_LATENT_RATE, _WIDE_SMOOTH_LATENT_RATE = 2.5e-3, 2e-3
# Of many short bakes at this rate the best are more alike than at that one.
_UNIFORM_RATE = 1e-2
# With all directions from the start; with the other some starts end worse, of wide decoders most.
_UNIFORM_LOSS = "cbrt_bounded"
# Narrower than a texel: what is filtered between texels blurs once more.
_WIDTH = 0.7
# By then rates are low enough for narrow decoders; wide ones are driven astray for longer.
_HORIZON_AT, _WIDE_HORIZON_AT = 0.3, 0.7
# Of wide decoders: at the rate of narrow ones they end worse. In bakes as long as final on a GPU
# seeds of all textures are more alike at the second.
_WIDE_RATE, _LONG_WIDE_RATE = 1e-2, 7e-3
# Several pairs of directions a place make steps cheaper, and so does training samples twice. Two
# pairs cost nothing in quality; more, and repeats, cost short bakes more than they save.
_ON_PROCESSOR = BakeSettings(
    resolution=256,
    batch=4_096,
    loss="cbrt_bounded",
    most_places=4,
    encode_from=512,
    small_resolution=128,
    encoded_latent_rate=2e-3,
    average_at=0.6,
    draw=DrawSettings(pairs=2, coarse_share=0.1, coarse_places=4),
)
# Measured in docs/BENCHMARKS.md. The processor trains smaller textures in smaller steps.
PRESETS: dict[str, dict[str, BakeSettings]] = {
    "tensor": {
        # It is for looking: half of the places leave time for a tenth more steps.
        "draft": BakeSettings(iterations=11_000, most_places=4, draw=DrawSettings(coarse_places=8)),
        "standard": replace(
            _LONG,
            iterations=62_000,
            decoder_rate=_STANDARD_RATE,
            smooth_share=_SMOOTH_SHARE,
            smooth_batch=_SMOOTH_BATCH,
            smooth_rate=_SMOOTH_RATE,
            smooth_latent_rate=_SMOOTH_LATENT_RATE,
            smooth_moments=True,
            draw=DrawSettings(finest_width=_WIDTH),
            uniform_share=6 / 62,
            uniform_starts=48,
            uniform_rate=_UNIFORM_RATE,
            uniform_loss=_UNIFORM_LOSS,
            uniform_horizon=0.0,
            candidates=4,
            candidate_share=0.2,
            encode_from=512,
            small_resolution=128,
            draw_errors_at=(0.2, 0.5),
            crowded_width=1.0,
            horizon_at=_HORIZON_AT,
        ),
        "final": replace(
            _LONG,
            network="3x64",
            resolution=1024,
            iterations=90_000,
            decoder_rate=_LONG_WIDE_RATE,
            smooth_latent_rate=_WIDE_SMOOTH_LATENT_RATE,
            carries_moments=True,
            latent_outliers=1e-4,
            draw=DrawSettings(finest_width=_WIDTH),
            uniform_share=1 / 15,
            uniform_starts=32,
            uniform_rate=_UNIFORM_RATE,
            uniform_loss=_UNIFORM_LOSS,
            uniform_horizon=0.0,
            candidates=4,
            candidate_share=0.1,
            draw_errors_at=(0.2, 0.5),
            horizon_at=_WIDE_HORIZON_AT,
        ),
    },
    "numpy": {
        "draft": replace(_ON_PROCESSOR, iterations=2_500, encode_from=256, carries_moments=True),
        "standard": replace(
            _ON_PROCESSOR,
            iterations=20_000,
            candidates=2,
            candidate_share=0.02,
            encode_from=256,
            small_share=_LONG.small_share,
            encoded_latent_rate=_LONG.encoded_latent_rate,
            smooth_latent_rate=_SMOOTH_LATENT_RATE,
            smooth_moments=True,
            uniform_share=_UNIFORM_SHARE,
            # Fewer on coarse levels leave their error above half of what means of the finest have.
            draw=replace(
                _ON_PROCESSOR.draw,
                pairs=4,
                repeats=2,
                coarse_share=0.4,
                coarse_places=8,
                most_coarse_places=16,
            ),
        ),
        "final": replace(
            _ON_PROCESSOR,
            network="3x64",
            resolution=512,
            iterations=60_000,
            decoder_rate=_WIDE_RATE,
            candidates=3,
            candidate_share=0.03,
            uniform_share=_UNIFORM_SHARE,
        ),
    },
}


def _of_several(alone: BakeSettings) -> BakeSettings:
    """For materials that share a decoder: a narrow one that trains for long has no room for them.
    Half as many steps of a wide one take about as long."""
    return replace(alone, network="3x64", iterations=alone.iterations // 2, decoder_rate=_WIDE_RATE)


_OF_SEVERAL: dict[str, dict[str, BakeSettings]] = {
    trainer: {"standard": _of_several(presets["standard"])} for trainer, presets in PRESETS.items()
}


def default_preset(trainer: str) -> str:
    """What a bake takes when nobody chooses: a processor would be long at more than a draft."""
    return "draft" if trainer == "numpy" else "standard"


def require_settings(preset: str, trainer: str, materials: int = 1) -> BakeSettings:
    """The preset of this name for a trainer, and for so many materials that share a decoder."""
    if trainer not in TRAINERS:
        raise SettingsError(f"trainer {trainer!r} is not known: use one of {', '.join(TRAINERS)}")
    if preset not in PRESETS[trainer]:
        names = ", ".join(PRESETS[trainer])
        raise SettingsError(f"preset {preset!r} is not known: use one of {names}")
    alone = PRESETS[trainer][preset]
    return _OF_SEVERAL[trainer].get(preset, alone) if materials > 1 else alone
