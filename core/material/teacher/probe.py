"""Quick estimates of a compiled material from random samples: albedo, emission and opacity for
reports, and the live values at which places differ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.material.evaluator import even_knots
from verdigris.core.material.sides import density_of_passed, passed, passes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Doubles, FloatArray, Floats
    from verdigris.core.material.evaluator import DeviceMaterial, Frames
    from verdigris.core.material.teacher.teacher import Teacher


NEARLY_NOTHING = 0.01
# The largest albedo that random directions may estimate for a white material.
_LARGEST_ALBEDO = 1.05
_SAMPLES = 1 << 15
# A multiple of the techniques by which directions are drawn.
_PAIRS_OF_PLACE = 65
_LOBES = (0.003, 0.02, 0.1, 0.4)
_SEED = 20
# Places and pairs of directions at which the spread of responses is estimated for a live value.
_LIVE_PLACES, _LIVE_PAIRS = 512, 8
_LIVE_SEED = 11
# The least density of live values, as a share of the mean density.
_LEAST_DENSITY = 0.3
# Exponent of the difference between places. With 1, values with middling differences would be drawn
# less than with a uniform density, and their error grows most in proportion.
_SPREAD_POWER = 0.5


@dataclass(frozen=True)
class Probe:
    """Means over the unit square and all view directions."""

    albedo: tuple[float, float, float]
    """The share of uniform white light that is reflected."""
    emission: tuple[float, float, float]
    opacity: tuple[float, float]
    """The smallest and the largest coverage."""
    transmitted: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The share of uniform white light that passes through the surface."""

    @property
    def seen(self) -> float:
        """The share of light of the brightest channel that reaches a viewer."""
        return max(map(sum, zip(self.albedo, self.transmitted, strict=True)))

    @property
    def shows_nearly_nothing(self) -> bool:
        return self.seen < NEARLY_NOTHING

    @property
    def black_hint(self) -> str:
        """The end of a report that the material is black."""
        if max(self.emission) > 0:
            return " Its emission is kept."
        if any(self.albedo):
            return ""
        if max(self.opacity) == 0:
            return " Its opacity is 0 everywhere in the unit square, so it is invisible."
        return " A result that is not a number, as after a division by 0, counts as black."

    @property
    def excess(self) -> str:
        return describe_excess(self.seen)


def describe_excess(albedo: float) -> str:
    """The end of a report on a material that reflects more than it receives; otherwise empty."""
    if albedo <= _LARGEST_ALBEDO:
        return ""
    return ", more than it receives: check for colours above 1 and inputs out of range"


def probe(teacher: Teacher) -> Probe:
    """Samples a material at random places, views and lights, with mirror directions."""
    drawn = _draw()
    unlit = teacher.unlit(drawn.uv, drawn.wo)
    red, green, blue, _ = map(float, unlit.mean(0))
    coverage = unlit[:, 3]
    opacity = float(coverage.min()), float(coverage.max())
    return Probe(mean_albedo(teacher), (red, green, blue), opacity, mean_transmitted(teacher))


def mean_albedo(material: DeviceMaterial) -> tuple[float, float, float]:
    """The mean albedo, without the rest of a probe."""
    drawn = _draw()
    response = material.response(drawn.uv, drawn.wi, drawn.wo)
    return _mean(response * drawn.weight[:, None])


def mean_transmitted(
    material: DeviceMaterial, uv: Floats | None = None, frames: Frames | None = None
) -> tuple[float, float, float]:
    """The mean share of uniform white light from below that passes through the surface: through the
    unit square, or at these places (N, 2) with their frames."""
    if not material.index_below:
        return (0.0, 0.0, 0.0)
    drawn = _draw()
    wi, weight = _from_below(drawn, material.index_below)
    if uv is None:
        return _mean(material.response(drawn.uv, wi, drawn.wo) * weight)
    chosen = np.random.default_rng(_SEED).integers(len(uv), size=len(wi))
    own = None if frames is None else frames.take(chosen)
    return _mean(material.response(uv[chosen], wi, drawn.wo, own) * weight)


def transmitted_at(material: DeviceMaterial, uv: Floats, frames: Frames | None = None) -> Doubles:
    """The same share (N, 3) of each place, roughly: over a few pairs of directions, the same for
    all places."""
    drawn, found = _draw(), np.zeros((len(uv), 3))
    wi, weight = _from_below(drawn, material.index_below)
    for pair in range(_PAIRS_OF_PLACE):
        if weight[pair]:
            one, other = (np.tile(each[pair], (len(uv), 1)) for each in (wi, drawn.wo))
            found += weight[pair] / _PAIRS_OF_PLACE * material.response(uv, one, other, frames)
    return found


