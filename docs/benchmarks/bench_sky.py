"""Errors of bakes in the columns of docs/BENCHMARKS.md: on samples, of a picture and under a sky.

    python docs/benchmarks/bench_sky.py [FILE ...] [--preset P] [--seeds N] [--device D]
        [--set resolution=256 ...]
    python docs/benchmarks/bench_sky.py [FILE ...] --bundles FOLDER

Bakes each FILE, the examples by default; with --bundles it measures the bundles of these names that
are there, such as those of bench_bake.py --keep FOLDER. The light under a sky is evaluated on every
device as much as a bake on a GPU does at its end, so that figures can be compared;
core/baking/measure/sky.py has the measure. The other figures are those of the bake.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from runs import EXAMPLES, bake_and_load, begin, describe

from verdigris.core.baking.measure.sky import FULL_PLAN, measure_sky
from verdigris.core.base.device import Device
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.student import Student
from verdigris.core.settings.presets import Recipe

HEADER = "| material | log MAE | sphere dB | FLIP | sky median | 90th | bias |"


def print_row(
    name: str, errors: Mapping[str, Any], teacher: Teacher, parameters: Parameters
) -> None:
    """`errors` are those of a manifest."""
    student = Student(parameters, teacher.device)
    sky = measure_sky(teacher, student, parameters.layout.width, FULL_PLAN)
    cells = [
        f"{errors['samples']['log_mae']:.4f}",
        f"{errors['sphere']['psnr']:.1f}",
        f"{errors['sphere']['ldr_flip']:.4f}",
        *(f"{value:.3f}" for value in (sky.median, sky.p90)),
        f"{sky.bias:+.4f}",
    ]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def measure_bundle(path: Path, source: Path, device: Device) -> None:
    bundle, document = open_bundle(path), load_document(source)
    teacher = Teacher(document, document.require_material(bundle.source_name), device)
    print_row(path.stem, bundle.manifest.errors, teacher, bundle.parameters())


def measure_bakes(path: Path, recipe: Recipe, seeds: int, device: Device) -> None:
    teacher = Teacher(load_document(path), device=device)
    for seed in range(seeds):
        event, parameters, _ = bake_and_load(teacher, recipe.changed({"seed": seed}))
        errors = {"samples": asdict(event.samples[0]), "sphere": asdict(event.pictures[0])}
        name = f"{path.stem}, seed {seed}" if seeds > 1 else path.stem
        print_row(name, errors, teacher, parameters)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--bundles", type=Path, metavar="FOLDER")
    options, device, recipe = begin(parser)
    print(f"{device}: {options.bundles or describe(options)}")
    print(f"{HEADER}\n{'| --- ' * 7}|")
    for path in options.files or sorted(EXAMPLES.glob("*.mtlx")):
        if options.bundles:
            measure_bundle(options.bundles / f"{path.stem}.vdg", path, device)
        else:
            measure_bakes(path, recipe, options.seeds, device)


if __name__ == "__main__":
    main()
