"""Made-up numbers of a material, as a bundle stores them."""

import numpy as np

from verdigris.core.bundle.files.weights import pack_weights
from verdigris.core.bundle.files.write import Exported, export_numbers
from verdigris.core.bundle.runtime.device_materials import Stored
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, NetworkSpec


def made_up(
    spec: NetworkSpec, width: int = 16, height: int = 8, seed: int = 0, quantised: bool = True
) -> Exported:
    """Large enough that no frame is the identity and every input matters."""
    layout = LatentLayout(width, height, max(width, height).bit_length())
    parameters = initialise(spec, layout, seed)
    random = np.random.default_rng(seed)
    parameters.latents[:] = random.standard_normal(parameters.latents.shape)
    parameters.decoder += 0.1 * random.standard_normal(parameters.decoder.shape).astype(np.float32)
    return export_numbers(parameters, quantised=quantised)


def stored(exported: Exported) -> Stored:
    weights, _ = pack_weights(exported.parameters)
    return Stored(exported.parameters.spec, weights, exported.latents)