def _from_below(drawn: _Drawn, index: float) -> tuple[Floats, Doubles]:
    """Directions of light from below, and the weight of the response at each."""
    mirrored, wo = drawn.wi.T, drawn.wo.T
    wi = passed(mirrored, wo, index)
    density = density_of_passed(wi, mirrored, wo, index)
    is_lit = (mirrored[2] > 0) & (wi[2] < 0) & passes(mirrored, wo, index)
    weight = np.where(is_lit, drawn.weight / np.maximum(density, 1e-6), 0)
    return np.ascontiguousarray(wi.T), weight[:, None]


def _mean(shares: FloatArray) -> tuple[float, float, float]:
    red, green, blue = map(float, shares.mean(0))
    return red, green, blue


def live_knots(material: DeviceMaterial) -> Floats:
    """Quantiles of the density with which training draws each live input, [knots, inputs]. The
    others have their defaults.

    The density is higher for values at which places differ more. A material that rusts is nearly
    the same everywhere while it is new: there is little to learn.
    """
    knots = even_knots(len(material.live))
    values = even_knots(1)[:, 0]
    for number in range(len(material.live)):
        spread = _spread_of_responses(material, number, values) ** _SPREAD_POWER
        if not np.isfinite(spread).all() or not spread.any():
            continue
        density = _LEAST_DENSITY + (1 - _LEAST_DENSITY) * spread / spread.mean()
        share = np.concatenate([[0], np.cumsum(density[1:] + density[:-1])])
        knots[:, number] = np.interp(values, share / share[-1], values)
    return knots


def _spread_of_responses(
    material: DeviceMaterial, number: int, values: Floats
) -> NDArray[np.float64]:
    """The mean deviation between places of the response's cube roots, at each value."""
    random = np.random.default_rng(_LIVE_SEED)
    count = _LIVE_PAIRS * _LIVE_PLACES
    uv = np.tile(random.random((_LIVE_PLACES, 2)).astype(np.float32), (_LIVE_PAIRS, 1))
    directions = random.standard_normal((2, _LIVE_PAIRS, 3))
    directions[..., 2] = np.abs(directions[..., 2]) + 0.3
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    wi, wo = (np.repeat(each, _LIVE_PLACES, axis=0).astype(np.float32) for each in directions)
    live = np.tile(np.array(material.live, np.float32), (count, 1))
    found = []
    for value in values:
        live[:, number] = value
        roots = np.cbrt(material.response(uv, wi, wo, live=live))
        found.append(roots.reshape(_LIVE_PAIRS, _LIVE_PLACES, 3).std(1, dtype=np.float64).mean())
    return np.array(found)


@dataclass(frozen=True)
class _Drawn:
    """Places, lights and view directions, and the weight of the response at each."""

    uv: Floats
    wi: Floats
    wo: Floats
    weight: Doubles


@cache
def _draw() -> _Drawn:
    """The same samples for every material. A bake probes three materials."""
    rng = np.random.default_rng(_SEED)
    uv = rng.random((_SAMPLES, 2)).astype(np.float32)
    wo = _cosine_lobe(rng.random((_SAMPLES, 2)))
    wi = _draw_lights(rng, wo)
    density = _density(wi, wo)
    lit = (wi[:, 2] > 1e-4) & (density > 0)
    weight = np.divide(1.0, density, out=np.zeros_like(density), where=lit)
    return _Drawn(uv, wi.astype(np.float32), wo.astype(np.float32), weight)


def _cosine_lobe(xi: Doubles) -> Doubles:
    return _direction(np.sqrt(xi[:, 0]), xi[:, 1])


def _direction(cosine: Doubles, turn: Doubles) -> Doubles:
    sine = np.sqrt(np.maximum(0.0, 1.0 - cosine**2))
    angle = 2 * np.pi * turn
    return np.stack([sine * np.cos(angle), sine * np.sin(angle), cosine], axis=1)


def _draw_lights(rng: np.random.Generator, wo: Doubles) -> Doubles:
    xi = rng.random((len(wo), 2))
    wi = _cosine_lobe(xi)
    technique = np.arange(len(wo)) % (1 + len(_LOBES))
    for number, alpha in enumerate(_LOBES, 1):
        chosen = technique == number
        x = xi[chosen, 0]
        halfway = _direction(np.sqrt((1 - x) / (1 + (alpha**2 - 1) * x)), xi[chosen, 1])
        toward = wo[chosen]
        wi[chosen] = 2 * (toward * halfway).sum(1, keepdims=True) * halfway - toward
    return wi


def _density(wi: Doubles, wo: Doubles) -> Doubles:
    halfway = wi + wo
    halfway /= np.maximum(np.linalg.norm(halfway, axis=1, keepdims=True), 1e-12)
    total = np.maximum(wi[:, 2], 0) / np.pi
    for alpha in _LOBES:
        spread = halfway[:, 2] ** 2 * (alpha**2 - 1) + 1
        lobe = alpha**2 / (np.pi * spread**2) * halfway[:, 2]
        total = total + lobe / np.maximum(4 * (wo * halfway).sum(1), 1e-9)
    return np.asarray(total / (1 + len(_LOBES)))
