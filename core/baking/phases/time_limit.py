"""Fits the number of steps of a bake to a time limit."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from verdigris.core.baking.phases.choose_size import trial_share
from verdigris.core.baking.phases.enlarge import seconds_to_encode
from verdigris.core.baking.phases.stepping import FIRST_RUN, open_start
from verdigris.core.baking.state.stages import Stage

if TYPE_CHECKING:
    from verdigris.core.baking.state.options import BakeOptions
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.settings.bake_settings import BakeSettings

_CALIBRATION_SECONDS = 1.0
# Part of a time limit that encoding may take: beyond it, training without an encoder is better.
_MOST_ENCODING = 0.75


def fit_to_time(
    teachers: Sequence[Teacher],
    settings: BakeSettings,
    limit: float,
    options: BakeOptions,
    trainer_kind: str,
) -> BakeSettings:
    """As many steps as fit into the limit in seconds, so that the rates decay to their end."""
    encoding = seconds_to_encode(teachers, settings)
    if encoding > _MOST_ENCODING * limit:
        settings, encoding = replace(settings, encode_from=0), 0.0
    trainer, _ = open_start(teachers, Stage(settings), options, trainer_kind)
    try:
        trainer.step_many(FIRST_RUN)
        begun, steps = time.monotonic(), 0
        while time.monotonic() - begun < min(_CALIBRATION_SECONDS, limit / 10):
            steps += trainer.step_many(FIRST_RUN).samples // settings.batch
        rate = steps / (time.monotonic() - begun)
    finally:
        trainer.close()
    steps = int(rate * (limit - encoding) / (1 + settings.discarded_share + trial_share(settings)))
    return replace(settings, iterations=max(1, min(settings.iterations, steps)))
