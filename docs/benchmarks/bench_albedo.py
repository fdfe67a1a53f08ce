"""Relative error of the proxies' directional albedo against quadrature.

    python docs/benchmarks/bench_albedo.py BUNDLE ... [--evaluations N] [--lights N] [--numpy]
        [--device D]

Makes the proxies of each bundle again and compares them with a quadrature of 4 x 2,048 lights, at
random places and views, three quarters of them on the finest level of the proxies. The defaults are
those of `standard` on a graphics card. With --numpy lights come of the sampler and are summed as a
bake on a processor does; a bundle without a sampler gets one first. Reciprocity is the relative
difference of the response with light and view exchanged, median and 90th percentile.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from verdigris.core.baking.finish.fit_sampler import effort_on, fit_sampler
from verdigris.core.base.device import open_device
from verdigris.core.bundle.files.read import Bundle, open_bundle
from verdigris.core.bundle.proxies.light_sums import sums_on
from verdigris.core.bundle.proxies.make_proxies import (
    FEWEST_LIGHTS_ON_GPU,
    check_albedo,
    make_proxies,
)
from verdigris.core.bundle.proxies.quadrature import Respond
from verdigris.core.network.student import Student

EVALUATIONS, PLACES, LIGHTS = 25_000_000, 192, 2_048
HEADER = "| material | texels | median | 90% | largest albedo | reciprocity | seconds |"


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
    error = check_albedo(parameters, made.proxies, PLACES, LIGHTS)
    _, height, width, _ = made.proxies.levels[0].shape
    middle, most = made.reciprocity
    return (
        f"| {bundle.manifest.name} | {width} x {height} | {100 * error.median:.1f}% | "
        f"{100 * error.percentile_90:.1f}% | {made.largest_albedo:.3f} | "
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
