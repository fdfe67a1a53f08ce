"""Fits smooth functions to integrals of GGX and of sheen, and writes them as Slang.

    python tools/albedo_fit.py

takes some minutes and writes `shaders/material/teacher/albedo_fit.slang`. Table lookups would take
a third of a teacher's time on lavapipe. The albedo of GGX changes its shape in each decade of
roughness and cosine: sums of a few sigmoids of logarithms fit it to 0.1%, while polynomials and
rational functions of the same cost stay above 1%.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from ggx_integrals import fresnel, ggx_lobe, schlick

from verdigris.core.material.analyse.adjusted_lobes import LEAST_SHEEN_ROUGHNESS, sheen_albedo
from verdigris.shaders import SHADER_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]
    Residuals = Callable[[Doubles], tuple[Doubles, Doubles]]

OUTPUT = SHADER_FOLDER / "material" / "teacher" / "albedo_fit.slang"
# index of refraction, or reflectance at the normal for Schlick's curve -> target error
_INDICES = {1.05: 3e-3, 1.1: 3e-3, 1.2: 2e-3, 1.33: 2e-3, 1.5: 7e-4, 1.75: 2e-3, 2.0: 2e-3}
_INDICES |= {2.5: 2e-3, 3.0: 2e-3}
_SCHLICKS = {0.0: 1e-3, 0.04: 1e-3, 0.3: 1e-3}
_TOTAL_ERROR = 4e-4
_ELSEWHERE = 0.3  # weight of errors below these two
_LEAST_COSINE, _LEAST_ALPHA = 0.018, 0.009
GGX_SEED, SHEEN_SEED = 101, 0


@dataclass(frozen=True)
class Sigmoids:
    """Outputs that are sums of z / sqrt(1 + z^2), or of the faster z / (1 + |z|), where z is linear
    in the inputs."""

    inputs: int
    count: int
    outputs: int
    rootless: bool = False

    @property
    def size(self) -> int:
        return self.count * (self.inputs + 1) + self.outputs * (self.count + 1)

    def split(self, theta: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """Slopes and offsets of the sigmoids, and the weights of each output: constant first."""
        end = self.count * self.inputs
        slopes = theta[:end].reshape(self.count, self.inputs)
        shares = theta[end + self.count :].reshape(self.outputs, self.count + 1)
        return slopes, theta[end : end + self.count], shares

    def __call__(self, theta: Doubles, x: Doubles) -> Doubles:
        slopes, offsets, shares = self.split(theta)
        return np.asarray(self._rise(x @ slopes.T + offsets) @ shares[:, 1:].T + shares[:, 0])

    def jacobian(self, theta: Doubles, x: Doubles) -> Doubles:
        slopes, offsets, shares = self.split(theta)
        z = x @ slopes.T + offsets
        result = np.zeros((len(x), self.outputs, self.size))
        end = self.count * self.inputs
        for row, share in enumerate(shares):
            inner = self._slope(z) * share[1:]
            result[:, row, :end] = (inner[:, :, None] * x[:, None, :]).reshape(len(x), -1)
            result[:, row, end : end + self.count] = inner
            first = end + self.count + row * (self.count + 1)
            result[:, row, first] = 1
            result[:, row, first + 1 : first + 1 + self.count] = self._rise(z)
        return result

    def _rise(self, z: Doubles) -> Doubles:
        return np.asarray(z / (1 + np.abs(z))) if self.rootless else sigmoid(z)

    def _slope(self, z: Doubles) -> Doubles:
        return np.asarray((1 + np.abs(z)) ** -2) if self.rootless else _slope(z)

    def first_guess(self, seed: int) -> Doubles:
        rng = np.random.default_rng(seed)
        weights = rng.normal(0, 1.2, self.count * self.inputs)
        offsets = rng.normal(0, 1.0, self.count)
        shares = rng.normal(0, 0.3, self.outputs * (self.count + 1))
        return np.concatenate([weights, offsets, shares])


GGX_MODEL, SHEEN_MODEL = Sigmoids(5, 12, 4), Sigmoids(4, 8, 1)


def sigmoid(z: Doubles) -> Doubles:
    return np.asarray(z / np.sqrt(1 + z * z))


def _slope(z: Doubles) -> Doubles:
    return np.asarray((1 + z * z) ** -1.5)


def ggx_inputs(cosine: Doubles, alpha: Doubles) -> Doubles:
    logs = [
        np.log2(cosine + 0.3 * alpha + 0.001) / 4 + 1,
        np.log2(alpha + 0.002) / 4.5 + 1,
        np.log2(cosine + 0.002) / 4.5 + 1,
    ]
    return np.stack([*logs, cosine, alpha], 1)


def sheen_inputs(cosine: Doubles, roughness: Doubles) -> Doubles:
    logs = [np.log2(cosine + 0.01) / 3 + 1, np.log2(roughness) / 3.5 + 1]
    return np.stack([*logs, cosine, np.sqrt(roughness)], 1)


def fit_ggx(steps: int, seed: int = GGX_SEED) -> tuple[Sigmoids, Doubles, float]:
    """Fits the total of a lobe, and two cosines that represent it for all reflectances."""
    axis = ((np.arange(28) + 0.5) / 28) ** 2
    cosines = np.unique(np.r_[0.002, 0.005, 0.01, axis[axis > 0.002], 1.0])
    alphas = np.unique(np.r_[0.001, 0.003, 0.006, axis[axis > 0.001], 1.0])
    cosine, alpha = (grid.ravel() for grid in np.meshgrid(cosines, alphas))
    lobes = [ggx_lobe(*place) for place in zip(cosine, alpha, strict=True)]
    total = np.array([lobe.total for lobe in lobes])
    curves = [(partial(fresnel, index=n), error) for n, error in _INDICES.items()]
    curves += [(partial(schlick, f0=f0), error) for f0, error in _SCHLICKS.items()]
    albedos = [np.array([lobe.albedo(curve) for lobe in lobes]) for curve, _ in curves]
    seen = (cosine >= _LEAST_COSINE) & (alpha >= _LEAST_ALPHA)
    counts = np.where(seen, 1, _ELSEWHERE)

    def residuals(out: Doubles) -> tuple[Doubles, Doubles]:
        r = np.zeros((len(out), 1 + len(curves)))
        g = np.zeros((*r.shape, 4))
        r[:, 0] = (out[:, 0] / total - 1) * counts / _TOTAL_ERROR
        g[:, 0, 0] = counts / total / _TOTAL_ERROR
        share = 0.5 + 0.5 * sigmoid(out[:, 1])
        places = cosine[:, None] + alpha[:, None] * out[:, 2:]
        inside = (places > 0) & (places < 1)
        places = np.clip(places, 0, 1)
        for at, ((curve, error), albedo) in enumerate(zip(curves, albedos, strict=True), 1):
            f = curve(places)
            low, high = np.maximum(places - 1e-5, 0), np.minimum(places + 1e-5, 1)
            rise = (curve(high) - curve(low)) / (high - low) * inside
            e = out[:, :1]
            value, by_f = e * f + (1 - e) * f * f, e + 2 * (1 - e) * f
            weight = np.stack([share, 1 - share], 1)
            scale = counts / error
            r[:, at] = ((weight * value).sum(1) - albedo) * scale
            g[:, at, 0] = (weight * (f - f * f)).sum(1) * scale
            g[:, at, 1] = (value[:, 0] - value[:, 1]) * 0.5 * _slope(out[:, 1]) * scale
            g[:, at, 2:] = weight * by_f * rise * alpha[:, None] * scale[:, None]
        return r, g

    model = GGX_MODEL
    guess = model.first_guess(seed)
    shares = model.split(guess)[2]
    shares[[0, 2, 3], 0] = 0.9, -0.1, 0.5
    shares[2:, 1:] *= 0.3
    theta, worst = least_squares(model, guess, ggx_inputs(cosine, alpha), residuals, steps)
    return model, theta, worst * _TOTAL_ERROR


def fit_sheen(steps: int, seed: int = SHEEN_SEED) -> tuple[Sigmoids, Doubles, float]:
    """Fits the logarithm of the albedo of sheen."""
    axis = ((np.arange(32) + 0.5) / 32) ** 2
    cosines = np.unique(np.r_[0.001, 0.003, axis, 1.0])
    smooth = LEAST_SHEEN_ROUGHNESS
    roughnesses = np.unique(np.r_[smooth, 0.0065, 0.008, 0.012, axis[axis > smooth], 1.0])
    cosine, roughness = (grid.ravel() for grid in np.meshgrid(cosines, roughnesses))
    albedo = np.array([sheen_albedo(*place) for place in zip(cosine, roughness, strict=True)])
    scale = 1 / np.maximum(albedo, 1)

    def residuals(out: Doubles) -> tuple[Doubles, Doubles]:
        value = np.exp2(np.clip(out[:, 0], -30, 6))
        r = (value - albedo) * scale
        return r[:, None], (value * np.log(2) * scale)[:, None, None]

    model = SHEEN_MODEL
    x = sheen_inputs(cosine, roughness)
    theta, worst = least_squares(model, model.first_guess(seed), x, residuals, steps)
    return model, theta, worst


def least_squares(
    model: Sigmoids, theta: Doubles, x: Doubles, residuals: Residuals, steps: int
) -> tuple[Doubles, float]:
    """The Levenberg-Marquardt method, with growing weights of large residuals, which minimises the
    largest one."""

    def cost_of(values: Doubles, at: Doubles) -> float:
        return float(((emphasis * values) ** 2).sum() + 1e-10 * (at**2).sum())

    damping = 0.1
    r, g = residuals(model(theta, x))
    emphasis = np.ones_like(r)
    cost = cost_of(r, theta)
    best, worst = theta, float(np.abs(r).max())
    for step in range(steps):
        slopes = np.einsum("nko,nop->nkp", g * emphasis[..., None], model.jacobian(theta, x))
        flat = slopes.reshape(-1, model.size)
        square = flat.T @ flat
        downhill = flat.T @ (emphasis * r).ravel()
        for _ in range(8):
            damped = square + damping * np.diag(np.diag(square) + 1e-9)
            moved = theta - np.linalg.solve(damped + 1e-12 * np.eye(model.size), downhill)
            tried = residuals(model(moved, x))
            if cost_of(tried[0], moved) < cost:
                theta, (r, g) = moved, tried
                cost, damping = cost_of(r, theta), max(damping / 5, 1e-12)
                break
            damping = min(4 * damping, 1e8)
        else:
            damping = 1e-2
        largest = float(np.abs(r).max())
        if largest < worst:
            best, worst = theta, largest
        if step > 0.4 * steps and step % 4 == 0:
            emphasis = emphasis * (1 + np.abs(r) / largest) ** 0.7
            emphasis /= np.sqrt((emphasis**2).mean())
            cost = cost_of(r, theta)
    return best, worst


def as_slang(name: str, model: Sigmoids, theta: Doubles) -> str:
    """A Slang function from the inputs (an array) to the outputs, four sigmoids at a time."""
    slopes, offsets, shares = model.split(theta)
    blocks = range(0, model.count, 4)
    lines = [f"    float4 z[{len(blocks)}];"]
    sums = [[_number(share[0])] for share in shares]
    for number, first in enumerate(blocks):
        part = slice(first, first + 4)
        terms = [_vector(offsets[part])]
        terms += [f"{_vector(slopes[part, k])} * x[{k}]" for k in range(model.inputs)]
        lines.append(f"    z[{number}] = sigmoids({' + '.join(terms)});")
        for output, share in zip(sums, shares[:, 1:], strict=True):
            output.append(f"dot({_vector(share[part])}, z[{number}])")
    kind = "float" if model.outputs == 1 else f"float{model.outputs}"
    results = ",\n        ".join(" + ".join(output) for output in sums)
    lines.append(f"    return {kind}(\n        {results});")
    head = f"public {kind} {name}(float x[{model.inputs}])"
    return "\n".join([head, "{", *lines, "}"])


def from_slang(name: str, model: Sigmoids, source: str) -> Doubles:
    """The parameters that `as_slang` wrote under this name."""
    found = re.search(rf"^public \w+ {name}\(.*?^}}", source, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"no function {name} in {OUTPUT.name}: write the file again")
    body = found[0].split("{", 1)[1]
    vectors = [
        np.array(vector.split(","), np.float64) for vector in re.findall(r"float4\((.*?)\)", body)
    ]
    blocks = np.array(vectors[: model.count // 4 * (model.inputs + 1)])
    blocks = blocks.reshape(-1, model.inputs + 1, 4)
    slopes = blocks[:, 1:].transpose(0, 2, 1).reshape(model.count, model.inputs)
    constants = re.findall(r"([-\d.e]+) \+ dot", body)
    shares = np.array(vectors[len(blocks) * (model.inputs + 1) :]).reshape(model.outputs, -1)
    shares = np.column_stack([np.array(constants, np.float64), shares])
    return np.concatenate([slopes.ravel(), blocks[:, 0].ravel(), shares.ravel()])


def _vector(values: Doubles) -> str:
    return f"float4({', '.join(map(_number, values))})"


def _number(value: float) -> str:
    return f"{value:.7g}" if value else "0.0"


_HEAD = """// Written by tools/{script}.py for albedo.slang. Do not edit.

float4 sigmoids(float4 z) {{ return z {divided}; }}
"""


def as_file(script: str, parts: list[str], rootless: bool = False) -> str:
    divided = "/ (1.0 + abs(z))" if rootless else "* rsqrt(1.0 + z * z)"
    return "\n\n".join([_HEAD.format(script=script, divided=divided).rstrip(), *parts]) + "\n"


def main() -> None:
    parts = []
    for name, fit, steps in (("ggxFit", fit_ggx, 800), ("sheenFit", fit_sheen, 400)):
        model, theta, worst = fit(steps)
        print(f"{name}: {model.count} sigmoids, largest error {worst:.2g}")
        parts.append(as_slang(name, model, theta))
    OUTPUT.write_text(as_file("albedo_fit", parts))


if __name__ == "__main__":
    main()
