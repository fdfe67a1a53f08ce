"""Relative error of the proxies' directional albedo against quadrature.

    python docs/benchmarks/bench_albedo.py BUNDLE ... [--evaluations N] [--lights N] [--numpy]
        [--device D]

Makes the proxies of each bundle again and compares them with a quadrature of 4 x 2,048 lights, at
random places and views, three quarters of them on the finest level of the proxies. The defaults are
those of `standard` on a graphics card. With --numpy lights come of the sampler and are summed as a
bake on a processor does; a bundle without a sampler gets one first. Reciprocity is the relative
difference of the response with light and view exchanged, median and 90th percentile.

*Above 1.05* is the share of 4,096 random places and views, with cosines from .02, at which the
decoder returns more than 1.05 of a white sky in any channel, and *99.9%* the albedo that a
thousandth of them exceed. The brightest fiftieth is summed again over 16 times the directions, so
that noise does not count.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from verdigris.core.baking.finish.fit_sampler import effort_on, fit_sampler
from verdigris.core.base.array_types import Floats
from verdigris.core.base.device import open_device
from verdigris.core.bundle.files.read import Bundle, open_bundle
from verdigris.core.bundle.proxies.light_sums import sums_on
from verdigris.core.bundle.proxies.lobes import draw_lights, learned_frames, light_counts
from verdigris.core.bundle.proxies.make_proxies import (
    FEWEST_LIGHTS_ON_GPU,
    check_albedo,
    make_proxies,
)
from verdigris.core.bundle.proxies.quadrature import Respond, evaluate, find_shares, polar
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.student import Student

EVALUATIONS, PLACES, LIGHTS = 25_000_000, 192, 2_048
# Views whose albedo may exceed 1, the directions for each, and how much more for the brightest.
VIEWS, DIRECTIONS, MORE, BRIGHTEST = 4_096, 256, 16, 1 / 50
LEAST_COSINE, EXCESS, MOST = 0.02, 1.05, 0.999
HEADER = (
    "| material | texels | median | 90% | largest albedo | above 1.05 | 99.9% | reciprocity "
    "| seconds |"
)


def albedo_of_views(parameters: Parameters, respond: Respond) -> Floats:
    """The largest channel of the albedo at random places and views of the finest level."""
    random = np.random.default_rng(5)
    uv = random.random((VIEWS, 2), np.float32)
    wo = polar(random.uniform(LEAST_COSINE, 1, VIEWS), 2 * np.pi * random.random(VIEWS))
    frames = learned_frames(parameters, uv, np.zeros(VIEWS, np.float32))
    shares = find_shares(respond, frames.part(slice(256)), uv[:256], random)

    def sums(chosen: NDArray[np.intp], directions: int) -> Floats:
        counts, at_once = light_counts(shares, directions), (1 << 18) // directions
        parts = []
        for first in range(0, len(chosen), at_once):
            part = chosen[first : first + at_once]
            shift = random.random((2, len(part)), np.float32)
            wi, density = draw_lights(frames.part(part), wo[:, part], counts, shift)
            light = evaluate(respond, uv[part], wi, wo[:, part]) / density
            parts.append(light.mean(-1).max(0))
        return np.concatenate(parts)

    found = sums(np.arange(VIEWS), DIRECTIONS)
    brightest = np.argsort(found)[-round(BRIGHTEST * VIEWS) :]
    found[brightest] = sums(brightest, MORE * DIRECTIONS)
    return found


def row_of(bundle: Bundle, student: Student, evaluations: int, lights: int, in_numpy: bool) -> str:
    parameters = bundle.parameters()
    student.update(parameters)
    if parameters.head is None:
        effort = effort_on(student.device)
        parameters.head = fit_sampler(parameters.spec, lambda: [(parameters, student)], effort)
    last = parameters.layout.levels - 1

    def respond_at(lod: float) -> Respond:
        def respond(uv, wi, wo):
            student.level = float(np.clip(max(lod / 2, lod - 1), 0, last))
            return student.response(uv, wi, wo)

        return respond

    begin = time.perf_counter()
    sum_over = None if in_numpy else sums_on(student)
    made = make_proxies(parameters, respond_at, evaluations, sum_over, lights)
    seconds = time.perf_counter() - begin
    views = albedo_of_views(parameters, respond_at(0))
    error = check_albedo(parameters, made.proxies, PLACES, LIGHTS)
    _, height, width, _ = made.proxies.levels[0].shape
    middle, most = made.reciprocity
    return (
        f"| {bundle.manifest.name} | {width} x {height} | {100 * error.median:.1f}% | "
        f"{100 * error.percentile_90:.1f}% | {made.largest_albedo:.3f} | "
        f"{100 * (views > EXCESS).mean():.2f}% | {np.quantile(views, MOST):.3f} | "
        f"{100 * middle:.0f} / {100 * most:.0f}% | {seconds:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("bundles", nargs="+", type=Path)
    parser.add_argument("--evaluations", type=int, default=EVALUATIONS)
    parser.add_argument("--lights", type=int, default=FEWEST_LIGHTS_ON_GPU)
    parser.add_argument("--numpy", action="store_true")
    parser.add_argument("--device")
    arguments = parser.parse_args()
    device = open_device(arguments.device)
    print(f"{device}, {arguments.evaluations:,} evaluations\n\n{HEADER}")
    print("| --- |" + " --- |" * (HEADER.count("|") - 2))
    for path in arguments.bundles:
        bundle = open_bundle(path)
        # bundles can have decoders of several shapes
        student = Student(bundle.parameters(), device)
        counts = arguments.evaluations, arguments.lights
        print(row_of(bundle, student, *counts, arguments.numpy), flush=True)


if __name__ == "__main__":
    main()
