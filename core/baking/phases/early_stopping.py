"""Ends training early when the result is good enough.

Checks lie at fixed steps, so that equal bakes end equally. After two good ones in a row training
skips to its last phase, in which rates are low and latents are rounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.measure.measure import measure_pictures, sphere_to_compare
from verdigris.core.baking.state.clock import QUALITY, TARGET_ERROR
from verdigris.core.pictures.compare.verdict import INDISTINGUISHABLE, reaches

if TYPE_CHECKING:
    from verdigris.core.baking.state.run import Run
    from verdigris.core.pictures.compare.metrics import SampleMetrics

# Distance of checks, as a part of the steps of the last stage.
_INTERVAL = 1 / 16
# Rates are too high before this part of the steps for a result to be indistinguishable.
_FIRST_CHECK = 0.4
_GOOD_CHECKS = 2
# Two checks take a graphics card as long as so many steps.
_STEPS_OF_CHECKS = 10_000


def check_steps(steps: int, end: int, has_target: bool) -> Iterator[int]:
    """The steps of a stage after which quality is checked, below `end`. A target may be reached at
    any time."""
    interval = max(1, round(_INTERVAL * steps))
    first = 0 if has_target else _FIRST_CHECK * steps
    yield from (step for step in range(interval, end, interval) if step >= first)


def has_checks(run: Run) -> bool:
    """Whether the last stage is checked: a short one has ended before checks pay."""
    is_short = run.learner.stage.settings.iterations <= _STEPS_OF_CHECKS
    return run.options.has_target or run.trainer_kind != "tensor" or not is_short


def is_good_enough(run: Run, samples: tuple[SampleMetrics, ...]) -> bool:
    """Whether so many checks in a row have reached the target error; without one, the target:
    by default a result that is indistinguishable from its material."""
    error, target = run.options.target_error, run.options.target or INDISTINGUISHABLE
    if error is not None:
        is_good = sum(each.log_mae for each in samples) <= error * len(samples)
    else:
        found = [{"samples": vars(each), "sky": {"bias": each.bias}} for each in samples]
        is_good = all(reaches(target, each) for each in found) and _look_good(run, target)
    run.good_checks = run.good_checks + 1 if is_good else 0
    return run.good_checks >= _GOOD_CHECKS


def skip_to_last_phase(run: Run, step: int) -> None:
    """Continues at this step of the stage."""
    trainer = run.learner.trainer
    run.stopped_early_by = QUALITY if run.options.target_error is None else TARGET_ERROR
    run.steps_saved = step - trainer.step
    trainer.restore(trainer.parameters(), {**trainer.state(), "step": np.array(step)})


def _look_good(run: Run, target: str) -> bool:
    """Whether pictures of all materials reach the target."""
    student, view = run.learner.live_student(), sphere_to_compare()
    try:
        for student.material, teacher in enumerate(run.teachers):
            if not reaches(target, {"sphere": vars(measure_pictures(teacher, student, view))}):
                return False
        return True
    finally:
        student.material = 0
