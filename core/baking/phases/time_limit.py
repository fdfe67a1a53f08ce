"""Fits the number of steps of a bake to a time limit."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.phases.choose_size import trial_moves, trial_share
from verdigris.core.baking.phases.enlarge import seconds_to_encode
from verdigris.core.baking.state.choices import Stage
from verdigris.core.baking.state.trainers import FIRST_RUN, open_trainer
from verdigris.core.network.parameters import initialise
from verdigris.core.training.latent_rounding import move_to_blocks

if TYPE_CHECKING:
    from verdigris.core.baking.state.options import BakeOptions
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.settings.bake_settings import BakeSettings
    from verdigris.core.settings.schedule import BlockLines

_CALIBRATION_SECONDS = 1.0
# The part of a time limit that encoding may take: above it, training without an encoder is better.
_MOST_ENCODING = 0.75
# Texels per side of the texture that is moved to estimate the time of a larger one.
_MOVED = 256


def fit_to_time(
    teachers: Sequence[Teacher],
    settings: BakeSettings,
    limit: float,
    options: BakeOptions,
    trainer_kind: str,
) -> BakeSettings:
    """Settings with as many steps as fit into `limit` seconds, so that rates decay to their end."""
    encoding = seconds_to_encode(teachers, settings)
    if encoding > _MOST_ENCODING * limit:
        settings, encoding = replace(settings, encode_from=0), 0.0
    trainer, _ = open_trainer(teachers, Stage(settings), options.importance, trainer_kind)
    try:
        trainer.step_many(FIRST_RUN)
        begun, steps = time.monotonic(), 0
        while time.monotonic() - begun < min(_CALIBRATION_SECONDS, limit / 10):
            steps += trainer.step_many(FIRST_RUN).samples // settings.batch
        rate = steps / (time.monotonic() - begun)
    finally:
        trainer.close()
    move = seconds_to_move(settings, len(teachers)) if trainer_kind == "numpy" else 0.0
    return replace(settings, iterations=steps_within(settings, limit - encoding, rate, move))


def steps_within(settings: BakeSettings, seconds: float, rate: float, move: float) -> int:
    """The steps of a bake that takes `seconds`, with `rate` steps a second and `move` seconds for a
    move of the large texture to blocks."""
    step = (1 + settings.discarded_share + trial_share(settings)) / rate
    choosing = 0.0
    if lines := _lines_of(settings):
        step += move / lines.interval
        # at least half of the time is for training
        choosing = min(trial_moves(settings) * move, seconds / 2)
    return max(1, min(settings.iterations, int((seconds - choosing) / step)))


def seconds_to_move(settings: BakeSettings, materials: int) -> float:
    """Seconds that a CPU takes to move the large texture to blocks, estimated from a smaller one. A
    GPU takes hardly any time."""
    if _lines_of(settings) is None:
        return 0.0
    tried = replace(settings, resolution=min(settings.resolution, _MOVED)).layout()
    latents = initialise(settings.spec, tried, settings.seed).latents
    squares, took = np.ones_like(latents), []
    # the faster of two: the first one also allocates memory
    for _ in range(2):
        begun = time.monotonic()
        move_to_blocks(tried, latents, squares, 1.0)
        took.append(time.monotonic() - begun)
    return min(took) * settings.layout(materials).texel_count / tried.texel_count


def _lines_of(settings: BakeSettings) -> BlockLines | None:
    quantisation = settings.training().quantisation
    return quantisation.lines if quantisation else None
