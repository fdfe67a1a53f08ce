"""The density of the values of a live input in training: higher where places differ more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.material.evaluator import even_knots

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.evaluator import DeviceMaterial, Floats

_PLACES, _PAIRS = 512, 8
_SEED = 11
# Density that values have at least, as a part of the mean.
_LEAST = 0.3
# Of the difference between places. With 1, values of middling difference would be drawn less than
# with a uniform density, and their error grows most in proportion.
_POWER = 0.5


def live_knots(material: DeviceMaterial) -> Floats:
    """[knots, inputs]: quantiles of the density of each live input, the others at their defaults.

    A material that rusts is nearly the same everywhere while it is new: there is little to learn.
    """
    knots = even_knots(len(material.live))
    values = even_knots(1)[:, 0]
    for number in range(len(material.live)):
        spread = _spread(material, number, values) ** _POWER
        if not np.isfinite(spread).all() or not spread.any():
            continue
        density = _LEAST + (1 - _LEAST) * spread / spread.mean()
        share = np.concatenate([[0], np.cumsum(density[1:] + density[:-1])])
        knots[:, number] = np.interp(values, share / share[-1], values)
    return knots


def _spread(material: DeviceMaterial, number: int, values: Floats) -> NDArray[np.float64]:
    """At each value, the mean deviation of cube roots of the response between places."""
    random = np.random.default_rng(_SEED)
    count = _PAIRS * _PLACES
    uv = np.tile(random.random((_PLACES, 2)).astype(np.float32), (_PAIRS, 1))
    directions = random.standard_normal((2, _PAIRS, 3))
    directions[..., 2] = np.abs(directions[..., 2]) + 0.3
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    wi, wo = (np.repeat(each, _PLACES, axis=0).astype(np.float32) for each in directions)
    live = np.tile(np.array(material.live, np.float32), (count, 1))
    found = []
    for value in values:
        live[:, number] = value
        roots = np.cbrt(material.response(uv, wi, wo, live=live))
        found.append(roots.reshape(_PAIRS, _PLACES, 3).std(1, dtype=np.float64).mean())
    return np.array(found)
