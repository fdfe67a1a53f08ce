"""Gives coarse levels the means of the finer ones, where these are better than what they learnt.

A coarse texel is seen by few samples, each of which has a whole neighbourhood to average. In a
short bake the mean of the finest texels that lie there, which many samples have made, is often
nearer to it: then the level goes on from that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.baking.measure.measure import draw_held_out, measure_student, texel_footprint
from verdigris.core.importance.fill import masked_of
from verdigris.core.network.texels import box_around, box_halved

if TYPE_CHECKING:
    from verdigris.core.baking.measure.measure import HeldOut
    from verdigris.core.baking.state.run import Run
    from verdigris.core.network.parameters import Parameters

# Further levels hold little that is still alike in all texels that lie there.
_LEVELS = 2
_SAMPLES = 1024
# Not those that results are measured by.
_SEED = 1


def average_levels(run: Run) -> list[int]:
    """Replaces coarse levels in the trainer by means of the finest that have less error; which.
    None where a map leaves places out, whose texels are as they began and would mix with others."""
    if masked_of(run.options.importance) is not None:
        return []
    parameters, state = run.trainer.parameters(), run.trainer.state()
    replaced, boxes = [], list(parameters.level(0))
    for level in range(1, min(_LEVELS + 1, parameters.layout.levels)):
        width = parameters.layout.level_size(level)[1]
        held_out = [
            draw_held_out(teacher, _SAMPLES, _SEED, texel_footprint(width, level))
            for teacher in run.teachers
        ]
        learnt = parameters.level(level).copy()
        before = _error(run, parameters, level, held_out)
        for material, finer in enumerate(boxes):
            parameters.level(level)[material] = box_around(finer)
            boxes[material] = box_halved(finer)
        if _error(run, parameters, level, held_out) < before:
            replaced.append(level)
        else:
            parameters.level(level)[:] = learnt
    if replaced:
        run.trainer.restore(parameters, state)
    return replaced


def _error(run: Run, parameters: Parameters, level: int, held_out: list[HeldOut]) -> float:
    """Of all materials, at one level."""
    student = run.current_student(parameters)
    student.level, total = level, 0.0
    for student.material, samples in enumerate(held_out):
        total += measure_student(student, samples).log_mae
    student.level, student.material = 0.0, 0
    return total
