"""Finds texels that training has led astray, and begins them again as one of their neighbours.

A texel learns from the few samples that fall on it. Some take a turn from which every small step
makes them worse, and stay there: single dots in a smooth surface. What suits a texel's neighbour
suits it better then, and training goes on from that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.measure.texel_judge import Judge
from verdigris.core.material.evaluator import Footprint
from verdigris.core.network.texels import patch_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run

    Indices = NDArray[np.int64]

# A texel is suspected whose error is so many times its level's median. Where a neighbour's values
# leave less than this part of it, they take over. Textures full of detail have few such texels.
_SUSPECT, _BETTER = 8.0, 0.25
# Pairs of directions that each texel is judged by, and each that is suspected.
_PAIRS, _PAIRS_OF_SUSPECTS = 6, 8
# Rows and columns from a texel to those that may stand in for it; the first is itself.
_DONORS = np.array([(0, 0), *((y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if y or x)])
# Levels of fewer texels a side have few texels, and many samples for each.
_LEAST_SIZE = 16


def mend(run: Run) -> int:
    """Replaces stray texels in the trainer; how many there were."""
    parameters, state = run.trainer.parameters(), run.trainer.state()
    student, layout = run.current_student(parameters), parameters.layout
    random = np.random.default_rng((run.settings.seed, run.step))
    draw, found = run.settings.draw, [np.empty((2, 0), np.int64)]
    for number, teacher in enumerate(run.teachers):
        for level in range(layout.levels):
            height, width = layout.level_size(level)
            if width < _LEAST_SIZE:
                break
            student.material, student.level = number, level
            places = draw.coarse_places if level else draw.finest_places
            footprint = Footprint(patch_width(width, level), places)
            judge = Judge(teacher, student, width, footprint, random)
            first = layout.level_offsets[level] + number * height * width
            found.append(first + _strays(judge))
    student.material, student.level = 0, 0.0
    texels, donors = np.concatenate(found, axis=1)
    for values in (parameters.latents, state["latents_v"]):
        values[texels] = values[donors]
    if len(texels):
        run.trainer.restore(parameters, state)
    return len(texels)


def _strays(judge: Judge) -> Indices:
    """(2, strays): texels of a level that a neighbour's values suit better, and that neighbour."""
    size = judge.size
    every = np.arange(size * size)
    error = judge.errors(every, every[None], _PAIRS)[0]
    suspects = np.flatnonzero(error > _SUSPECT * np.median(error))
    rows, columns = np.divmod(suspects, size)
    donors = np.stack([(rows + y) % size * size + (columns + x) % size for y, x in _DONORS])
    errors = judge.errors(suspects, donors, _PAIRS_OF_SUSPECTS)
    is_stray = errors.min(0) < _BETTER * errors[0]
    best = np.take_along_axis(donors, errors.argmin(0)[None], 0)[0]
    return np.stack([suspects, best])[:, is_stray]
