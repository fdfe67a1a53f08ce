"""Small bundles for tests: random numbers of every kind of network, written as a bake would."""

import numpy as np

from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.write import Contents, export_numbers, write_bundle
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


def with_sums_of(size, layer=0, width=32, units=None):
    """A decoder whose hidden layer begins with a bias of -`size` and gets it back from an input
    behind the first sixteen, so that little is left of large sums: what narrow highlights do. Where
    `units` says how many, the first of them alone have it."""
    parameters = lively_parameters(NetworkSpec(width, 2, "silu"))
    first, second = parameters.spec.layers[:2]
    parameters.bias((first, second)[layer])[:units] -= size
    if layer == 0:
        parameters.frames()[[6, 7, 14, 15]] = 0  # not stretched, the input is near 1
        half_z = parameters.spec.inputs_of_frame(1).start + 2
        parameters.weights(first)[:, half_z] += size
    else:
        # a unit that is 2 everywhere, but for what silu leaves of it
        parameters.weights(first)[-1], parameters.bias(first)[-1] = 0, 2.2178
        parameters.weights(second)[:, -1] = 0
        parameters.weights(second)[:units, -1] = size / 2
    return export_numbers(parameters).parameters


def make_bundle(path, parameters=None, quantised=True, **contents):
    """Writes and opens a bundle."""
    exported = export_numbers(parameters or lively_parameters(), quantised=quantised)
    return open_bundle(write_bundle(path, exported, Contents(**contents)))
