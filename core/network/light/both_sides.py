"""The sampler of a surface that transmits: directions over the whole sphere, and their density.

A share of the directions is drawn for light from above, the others for light from below with the
second sampler, whose directions are mirrored. shaders/bundle/runtime/neural_sides.slang has the
same functions. Directions are [3, N].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verdigris.core.base.array_types import FloatArray
from verdigris.core.material.sides import density_of_passed, mirrored, passed, passes
from verdigris.core.network.light.sampler import Lobes, draw, lobes_of, look_at, pdf
from verdigris.core.network.parameters import Parameters

EVEN_SHARE = 0.5
_BELOW_ONE = 0.99999994


@dataclass(frozen=True)
class SphereSampler:
    """The mixtures of both sides at some surfaces."""

    above: Lobes
    below: Lobes
    wo: FloatArray
    index: float
    share: float = EVEN_SHARE
    """The part of the directions that is drawn above."""

    @classmethod
    def at(
        cls, parameters: Parameters, latents: FloatArray, wo: FloatArray, share: float = EVEN_SHARE
    ) -> SphereSampler:
        """Surfaces with these latents [channels, N], seen from wo [3, N]."""
        above, below = (lobes_of(side, look_at(side, latents, wo)) for side in parameters.sides)
        return cls(above, below, wo, parameters.index_below, share)

    def pdf(self, wi: FloatArray) -> FloatArray:
        """By solid angle, of wi [3, N], or [3, S, N] with several for each surface. It integrates
        to 1 less the share that carries no light."""
        wo = self.wo if wi.ndim == self.wo.ndim else self.wo[:, None]
        from_below = mirrored(wi, wo, self.index)
        is_below = (wi[2] < 0) & (from_below[2] > 0)
        # any valid direction will do on the other side
        up = np.array([0.0, 0, 1]).reshape(3, *(1,) * (wi.ndim - 1))
        turned = np.where(is_below, from_below, up)
        lower = pdf(self.below, turned) * density_of_passed(wi, turned, wo, self.index)
        upper = np.where(wi[2] >= 0, pdf(self.above, wi), 0)
        return np.asarray(np.where(is_below, (1 - self.share) * lower, self.share * upper))

    def draw(self, random: FloatArray) -> FloatArray:
        """Directions for numbers [2, N] in [0, 1). One without length carries no light."""
        first = random[0] / self.share
        is_above = first < 1
        rest = (random[0] - self.share) / (1 - self.share)
        chosen = np.stack([np.where(is_above, first, rest), random[1]])
        chosen[0] = np.clip(chosen[0], 0, _BELOW_ONE)
        from_below = draw(self.below, chosen)
        below = passed(from_below, self.wo, self.index)
        is_lit = (from_below[2] > 0) & (below[2] < 0) & passes(from_below, self.wo, self.index)
        lower = np.where(is_lit, below, 0)
        upper = draw(self.above, chosen)
        # below the horizon it would be light of the other side
        upper = np.where(upper[2] > 0, upper, 0)
        return np.asarray(np.where(is_above, upper, lower))
