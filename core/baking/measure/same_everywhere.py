"""Finds out whether a material is the same everywhere: a few texels hold all of such a one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.measure.measure import HELD_OUT_SEED, random_directions

if TYPE_CHECKING:
    from verdigris.core.material.evaluator import DeviceMaterial, Floats

# Texels a side of the grid that is looked at, in each of which a place is.
_MOST_CELLS = 512
# Most materials that differ do so among so many of them.
_FIRST_CELLS = 1 << 12
# Pairs of directions that places are looked at from, each from one of them.
_PAIRS = 64
# Of the logarithm: floats of the same material at another place differ by less, and nobody sees
# more.
_SAME = 1e-4


def is_same_everywhere(teacher: DeviceMaterial, resolution: int) -> bool:
    """Whether no texel of the unit square answers light, glows or covers otherwise than others."""
    random = np.random.default_rng(HELD_OUT_SEED)
    side = min(resolution, _MOST_CELLS)
    cells = random.permutation(side * side)
    corners = np.stack([cells % side, cells // side], 1)
    uv = ((corners + random.random(corners.shape)) / side).astype(np.float32)
    wi, wo = random_directions(random, _PAIRS), random_directions(random, _PAIRS)
    from_which = random.integers(0, _PAIRS, len(uv))

    def differs(part: slice) -> bool:
        places, seen = uv[part], from_which[part]
        answers = teacher.response(places, wi[seen], wo[seen])
        return not _are_same(answers, at_one_place[seen])

    somewhere = np.broadcast_to(uv[:1], (_PAIRS, 2))
    at_one_place = teacher.response(np.ascontiguousarray(somewhere), wi, wo)
    if differs(slice(_FIRST_CELLS)) or differs(slice(_FIRST_CELLS, None)):
        return False
    unlit = teacher.unlit(uv, wo[from_which])
    return _are_same(unlit, teacher.unlit(np.ascontiguousarray(somewhere), wo)[from_which])


def _are_same(values: Floats, others: Floats) -> bool:
    """What is no number is like nothing."""
    return bool((np.abs(np.log1p(values) - np.log1p(others)) <= _SAME).all())
