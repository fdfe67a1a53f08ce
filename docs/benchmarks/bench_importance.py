"""Times of importance maps: drawing from a mesh, summing to a distribution, filling masked texels.

    python docs/benchmarks/bench_importance.py [--side 1000] [--size 2048] [--map 1024]

The mesh is a jittered grid of 2 x side x side triangles in the unit square. Each time is also
printed relative to one numpy pass over as many numbers as there are pairs of triangle and texel,
because this ratio depends less on the load of the machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from verdigris.core.geometry.uv_cover import touches
from verdigris.core.importance.fill import fill_masked
from verdigris.core.importance.from_mesh import MapSettings, weight_maps
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, require_preset
from verdigris.core.sampling.distribution import distribution_of


def sheet(side: int) -> tuple[np.ndarray, np.ndarray]:
    """uv (T, 3, 2) and weights (T, 3) of a jittered grid with paint in its middle."""
    random = np.random.default_rng(0)
    u, v = np.meshgrid(np.linspace(0, 1, side + 1), np.linspace(0, 1, side + 1))
    points = np.stack([u, v], -1)
    points[1:-1, 1:-1] += random.uniform(-0.2, 0.2, (side - 1, side - 1, 2)) / side
    number = np.arange((side + 1) ** 2).reshape(side + 1, side + 1)
    a, b, c, d = (
        n.ravel() for n in (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1])
    )
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    painted = 1 + 7 * np.exp(-20 * ((u - 0.5) ** 2 + (v - 0.5) ** 2)).ravel()
    return points.reshape(-1, 2)[triangles], painted[triangles].astype(np.float32)


def best_of(repeats: int, work: Callable[[], object]) -> float:
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=1000)
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--map", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    uv, weights = sheet(options.side)
    settings = MapSettings(size=options.size)
    seconds = best_of(options.repeats, lambda: weight_maps(uv, weights, settings))
    found = sum(len(each.x) for each in touches(uv * options.size, options.size, options.size))
    numbers = np.ones(found)
    once = best_of(options.repeats, lambda: np.add(numbers, 1.0, out=numbers))
    print(f"{len(uv)} triangles at {options.size} x {options.size}")
    print(f"pairs of triangle and texel {found / 1e6:.1f} M")
    print(f"from mesh to map {seconds:.2f} s = {seconds / once:.0f} passes over the pairs")

    painted = random_map(options.map)
    seconds = best_of(5 * options.repeats, lambda: distribution_of(painted))
    numbers = np.ones(painted.size)
    once = best_of(5 * options.repeats, lambda: np.add(numbers, 1.0, out=numbers))
    print(f"\nmap of {options.map} x {options.map}")
    print(f"to distribution {1000 * seconds:.1f} ms = {seconds / once:.0f} passes over its texels")

    size = options.map
    layout = LatentLayout(size, size, int(np.log2(size)) + 1)
    parameters = initialise(require_preset("2x16"), layout, 0)
    masked = painted < 4
    seconds = best_of(1, lambda: fill_masked(parameters, masked))
    print(f"filling of masked latent texels ({masked.mean():.0%}) {seconds:.2f} s")


def random_map(size: int) -> np.ndarray:
    """A smooth pattern with weights from 1 to 8."""
    u, v = np.meshgrid(*[np.linspace(0, 1, size, dtype=np.float32)] * 2)
    return 1 + 7 * (0.5 + 0.5 * np.sin(9 * u) * np.sin(7 * v)) ** 2


if __name__ == "__main__":
    main()
