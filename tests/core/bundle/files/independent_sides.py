"""A decoder of bundles that transmit, written from docs/FORMAT.md alone, without Verdigris."""

import json
from pathlib import Path

import numpy as np

from .independent_decoder import Material, dot, read_tensors
from .independent_sampler import Sampler


def normalise(v):
    return v / np.sqrt(dot(v, v))


class Sides:
    def __init__(self, folder):
        manifest = json.loads((Path(folder) / "manifest.json").read_text())
        self.above = Material(folder)
        self.sampler_above = Sampler(folder)
        self.below = None
        if "transmission" not in manifest:
            return
        facts = manifest["transmission"]
        self.index = facts["index"]
        own = {**manifest, "weights": {**manifest["weights"], "file": facts["weights"]["file"]}}
        self.below, self.sampler_below = Material(folder), Sampler(folder)
        for each in (self.below, self.sampler_below):
            each.tensors = read_tensors(folder, own, set(each.tensors))

    def mirror(self, wi, wo):
        n = self.index
        if n == 1:
            return wi * [1, 1, -1]
        h = -normalise(wo + n * wi)
        h = np.where(h[:, 2:] < 0, -h, h)
        m = 2 * dot(wo, h) * h - wo
        dark = (dot(wo, h) <= 0) | (dot(wi, h) >= 0)
        return np.where(dark, [0, 0, -1], m)

    def response(self, uv, lod, wi, wo):
        above = self.above.response(uv, lod, wi, wo)
        if self.below is None:
            return above
        m = self.mirror(wi, wo)
        below = self.below.response(uv, lod, m, wo)
        return np.where(wi[:, 2:] < 0, below, above)

    def density(self, uv, lod, wo, wi, q):
        m, n = self.mirror(wi, wo), self.index
        h = normalise(m + wo)
        seen, lit = dot(wo, h)[:, 0], dot(wi, h)[:, 0]
        j = 1 if n == 1 else 4 * seen * n * n * abs(lit) / (seen + n * lit) ** 2
        above = q * self.sampler_above.at(uv, lod, wo).density(wi)
        below = (1 - q) * self.sampler_below.at(uv, lod, wo).density(m) * j
        return np.where(wi[:, 2] >= 0, above, np.where(m[:, 2] > 0, below, 0))

    def draw(self, uv, lod, wo, numbers, q):
        first = numbers[:, 0]
        is_above = first < q
        rest = np.where(is_above, first / q, (first - q) / (1 - q))
        numbers = np.stack([rest, numbers[:, 1]], 1)
        above = self.sampler_above.at(uv, lod, wo).draw(numbers)
        m, n = self.sampler_below.at(uv, lod, wo).draw(numbers), self.index
        h = normalise(m + wo)
        c = dot(wo, h)
        through = (c / n - np.sqrt(np.maximum(1 - (1 - c * c) / n**2, 0))) * h - wo / n
        below = m * [1, 1, -1] if n == 1 else through
        drawn = np.where(is_above[:, None], above, m)
        result = np.where(is_above[:, None], above, below)
        dark = (drawn[:, 2:] <= 0) | (~is_above[:, None] & (n != 1) & (1 - c * c >= n * n))
        dark |= ~is_above[:, None] & (below[:, 2:] >= 0)
        return np.where(dark, 0, result)
