"""Error and seconds of bakes.

    python docs/benchmarks/bench_bake.py --preset standard [FILE ...] [--seeds N]
        [--first-seed K] [--corpus DIR] [--device D] [--set resolution=256 ...] [--keep DIR]

Without FILE: the six examples that are measured, and six documents of MaterialX's own below
--corpus. With --keep their bundles are left there. Seconds are those of training, with the kernels
that a first bake compiles; the error measures are those of `verdigris measure`.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from runs import EXAMPLES, begin, describe

from verdigris.core.baking.bake import BakeOptions, bake
from verdigris.core.base.device import open_device
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.progress import Finished, Started
from verdigris.core.settings.presets import Recipe

OWN = (
    "copper_tray",
    "glazed_tile",
    "brushed_steel",
    "car_paint",
    "two_tone_velvet",
    "painted_wood",
)
FOREIGN = (
    "StandardSurface/standard_surface_wood_tiled",
    "StandardSurface/standard_surface_marble_solid",
    "StandardSurface/standard_surface_brick_procedural",
    "OpenPbr/open_pbr_carpaint",
    "StandardSurface/standard_surface_velvet",
    "GltfPbr/gltf_pbr_boombox",
)


def files(options: argparse.Namespace) -> Iterator[Path]:
    if options.files:
        yield from map(Path, options.files)
        return
    if options.corpus:
        folder = Path(options.corpus) / "resources" / "Materials" / "Examples"
        yield from (folder / f"{name}.mtlx" for name in FOREIGN)
    yield from (EXAMPLES / f"{name}.mtlx" for name in OWN)


def run(path: Path, recipe: Recipe, device: str, name: str, keep: Path | None) -> dict[str, float]:
    opened = open_device(device)
    teacher = Teacher(load_document(path), device=opened)
    begun = time.perf_counter()
    started = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for event in bake([teacher], recipe, BakeOptions(name, keep or Path(folder))):
            if isinstance(event, Started):
                started = time.perf_counter() - begun
    assert isinstance(event, Finished)
    samples, picture = event.samples[0], event.pictures[0]
    return {
        "log MAE": samples.log_mae,
        "SMAPE": samples.smape,
        "rel. L1": samples.relative_l1,
        "sphere dB": picture.psnr,
        "FLIP": picture.ldr_flip,
        "prepare s": started,
        "train s": event.seconds,
        "ms/step": 1000 * event.seconds / event.step,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--corpus")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    options, device, recipe = begin(parser)
    print(f"{device}: {describe(options)}")
    rows: list[dict[str, float]] = []
    for path in files(options):
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            name = f"{path.stem}_{seed}" if options.seeds > 1 else path.stem
            chosen = recipe.changed({"seed": seed})
            row = run(path, chosen, options.device, name, options.keep)
            if not rows:
                print(f"| material | {' | '.join(row)} |\n{'| --- ' * (len(row) + 1)}|")
            rows.append(row)
            cells = " | ".join(f"{value:.5f}" for value in row.values())
            print(f"| {name} | {cells} |", flush=True)
    medians = (statistics.median(row[name] for row in rows) for name in rows[0])
    print(f"| median | {' | '.join(f'{value:.5f}' for value in medians)} |")


if __name__ == "__main__":
    main()
