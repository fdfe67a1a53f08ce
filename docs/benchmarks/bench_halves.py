"""What half floats cost the cooperative decoder, emulated in numpy on results of bakes.

    python docs/benchmarks/bench_halves.py RESULT.npz ...

Products are summed exactly and rounded once, as a device with wide sums does. Prints the largest
relative error over 512 points where the response is above 0.01: as shipped, and with
NEURAL_PRECISE=1.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from verdigris.core.bundle.evaluate import latents_at_lod
from verdigris.core.bundle.reference import choose_points
from verdigris.core.bundle.write import export_numbers
from verdigris.core.network import activations, losses
from verdigris.core.network.directions import encode_directions
from verdigris.core.network.frames import build_frame
from verdigris.core.training.checkpoint import load

Doubles = NDArray[np.float64]
WAYS = {"exact": "ee", "as shipped": "th", "first layer exact": "eh", "precise": "et"}


def half(x: Doubles) -> Doubles:
    return x.astype(np.float16).astype(np.float64)


def product(weights: Doubles, bias: Doubles, x: Doubles, way: str) -> Doubles:
    """Exact, by one half of each input, or by two."""
    if way == "e":
        return weights @ x + bias
    first = half(weights @ half(x) + bias)
    return first if way == "h" else first + half(weights @ half(x - half(x)))


def errors(path: str) -> list[float]:
    exported = export_numbers(load(Path(path)).parameters).parameters
    points = choose_points(exported.layout)
    parameters = exported.astype(np.float64)
    spec = parameters.spec
    wi, wo = points.wi.T.astype(np.float64), points.wo.T.astype(np.float64)
    latent = latents_at_lod(parameters, points.uv.T.astype(np.float64), points.lod.astype(float))
    raw = parameters.frames() @ latent
    frames = [build_frame(raw[6 * k : 6 * k + 6]) for k in range(spec.frame_count)]
    inputs = np.concatenate([latent, *(encode_directions(frame, wi, wo) for frame in frames)])
    activation = activations.FUNCTIONS[spec.activation]
    responses = []
    for first, others in WAYS.values():
        x = inputs
        for layer in spec.layers:
            weights, bias = parameters.weights(layer), parameters.bias(layer)[:, None]
            if layer is spec.layers[-1]:
                x = weights @ x + bias
            else:
                way = first if layer is spec.layers[0] else others
                x = activation.value(product(weights, bias, x, way))
        response = np.exp(losses.limited_exponent(spec, x))
        response[:, (wi[2] <= 0) | (wo[2] <= 0)] = 0
        responses.append(response)
    exact = responses[0]
    return [float((np.abs(each - exact) / np.maximum(exact, 0.01)).max()) for each in responses[1:]]


def main() -> None:
    names = list(WAYS)[1:]
    print(f"| material | {' | '.join(names)} |\n{'| --- ' * (1 + len(names))}|")
    for path in sys.argv[1:]:
        cells = " | ".join(f"{each:.4f}" for each in errors(path))
        print(f"| {Path(path).name.split('.')[0]} | {cells} |")


if __name__ == "__main__":
    main()
