"""Random parameters, and random samples to train with."""

import numpy as np

from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout
from verdigris.core.sampling.draw_samples import TRAINING_SAMPLE

LAYOUT = LatentLayout(16, 8, levels=3, materials=2)


def random_batch(count, seed=0):
    random = np.random.default_rng(seed)
    batch = np.zeros(count, TRAINING_SAMPLE)
    batch["uv"] = random.uniform(-1, 2, (count, 2))
    batch["level"] = random.integers(0, LAYOUT.levels, count)
    batch["material"] = random.integers(0, LAYOUT.materials, count)
    for name in ("wi", "wo"):
        vectors = random.standard_normal((count, 3))
        vectors[:, 2] = np.abs(vectors[:, 2])
        batch[name] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    batch["response"] = random.exponential(0.3, (count, 3))
    batch["weight"] = random.uniform(0.5, 2, count)
    batch["live"] = random.random((count, 3))
    return batch


def random_parameters(spec, seed=0):
    parameters = initialise(spec, LAYOUT, seed)
    random = np.random.default_rng(seed)
    parameters.latents[:] = random.standard_normal(parameters.latents.shape)
    parameters.decoder[:] += 0.1 * random.standard_normal(parameters.decoder.shape)
    return parameters


class Samples:
    """Implements SampleSource: random samples, and what a test changes of them."""

    pairs = 1

    def __init__(self, change=lambda batch: None):
        self._change = change

    def draw(self, step, count):
        batch = random_batch(count, step)
        self._change(batch)
        return batch
