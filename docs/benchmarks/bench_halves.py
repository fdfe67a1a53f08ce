"""What half floats cost the cooperative decoder, emulated in numpy on bundles.

    python docs/benchmarks/bench_halves.py BUNDLE ...

Prints the largest relative error on the bundle's reference points where the response is above 0.01,
as shipped and with NEURAL_CAREFUL=1: on a device that rounds a sum to half floats once, and on one
that begins with the bias and rounds to half floats after every 16 products, as an H200 does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from verdigris.core.bundle.evaluate import latents_at_lod
from verdigris.core.bundle.read import open_bundle
from verdigris.core.network import activations, losses
from verdigris.core.network.directions import encode_directions
from verdigris.core.network.frames import build_frame

Doubles = NDArray[np.float64]
# Name -> whether the first layer is plain code, and how many products are summed exactly.
WAYS = {
    "as shipped": (False, 1 << 30),
    "as shipped, 16 products": (False, 16),
    "careful": (True, 1 << 30),
    "careful, 16 products": (True, 16),
}


def half(x: Doubles) -> Doubles:
    return x.astype(np.float16).astype(np.float64)


def summed(weights: Doubles, bias: Doubles | float, x: Doubles, products: int) -> Doubles:
    found: Doubles = np.zeros((len(weights), x.shape[1])) + bias
    for first in range(0, len(x), products):
        part = slice(first, first + products)
        found = half(found + weights[:, part] @ x[part])
    return found


def first_layer(weights: Doubles, bias: Doubles, x: Doubles, products: int) -> Doubles:
    # cut off, not rounded: by bits
    high = (x.astype(np.float32).view(np.uint32) & 0xFFFFE000).view(np.float32).astype(np.float64)
    found = summed(weights, bias, high, products)
    return found + summed(weights, 0.0, half(x - high), products)


def errors(path: str) -> list[float]:
    bundle = open_bundle(Path(path))
    points, parameters = bundle.reference(), bundle.parameters().astype(np.float64)
    spec = parameters.spec
    wi, wo = points.wi.T.astype(np.float64), points.wo.T.astype(np.float64)
    latent = latents_at_lod(parameters, points.uv.T.astype(np.float64), points.lod.astype(float))
    raw = parameters.frames() @ latent
    frames = [build_frame(raw[6 * k : 6 * k + 6]) for k in range(spec.frame_count)]
    inputs = np.concatenate([latent, *(encode_directions(frame, wi, wo) for frame in frames)])
    activate = activations.FUNCTIONS[spec.activation].value
    is_above = (wi[2] > 0) & (wo[2] > 0)
    responses = []
    for way in (None, *WAYS.values()):
        x = inputs
        for each in spec.layers[:-1]:
            weights, bias = parameters.weights(each), parameters.bias(each)[:, None]
            is_first = each is spec.layers[0]
            if way is None or (way[0] and is_first):
                x = activate(weights @ x + bias)
            elif is_first:
                x = activate(first_layer(weights, bias, x, way[1]))
            else:
                x = activate(summed(weights, bias, half(x), way[1]))
        last = spec.layers[-1]
        x = parameters.weights(last) @ x + parameters.bias(last)[:, None]
        responses.append(np.exp(losses.limited_exponent(spec, x)) * is_above)
    exact = responses[0]
    return [float((np.abs(each - exact) / np.maximum(exact, 0.01)).max()) for each in responses[1:]]


def main() -> None:
    print(f"| material | {' | '.join(WAYS)} |\n{'| --- ' * (1 + len(WAYS))}|")
    for path in sys.argv[1:]:
        cells = " | ".join(f"{each:.4f}" for each in errors(path))
        print(f"| {Path(path).name.split('.')[0]} | {cells} |")


if __name__ == "__main__":
    main()
