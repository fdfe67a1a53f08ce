"""Nanoseconds of a query to each material of a scene pack that transmits: by that of opaque packs,
which evaluates light from above alone, and by the pack's shader, which knows both kinds.

verdigris pack leaf.vdg frosted_glass.vdg brick_wall.vdg copper_tray.vdg -o set.vdg
python docs/benchmarks/bench_pack.py set.vdg

A query is a preparation, a draw, and two responses with densities; half of the light comes from
below. `differ` counts the numbers of answers that differ between both shaders: 0 for an opaque
material. `error` is the largest relative difference of the pack's responses from numpy; a few
percent are those of the texture unit's filter.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from verdigris.core.base.device import open_device
from verdigris.core.bundle.cost.time_responses import time_dispatch
from verdigris.core.bundle.runtime.device_materials import RuntimeChoice, fastest_advised
from verdigris.core.bundle.runtime.evaluate_queries import (
    ANSWER,
    QUERIES,
    QueryEvaluator,
    as_queries,
)
from verdigris.core.bundle.runtime.runtime_files import ENTRY_POINT
from verdigris.core.bundle.scene.scene_pack import open_scene
from verdigris.core.network.numpy_mlp import evaluate_at_lod

_REPEATS = 15
_CHECKED, _FLOOR = 4096, 0.01


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path)
    parser.add_argument("--queries", type=int, default=0, help="Default: by the device.")
    parser.add_argument("--device")
    given = parser.parse_args()
    scene, device = open_scene(given.pack), open_device(given.device)
    count = given.queries or (1 << 14 if device.is_software else 1 << 20)
    random = np.random.default_rng(0)
    uv, numbers = random.random((2, count, 2)).astype(np.float32)
    wi, wo = (_hemisphere(random, count) for _ in range(2))
    wi[::2, 2] *= -1
    place = [each[:_CHECKED].astype(np.float64) for each in (uv, wi, wo)]
    wanted = [
        evaluate_at_lod(each.astype(np.float64), place[0], np.zeros(_CHECKED), *place[1:])
        for each in scene.parameters()
    ]
    stored, plain = scene.stored(), RuntimeChoice(filter="sampler")
    fastest = replace(fastest_advised(device, scene.advised), filter="sampler")
    for choice in {plain, fastest}:
        shaders = [
            QueryEvaluator(stored, device, each)
            for each in (choice, replace(choice, in_pairs=True))
        ]
        for index, material in enumerate(scene.materials):
            runs = []
            for shader, place in zip(shaders, (index, 2 * index), strict=True):
                live = shader.materials.live_of_queries(None, count)
                queries = as_queries(uv, 0.0, wi, wo, place, *numbers.T, live)
                answers = device.new_buffer(np.zeros(count, ANSWER))
                variables = {
                    "neuralQueries": device.new_buffer(queries),
                    "neuralQueryCount": count,
                    "neuralAnswers": answers,
                    **shader.materials.bindings(),
                }
                kernel = shader.materials.kernel((QUERIES,), ENTRY_POINT)
                runs.append((kernel, variables))
            taken = [
                [time_dispatch(device, kernel, count, variables) for kernel, variables in runs]
                for _ in range(_REPEATS)
            ]
            before, after = 1e9 * np.min(taken, axis=0) / count
            one, two = (
                variables["neuralAnswers"].to_numpy().view(np.uint8).view(ANSWER)
                for _, variables in runs
            )
            bits = one.view(np.uint32) != two.view(np.uint32)
            error = np.abs(two["response"][:_CHECKED] - wanted[index])
            error /= np.maximum(wanted[index], _FLOOR)
            kind = "transmits" if material.transmitted else "opaque"
            print(
                f"{choice.decoder:<12} {material.name:<20} {kind:<10} {before:8.2f} ns  "
                f"{after:8.2f} ns  {after / before:5.2f}  differ {bits.sum()}"
                f"  error {error.max():.2g}"
            )


def _hemisphere(random: np.random.Generator, count: int) -> np.ndarray:
    """Unit vectors above the surface."""
    vectors = random.standard_normal((count, 3))
    vectors[:, 2] = np.abs(vectors[:, 2]) + 0.05
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


if __name__ == "__main__":
    main()
