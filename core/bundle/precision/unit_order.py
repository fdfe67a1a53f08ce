"""Which unit of a hidden layer comes where: the last few are decoded in plain code, where a bundle
asks for that, so those belong there that half floats would harm most.

A decoder's steep parts are sums of large products that leave little. Few units make them, and what
a half drops of one of these is magnified; the order of units means nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.reference import choose_points
from verdigris.core.bundle.files.weights import round_decoder
from verdigris.core.bundle.precision.halves import rounding_harm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from verdigris.core.network.parameters import Parameters


def with_units_in_order(parameters: Parameters) -> Parameters:
    """The same decoder, of each hidden layer behind the first the units last that halves harm most
    at the points of a reference, of all its materials."""
    rounded = replace(parameters, decoder=round_decoder(parameters.decoder))
    points, floor = choose_points(parameters.layout), Bounds().floor
    materials = map(rounded.of_material, range(parameters.layout.materials))
    harms = [rounding_harm(numbers, points, floor) for numbers in materials]
    orders = [
        np.argsort(np.max(layer, axis=0), kind="stable") for layer in zip(*harms, strict=True)
    ]
    return _reordered(parameters, orders)


def _reordered(parameters: Parameters, orders: Sequence[NDArray[np.intp]]) -> Parameters:
    """With the units of the hidden layers behind the first in these orders."""
    result = replace(parameters, decoder=parameters.decoder.copy())
    layers = parameters.spec.layers
    for layer, behind, order in zip(layers[1:], layers[2:], orders, strict=False):
        for rows in (result.weights(layer), result.bias(layer)):
            rows[:] = rows[order]
        columns = result.weights(behind)
        columns[:] = columns[:, order]
    return result
