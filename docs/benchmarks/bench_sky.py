"""Error of the light that a material reflects under a sky: what lighting in a game sees.

    python docs/benchmarks/bench_sky.py [FILE ...] [--preset P] [--seeds N] [--device D]
        [--set resolution=256 ...]
    python docs/benchmarks/bench_sky.py --bundle BUNDLE --source FILE

Bakes each FILE, the examples by default, and measures the bundle; with --bundle it measures one
that is there. Every device evaluates as much as a bake on a GPU does at its end, so that figures
can be compared; core/baking/measure/sky.py has the measure.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from runs import EXAMPLES, bake_and_load, begin, describe

from verdigris.core.baking.measure.sky import FULL_PLAN, measure_sky
from verdigris.core.base.device import Device
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.student import Student
from verdigris.core.pictures.metrics import SkyMetrics
from verdigris.core.settings.recipe import Recipe


def measure(teacher: Teacher, parameters: Parameters, device: Device) -> SkyMetrics:
    return measure_sky(teacher, Student(parameters, device), parameters.layout.width, FULL_PLAN)


def print_row(name: str, errors: SkyMetrics) -> None:
    cells = (errors.median, errors.p90, errors.largest)
    numbers = " | ".join(f"{value:.4f}" for value in cells)
    print(f"| {name} | {numbers} | {errors.bias:+.4f} |", flush=True)


def measure_bundle(path: Path, source: Path, device: Device) -> None:
    bundle, document = open_bundle(path), load_document(source)
    teacher = Teacher(document, document.require_material(bundle.source_name), device)
    print_row(path.stem, measure(teacher, bundle.parameters(), device))


def measure_bakes(path: Path, recipe: Recipe, seeds: int, device: Device) -> None:
    teacher = Teacher(load_document(path), device=device)
    for seed in range(seeds):
        _, parameters, _ = bake_and_load(teacher, recipe.changed({"seed": seed}))
        name = f"{path.stem}, seed {seed}" if seeds > 1 else path.stem
        print_row(name, measure(teacher, parameters, device))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--bundle", type=Path)
    parser.add_argument("--source", type=Path)
    options, device, recipe = begin(parser)
    if (options.bundle is None) != (options.source is None):
        parser.error("--bundle and --source belong together")
    print(f"{device}: {options.bundle or describe(options)}")
    print(f"| material | median | 90th percentile | largest | bias |\n{'| --- ' * 5}|")
    if options.bundle:
        measure_bundle(options.bundle, options.source, device)
        return
    for path in options.files or sorted(EXAMPLES.glob("*.mtlx")):
        measure_bakes(path, recipe, options.seeds, device)


if __name__ == "__main__":
    main()
