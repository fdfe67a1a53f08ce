"""Quick estimates of a compiled material: albedo, emission and opacity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher.teacher import Teacher

    Doubles = NDArray[np.float64]
    Floats = NDArray[np.float32]

NEARLY_NOTHING = 0.01
# Albedo above one that random directions may estimate for a white material.
_LARGEST_ALBEDO = 1.05
_SAMPLES = 1 << 15
_LOBES = (0.003, 0.02, 0.1, 0.4)
_SEED = 20


@dataclass(frozen=True)
class Probe:
    """Means over the unit square and all views."""

    albedo: tuple[float, float, float]
    """The share of uniform white light that is reflected."""
    emission: tuple[float, float, float]
    opacity: tuple[float, float]
    """The smallest and the largest coverage."""

    @property
    def reflects_nearly_nothing(self) -> bool:
        return max(self.albedo) < NEARLY_NOTHING

    @property
    def black_hint(self) -> str:
        """What to add to a report that the material is black."""
        if max(self.emission) > 0:
            return " Its emission is kept."
        if any(self.albedo):
            return ""
        if max(self.opacity) == 0:
            return " Its opacity is 0 everywhere in the unit square, so it is invisible."
        return " A result that is not a number, as after a division by 0, counts as black."

    @property
    def excess(self) -> str:
        return describe_excess(max(self.albedo))


def describe_excess(albedo: float) -> str:
    """The end of a report on a material that reflects more than it receives; otherwise empty."""
    if albedo <= _LARGEST_ALBEDO:
        return ""
    return ", more than it receives: check for colours above 1 and inputs out of range"


def probe(teacher: Teacher) -> Probe:
    """Samples a material at random places, views and lights, including mirror directions."""
    drawn = _draw()
    unlit = teacher.unlit(drawn.uv, drawn.wo)
    red, green, blue, _ = map(float, unlit.mean(0))
    coverage = unlit[:, 3]
    return Probe(
        mean_albedo(teacher),
        (red, green, blue),
        (float(coverage.min()), float(coverage.max())),
    )


def mean_albedo(material: DeviceMaterial) -> tuple[float, float, float]:
    """The albedo alone, without the rest of a probe."""
    drawn = _draw()
    response = material.response(drawn.uv, drawn.wi, drawn.wo)
    albedo = (response * drawn.weight[:, None]).mean(0)
    return float(albedo[0]), float(albedo[1]), float(albedo[2])


@dataclass(frozen=True)
class _Drawn:
    """Places, lights and views, and what the response at each counts for."""

    uv: Floats
    wi: Floats
    wo: Floats
    weight: Doubles


@cache
def _draw() -> _Drawn:
    """The same for every material. A bake looks at three."""
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
