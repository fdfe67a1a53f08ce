"""Fits the difference of anisotropic GGX lobes from isotropic ones, and writes it as Slang.

    python tools/albedo_anisotropy.py

takes a minute or two and writes `shaders/material/teacher/albedo_anisotropy.slang`. An anisotropic
lobe is approximated by the isotropic lobe of about the roughness along the view, with scaled total
and cosines. It scales the fit in `albedo_fit.slang`: run `albedo_fit.py` first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import albedo_fit
import numpy as np
from albedo_fit import Sigmoids, as_file, as_slang, least_squares, sigmoid
from ggx_integrals import LobeSamples, anisotropic_ggx_lobe, fresnel, schlick

from verdigris.shaders import SHADER_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]

OUTPUT = SHADER_FOLDER / "material" / "teacher" / "albedo_anisotropy.slang"
NAME, MODEL = "anisotropyFit", Sigmoids(10, 4, 2, rootless=True)
SEEDS, STEPS = 4, 300
TILT_SHARE = 0.97
"""Weight of the roughness along the view, against the mean over all azimuths."""
_LARGER = (0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1.0)
_RATIOS = (1.06, 1.3, 1.7, 2.5, 4, 7, 14, 30, 60, 100)
_LEAST_ALPHA = 0.0099
_DEGREES = (0, 5, 14, 27, 42, 55, 68, 80, 86, 90)
_COSINES = (0.01, 0.02, 0.035, 0.06, 0.1, 0.16, 0.24, 0.34, 0.45, 0.58, 0.7, 0.83, 0.93, 1.0)
CURVES = (partial(fresnel, index=1.1), partial(fresnel, index=1.5), partial(schlick, f0=0.0))
# Too little light is compensated by too much: errors below the integral have a larger weight, and
# the fit aims above it.
_BELOW = 6.0
_ABOVE_TOTAL, _ABOVE_ALBEDO = 0.006, 0.002
_MOST_RETURNED = 1.003


@dataclass(frozen=True)
class Views:
    """Lobes of two roughnesses, each with one view."""

    cosine: Doubles
    azimuth: Doubles
    alphas: Doubles

    @classmethod
    def of(cls, places: Iterable[tuple[float, float, float, float]]) -> Views:
        """From tuples of cosine, azimuth and both roughnesses."""
        table = np.array(list(places), np.float64)
        return cls(table[:, 0], table[:, 1], table[:, 2:])

    def lobes(self) -> list[LobeSamples]:
        return [
            anisotropic_ggx_lobe(float(cosine), float(azimuth), (float(x), float(y)))
            for cosine, azimuth, (x, y) in zip(self.cosine, self.azimuth, self.alphas, strict=True)
        ]

    @cached_property
    def alpha2(self) -> Doubles:
        """The mean of both squared roughnesses."""
        return np.asarray((self.alphas**2).mean(1))

    @cached_property
    def contrast(self) -> Doubles:
        squared = self.alphas**2
        return np.asarray((squared[:, 0] - squared[:, 1]) / squared.sum(1))

    @cached_property
    def tilt(self) -> Doubles:
        axes = (1 - self.cosine**2) * np.cos(2 * self.azimuth)
        return np.clip(self.contrast * axes, -1, 1)

    @cached_property
    def alpha(self) -> Doubles:
        """The roughness of the isotropic lobe that is scaled."""
        return np.asarray(np.sqrt(self.alpha2 * (1 + TILT_SHARE * self.tilt)))

    def inputs(self) -> Doubles:
        """The inputs of the isotropic lobe, and five more."""
        tilt = self.tilt
        more = [tilt, np.abs(self.contrast), np.sqrt(self.alpha2), tilt**2, tilt**3]
        return np.column_stack([albedo_fit.ggx_inputs(self.cosine, self.alpha), *more])


class ScaledLobes:
    """`ggxLobeSum` of albedo.slang for these views and outputs of the fit."""

    def __init__(self, views: Views) -> None:
        source = albedo_fit.OUTPUT.read_text()
        theta = albedo_fit.from_slang("ggxFit", albedo_fit.GGX_MODEL, source)
        x = albedo_fit.ggx_inputs(views.cosine, views.alpha)
        out = albedo_fit.GGX_MODEL(theta, x)
        share = 0.5 + 0.5 * sigmoid(out[:, 1])
        places = views.cosine[:, None] + views.alpha[:, None] * out[:, 2:]
        self.total = np.clip(out[:, 0], 0.01, 1)
        self.places = np.clip(places, 0, 1)
        self.shares = np.stack([share, 1 - share], 1)
        self.contrast = np.abs(views.contrast)

    def totals(self, scales: Doubles) -> Doubles:
        return np.clip(self.total * (1 + self.contrast * scales[:, 0]), 0.01, 1)

    def cosines(self, scales: Doubles) -> Doubles:
        return np.clip(self.places * (1 + self.contrast * scales[:, 1])[:, None], 0, 1)


def fit() -> Doubles:
    views = fitted_views()
    lobes, scaled = views.lobes(), ScaledLobes(views)
    total = np.array([lobe.total for lobe in lobes])
    once = [[lobe.weights @ curve(lobe.cosines) for lobe in lobes] for curve in CURVES]

    def residuals(out: Doubles) -> tuple[Doubles, Doubles]:
        r = np.zeros((len(out), 1 + len(CURVES)))
        g = np.zeros((*r.shape, 2))
        totals, places = scaled.totals(out), scaled.cosines(out)
        inside = (totals > 0.01) & (totals < 1)
        r[:, 0] = np.log(totals / total) - _ABOVE_TOTAL
        g[:, 0, 0] = scaled.total * scaled.contrast / totals * inside
        low, high = np.maximum(places - 1e-5, 0), np.minimum(places + 1e-5, 1)
        moves = scaled.places * scaled.contrast[:, None] * ((places > 0) & (places < 1))
        for at, (curve, albedo) in enumerate(zip(CURVES, once, strict=True), 1):
            rise = (curve(high) - curve(low)) / (high - low)
            got = total * (scaled.shares * curve(places)).sum(1)
            r[:, at] = got - albedo - _ABOVE_ALBEDO
            g[:, at, 1] = total * (scaled.shares * rise * moves).sum(1)
        counts = np.where(r < 0, _BELOW, 1.0)
        return r * counts, g * counts[..., None]

    tried = [
        least_squares(MODEL, _first_guess(seed), views.inputs(), residuals, STEPS)
        for seed in range(SEEDS)
    ]
    theta = min(tried, key=lambda found: found[1])[0]
    # all lobes are raised until the lowest reaches its integral
    least = (total / _MOST_RETURNED / scaled.total - 1) / scaled.contrast
    MODEL.split(theta)[2][0, 0] += max(0, (least - MODEL(theta, views.inputs())[:, 0]).max())
    return theta


def _first_guess(seed: int) -> Doubles:
    guess = MODEL.first_guess(seed)
    MODEL.split(guess)[2][:] *= 0.3
    return guess


def fitted_views() -> Views:
    """Views of lobes with the larger roughness along y: by symmetry, a quarter of the azimuths."""
    pairs = [(larger / ratio, larger) for larger in _LARGER for ratio in _RATIOS]
    return Views.of(
        (cosine, float(np.radians(degrees)), *pair)
        for pair in pairs
        if pair[0] >= _LEAST_ALPHA
        for degrees in _DEGREES
        for cosine in _COSINES
    )


def as_source(theta: Doubles) -> str:
    share = f"public static const float kTiltShare = {TILT_SHARE:g};"
    return as_file("albedo_anisotropy", [share, as_slang(NAME, MODEL, theta)], rootless=True)


def main() -> None:
    theta = fit()
    views = fitted_views()
    total = np.array([lobe.total for lobe in views.lobes()])
    returned = total / ScaledLobes(views).totals(MODEL(theta, views.inputs()))
    print(f"{NAME}: white metals return {returned.min():.3f} to {returned.max():.4f}")
    OUTPUT.write_text(as_source(theta))


if __name__ == "__main__":
    main()
