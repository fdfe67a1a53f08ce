"""Environments out of focus: for backdrops, and for softer light."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.lighting.environment import Environment, place_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats

_HEIGHT = 128


def blurred(environment: Environment, degrees: float) -> Environment:
    """The environment's map, blurred by a Gaussian with this standard deviation. The sun is left
    out."""
    texels = _blurred(_reduced(environment.texels), degrees)
    return Environment.of(texels.astype(np.float32)).turned(environment.turn)


def softened(environment: Environment, degrees: float) -> Environment:
    """The environment with all of its light blurred, also that of the sun. The sum of its light
    stays the same."""
    sharp = _reduced(environment.texels)
    rows, columns = sharp.shape[:2]
    share = -np.diff(np.cos(np.linspace(0, np.pi, rows + 1))) * 2 * np.pi / columns
    if environment.sun is not None:
        towards = np.array([environment.sun.direction])
        u, v = place_of(towards)[0]
        row, column = min(int(v * rows), rows - 1), min(int(u * columns), columns - 1)
        sharp[row, column] += np.array(environment.sun.irradiance) / share[row]
    soft = _blurred(sharp, degrees)
    # lines of latitude that are blurred one by one do not keep the sum quite
    before, after = (np.einsum("r,rcx->x", share, each) for each in (sharp, soft))
    soft *= before / np.maximum(after, 1e-12)
    return Environment.of(soft.astype(np.float32)).turned(environment.turn)


def _reduced(texels: Floats) -> NDArray[np.float64]:
    """A map with fewer texels, which a blur does not show."""
    step = max(1, len(texels) // _HEIGHT)
    rows, columns = len(texels) // step, texels.shape[1] // step
    whole = texels[: rows * step, : columns * step].astype(np.float64)
    return np.asarray(whole.reshape(rows, step, columns, step, 3).mean((1, 3)))


def _blurred(texels: NDArray[np.float64], degrees: float) -> NDArray[np.float64]:
    rows, columns = texels.shape[:2]
    sigma = degrees / 180.0 * rows
    polar = (np.arange(rows) + 0.5) / rows * np.pi
    # towards the poles a texel spans less
    across = np.minimum(sigma / np.sin(polar), columns)
    frequency = np.fft.rfftfreq(columns)
    damping = np.exp(-2 * (np.pi * frequency * across[:, None]) ** 2)[..., None]
    texels = np.fft.irfft(np.fft.rfft(texels, axis=1) * damping, columns, axis=1)
    mirrored = np.concatenate([texels, texels[::-1]])
    damping = np.exp(-2 * (np.pi * np.fft.rfftfreq(2 * rows) * sigma) ** 2)[:, None, None]
    texels = np.fft.irfft(np.fft.rfft(mirrored, axis=0) * damping, 2 * rows, axis=0)[:rows]
    return np.asarray(np.maximum(texels, 0))
