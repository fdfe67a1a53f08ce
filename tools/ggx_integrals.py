"""Albedo of MaterialX's GGX lobes, by numerical integration.

`albedo_fit.py` and `albedo_anisotropy.py` turn these into the shader's approximations,
`shaders/material/teacher/albedo.slang`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.material.analyse.adjusted_lobes import unit_nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class LobeSamples:
    """A GGX lobe at one view cosine, as a weighted sum over cosines at the half vector."""

    cosines: Doubles
    weights: Doubles

    @property
    def total(self) -> float:
        """The albedo of one bounce with white facets."""
        return float(self.weights.sum())

    def albedo(self, fresnel: Callable[[Doubles], Doubles]) -> float:
        """The albedo with the energy of lost bounces restored (Turquin 2019)."""
        reflectance = fresnel(self.cosines)
        lost = (1 - self.total) / self.total
        return float((self.weights * reflectance * (1 + reflectance * lost)).sum())


def ggx_lobe(cosine: float, alpha: float, steps: int = 240) -> LobeSamples:
    """The lobe over its visible normals, sampled on a spherical cap (Dupuy 2023)."""
    share, share_weight = unit_nodes(steps)
    # the density of normals has a root at both rims of the cap: more points there
    crowded = share**3 * (10 + share * (6 * share - 15))
    share_weight = share_weight * 30 * (share * (1 - share)) ** 2
    turn, turn_weight = unit_nodes(steps // 2)
    sine = np.sqrt(1 - cosine**2)
    norm = np.hypot(alpha * sine, cosine)
    x, z = alpha * sine / norm, cosine / norm
    height = (1 - crowded) * (1 + z) - z
    radius = np.sqrt(np.clip(1 - height**2, 0, 1))
    half = np.stack(
        [
            alpha * (np.outer(radius, np.cos(np.pi * turn)) + x),
            alpha * np.outer(radius, np.sin(np.pi * turn)),
            np.broadcast_to((height + z)[:, None], (steps, len(turn))),
        ]
    )
    half = half / np.sqrt((half**2).sum(0))
    at_half = sine * half[0] + cosine * half[2]
    light = 2 * at_half * half[2] - cosine
    above = light > 0
    light = np.where(above, light, 1.0)
    hidden, hidden_light = _masking(np.float64(cosine), alpha), _masking(light, alpha)
    seen = np.where(above, (1 + hidden) / (1 + hidden + hidden_light), 0.0)
    weights = seen * np.outer(share_weight, turn_weight)
    return LobeSamples(at_half.ravel(), weights.ravel())


def anisotropic_ggx_lobe(
    cosine: float, azimuth: float, alphas: tuple[float, float], steps: int = 40
) -> LobeSamples:
    """The same for two roughnesses; each direction is masked with the roughness along it."""
    share, share_weight = unit_nodes(steps)
    crowded = share**3 * (10 + share * (6 * share - 15))
    share_weight = share_weight * 30 * (share * (1 - share)) ** 2
    turn = np.pi * (np.arange(2 * steps) + 0.5) / steps
    sine = np.sqrt(1 - cosine**2)
    view = np.array([sine * np.cos(azimuth), sine * np.sin(azimuth), cosine])
    stretch = np.array([*alphas, 1.0])
    middle = view * stretch / np.linalg.norm(view * stretch)
    height = ((1 - crowded) * (1 + middle[2]))[:, None]
    radius = np.sqrt(np.clip(1 - (height - middle[2]) ** 2, 0, 1))
    half = np.stack(
        [
            alphas[0] * (radius * np.cos(turn) + middle[0]),
            alphas[1] * (radius * np.sin(turn) + middle[1]),
            np.broadcast_to(height, (steps, len(turn))),
        ]
    )
    half = half / np.sqrt((half**2).sum(0))
    at_half = np.tensordot(view, half, 1)
    light = 2 * at_half * half - view[:, None, None]
    above = light[2] > 0
    masked = np.sqrt((np.where(above, light, 1.0) ** 2 * (stretch**2)[:, None, None]).sum(0))
    masked_view = np.linalg.norm(view * stretch)
    seen = light[2] * (masked_view + cosine) / (masked_view * light[2] + masked * cosine)
    weights = np.where(above, seen, 0.0) * share_weight[:, None] / len(turn)
    return LobeSamples(np.clip(at_half, 0, 1).ravel(), weights.ravel())


def _masking(cosine: Doubles | np.float64, alpha: float) -> Doubles:
    """Smith's Lambda of GGX."""
    return np.asarray((np.sqrt(1 + alpha**2 * (1 - cosine**2) / cosine**2) - 1) / 2)


def fresnel(cosine: Doubles, index: float) -> Doubles:
    """Reflectance of a dielectric with a relative index of at least one."""
    inner = np.sqrt(index**2 + cosine**2 - 1)
    across = (inner - cosine) / (inner + cosine)
    along = ((inner + cosine) * cosine - 1) / ((inner - cosine) * cosine + 1)
    return np.asarray(0.5 * across**2 * (1 + along**2))


def schlick(cosine: Doubles, f0: float) -> Doubles:
    return f0 + (1 - f0) * (1 - cosine) ** 5
