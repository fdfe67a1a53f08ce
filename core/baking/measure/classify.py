"""Classifies materials: a recipe has settings for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.measure.measure import (
    HELD_OUT_SEED,
    detail_below_texels,
    random_directions,
)
from verdigris.core.settings.recipe import Kind

if TYPE_CHECKING:
    from verdigris.core.material.evaluator import DeviceMaterial, Floats
    from verdigris.core.settings.recipe import Recipe

# Mean log difference of the response inside a texel: least of detailed, and of dense materials.
_DETAILED, _DENSE = 1e-3, 6e-3
# Cells per side of the grid in which a constant material is looked for, a place in each.
_MOST_CELLS = 512
# Most materials that vary do so in so many of them.
_FIRST_CELLS = 1 << 12
# Pairs of directions; each place is evaluated with one of them.
_PAIRS = 64
# Largest log difference of a constant material: rounding of floats stays below.
_SAME = 1e-4


def classify(teachers: Sequence[DeviceMaterial], recipe: Recipe) -> Kind:
    """The kind of materials that are baked together: the most demanding one of them, and dense only
    if all of them are."""
    if recipe.is_one_for_all:
        return Kind.DETAILED
    resolution = recipe.largest.resolution
    if all(is_constant(teacher, resolution) for teacher in teachers):
        return Kind.CONSTANT
    details = [detail_below_texels(teacher, resolution) for teacher in teachers]
    if max(details) < _DETAILED:
        return Kind.SMOOTH
    return Kind.DENSE if min(details) > _DENSE else Kind.DETAILED


def is_constant(teacher: DeviceMaterial, resolution: int) -> bool:
    """Whether response, emission and opacity are the same in every texel of the unit square."""
    random = np.random.default_rng(HELD_OUT_SEED)
    side = min(resolution, _MOST_CELLS)
    cells = random.permutation(side * side)
    corners = np.stack([cells % side, cells // side], 1)
    uv = ((corners + random.random(corners.shape)) / side).astype(np.float32)
    wi, wo = random_directions(random, _PAIRS), random_directions(random, _PAIRS)
    pair = random.integers(0, _PAIRS, len(uv))
    # of a pair, the same at every place
    live = random.random((_PAIRS, len(teacher.live))).astype(np.float32) if teacher.live else None
    first_place = np.ascontiguousarray(np.broadcast_to(uv[:1], (_PAIRS, 2)))
    response = teacher.response(first_place, wi, wo, live=live)

    def differs(part: slice) -> bool:
        given = None if live is None else live[pair[part]]
        found = teacher.response(uv[part], wi[pair[part]], wo[pair[part]], live=given)
        return not _are_same(found, response[pair[part]])

    if differs(slice(_FIRST_CELLS)) or differs(slice(_FIRST_CELLS, None)):
        return False
    unlit = teacher.unlit(uv, wo[pair])
    return _are_same(unlit, teacher.unlit(first_place, wo)[pair])


def _are_same(values: Floats, others: Floats) -> bool:
    """False where a value is not a number."""
    return bool((np.abs(np.log1p(values) - np.log1p(others)) <= _SAME).all())
