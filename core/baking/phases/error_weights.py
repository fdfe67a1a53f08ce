"""Draws places by their errors, where a bake is worst most often.

Most of a surface is learnt soon. What is left are few places, edges narrower than a texel or
glints, on which a picture's errors hang, and which samples that are spread evenly hardly meet. They
are drawn more often from then on, so that their texels learn more, and so does the decoder of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.measure.texel_judge import Judge
from verdigris.core.importance.fill import live_texels, masked_of
from verdigris.core.material.evaluator import Footprint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run
    from verdigris.core.material.evaluator import Floats

# A texel is drawn as often as its error is larger than the mean, within these.
_LEAST, _MOST = 0.5, 32.0
# Pairs of directions that each texel is judged by, and how many times as many of its places as a
# sample is the mean over.
_PAIRS, _PLACES = 18, 2
# Cells a side of a map: of larger textures each is the worst of some texels.
_MOST_CELLS = 1024
# Apart from the numbers that stray texels are judged by at the same step.
_STREAM = 1


def draw_by_errors(run: Run) -> None:
    """Looks where errors are, and has places drawn by them from now on."""
    random = np.random.default_rng((run.settings.seed, run.step, _STREAM))
    student = run.current_student(run.trainer.parameters())
    size, places = run.stage.settings.resolution, _PLACES * run.settings.draw.finest_places
    found = []
    for number, teacher in enumerate(run.teachers):
        student.material, student.level = number, 0.0
        judge = Judge(teacher, student, size, Footprint(1 / size, places), random)
        texels = np.arange(size * size)
        errors = judge.errors(texels, texels[None], _PAIRS)[0].reshape(size, size)
        found.append(weights_of(errors, masked_of(run.options.importance)))
    student.material = 0
    run.draw_by(np.stack(found))


def weights_of(errors: Floats, masked: NDArray[np.bool_] | None) -> Floats:
    """How often places are to be drawn, by the errors of texels; those that only places reach which
    are left out have none that count."""
    size = len(errors)
    if masked is not None:
        errors = np.where(live_texels(~masked, size, size), errors, 0)
    worst = errors
    # a sample trains the texels around it
    for axis in (0, 1):
        beside = np.maximum(np.roll(worst, 1, axis), np.roll(worst, -1, axis))
        worst = np.maximum(worst, beside)
    block = max(1, size // _MOST_CELLS)
    cells = worst.reshape(size // block, block, size // block, block).max((1, 3))
    mean = float(cells[cells > 0].mean()) if cells.any() else 1.0
    return np.asarray(np.clip(cells / mean, _LEAST, _MOST), np.float32)
