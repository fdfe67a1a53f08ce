"""A material for tests: Lambert and GGX over stripes and tiles, in numpy and as a teacher."""

from pathlib import Path

import numpy as np

from verdigris.core.base.kernels import Source
from verdigris.core.material.evaluator import even_knots

SOURCE = Source(
    "analytic_material", (Path(__file__).with_suffix(".slang")).read_text(encoding="utf-8")
)


def respond(uv, wi, wo):
    """The response [count, 3], equal to that of the Slang."""
    u, v = uv.T
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * (3 * u + np.sin(2 * np.pi * v)))
    tile = (np.floor(4 * u) + np.floor(4 * v)) % 2
    colour = 0.05 + 0.6 * np.stack([tile, 0.6 * wave, 1 - tile], 1)
    alpha = 0.05 + 0.35 * wave
    h = wi + wo
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    density = alpha**2 / (np.pi * (h[:, 2] ** 2 * (alpha**2 - 1) + 1) ** 2)
    k = 0.5 * alpha
    shadow = 1 / ((wi[:, 2] * (1 - k) + k) * (wo[:, 2] * (1 - k) + k))
    fresnel = 0.04 + 0.96 * (1 - np.maximum((h * wi).sum(1), 0)) ** 5
    return wi[:, 2:] * (colour / np.pi + (0.25 * fresnel * density * shadow)[:, None])


class AnalyticTeacher:
    """The interface that the sampler needs."""

    lanes_per_sample = 1
    live_steps = ()
    live_knots = even_knots(0)

    def __init__(self, device):
        self.device = device
        self._kernels = device.new_kernels()

    def kernel(self, source, entry):
        return self._kernels.get((source, SOURCE), entry)

    def bindings(self):
        return {}
