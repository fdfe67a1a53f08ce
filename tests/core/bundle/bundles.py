"""Small bundles for tests: random numbers of every kind of network, written as a bake would."""

import numpy as np

from verdigris.core.bundle.read import open_bundle
from verdigris.core.bundle.write import Contents, export_numbers, write_bundle
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, NetworkSpec

SMALL = LatentLayout(8, 4, 4)


def lively_parameters(spec=None, layout=SMALL, seed=3):
    """Random numbers far enough from zero that frames turn and responses differ by decades."""
    spec = spec or NetworkSpec(hidden_width=16, activation="silu")
    parameters = initialise(spec, layout, seed)
    parameters.latents *= 8
    parameters.frames()[:] *= 4
    random = np.random.default_rng(seed)
    for layer in spec.layers:
        parameters.bias(layer)[:] = 0.3 * random.standard_normal(layer.outputs)
    parameters.weights(spec.layers[-1])[:] *= 4
    return parameters


def make_bundle(path, parameters=None, quantised=True, **contents):
    """Writes and opens a bundle."""
    exported = export_numbers(parameters or lively_parameters(), quantised=quantised)
    return open_bundle(write_bundle(path, exported, Contents(**contents)))
