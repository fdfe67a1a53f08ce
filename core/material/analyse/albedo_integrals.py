"""Albedo of the lobes of MaterialX that can return more light than they receive."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]

LEAST_SHEEN_ROUGHNESS = 0.005
"""MaterialX raises a smaller roughness of sheen to this."""


def sheen_albedo(cosine: float, roughness: float, steps: int = 200) -> float:
    """The albedo of a white sheen of Estevez and Kulla, as MaterialX evaluates it."""
    root, weight = unit_nodes(steps)
    light, weight = root**3, weight * 3 * root**2
    turn, turn_weight = unit_nodes(steps)
    both = np.outer(np.sqrt((1 - light**2) * (1 - cosine**2)), np.cos(np.pi * turn))
    between = cosine * light[:, None] + both
    sine2 = np.clip(1 - (cosine + light)[:, None] ** 2 / (2 + 2 * between), 0, 1)
    power = 1 / max(roughness, LEAST_SHEEN_ROUGHNESS)
    density = (2 + power) * sine2 ** (power / 2) / (2 * np.pi)
    lobe = density * (light / (4 * (light + cosine - light * cosine)))[:, None]
    return float(2 * np.pi * (weight @ lobe @ turn_weight))


def burley_albedo(cosine: float, roughness: float) -> float:
    """The albedo of Burley's white diffuse lobe, in closed form."""
    along, base, edge = roughness * cosine, roughness - 0.5, (1 - cosine) ** 5
    # means of (1 - x)^5, x (1 - x)^5 and x^2 (1 - x)^5, x being the cosine at the light
    plain, once, twice = 1 / 21, 1 / 84, 1 / 252
    across = (roughness**2 - along**2) / 2
    both = base**2 * plain + 2 * base * along * once + along**2 * twice + across * (plain - twice)
    return 1 + base * plain + along * once + edge * (base + along * 2 / 3 + both)


@lru_cache(maxsize=8)
def unit_nodes(count: int) -> tuple[Doubles, Doubles]:
    """Gauss-Legendre nodes and weights on the unit interval."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return np.asarray((nodes + 1) / 2), np.asarray(weights / 2)
