"""Compares bakes with and without an importance map, inside and outside of the paint.

    python docs/benchmarks/bench_paint.py [FILE MAP | NAME ...] [--networks 2x32] [--seeds 3]
        [--set resolution=128 iterations=2000 batch=2048 ...]

NAME is an example that has a map in examples/importance. FILE is a document, and MAP its importance
map. Each material is baked without the map, then with it, at the same number of steps. A cell is
the error with the map over the error without it, both means over seeds. Seconds are those of
training.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from runs import EXAMPLES, begin, describe

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.measure.measure import HeldOut, draw_held_out, texel_footprint
from verdigris.core.baking.state.run import Run
from verdigris.core.importance.maps import read_importance
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.student import Student
from verdigris.core.pictures.compare.metrics import SampleMetrics, measure_samples
from verdigris.core.progress import Phase
from verdigris.core.settings.presets import Recipe

SAMPLES = 1 << 17
COLUMNS = ("log MAE in", "out", "SMAPE in", "out", "s")


@dataclass(frozen=True)
class RegionErrors:
    """Errors of a student by region of its importance map; None without samples in the region."""

    inside: SampleMetrics | None
    outside: SampleMetrics | None
    """Without the places of weight 0."""
    seconds: float = 0.0


def painted_area(weights: np.ndarray) -> np.ndarray:
    """Where the weights are above their mean without zeros; where they are not 0 if all of those
    are equal."""
    live = weights > 0
    area = weights > weights[live].mean(dtype=np.float64)
    return area if area.any() else live


def measure_regions(student: Student, held_out: HeldOut, weights: np.ndarray) -> RegionErrors:
    prediction = student.response(held_out.uv, held_out.wi, held_out.wo)
    row, column = (
        np.minimum((held_out.uv[:, axis] * size).astype(np.int64), size - 1)
        for axis, size in ((1, weights.shape[0]), (0, weights.shape[1]))
    )
    inside = painted_area(weights)[row, column]
    outside = ~inside & (weights[row, column] > 0)
    found = [
        measure_samples(prediction[part], held_out.response[part]) if part.any() else None
        for part in (inside, outside)
    ]
    return RegionErrors(*found)


def bake_and_measure(
    teacher: Teacher, recipe: Recipe, weights: np.ndarray, is_painted: bool
) -> RegionErrors:
    held_out = draw_held_out(teacher, SAMPLES, footprint=texel_footprint(recipe.largest.resolution))
    runs: list[Run] = []
    control = BakeControl(watch=runs.append)
    with tempfile.TemporaryDirectory() as folder:
        options = BakeOptions(
            "result", Path(folder), importance=weights if is_painted else None, metrics_seconds=1e9
        )
        events = bake([teacher], recipe, options, control)
        # training is over; the rest of the bake is not measured
        next(event for event in events if isinstance(event, Phase) and event.name == "measuring")
        run = runs[0]
        found = measure_regions(run.learner.current_student(), held_out, weights)
        events.close()
    return replace(found, seconds=run.clock.seconds)


def figures(found: RegionErrors) -> list[float]:
    regions = (found.inside, found.outside)
    return [
        *(each.log_mae if each else np.nan for each in regions),
        *(each.smape if each else np.nan for each in regions),
        found.seconds,
    ]


def chosen_materials(names: list[str]) -> list[tuple[Path, Path]]:
    """Documents and their importance maps."""
    if len(names) == 2 and Path(names[0]).suffix == ".mtlx":
        return [(Path(names[0]), Path(names[1]))]
    return [(EXAMPLES / f"{name}.mtlx", EXAMPLES / "importance" / f"{name}.exr") for name in names]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["copper_tray", "foil_stamp", "pearl_inlay"])
    parser.add_argument("--networks", nargs="*", default=["2x32"])
    parser.add_argument("--seeds", type=int, default=3)
    options, device, base = begin(parser)
    print(f"{device}: {describe(options)}\n")
    print(f"| material | decoder | map | {' | '.join(COLUMNS)} |")
    print("| --- " * (3 + len(COLUMNS)) + "|")
    for path, map_path in chosen_materials(options.names):
        teacher = Teacher(load_document(path), device=device)
        weights = read_importance(map_path)
        area = painted_area(weights).mean()
        for network in options.networks:
            plain = np.zeros(0)
            for is_painted in (False, True):
                recipe = base.changed({"network": network})
                found = [
                    bake_and_measure(teacher, recipe.changed({"seed": seed}), weights, is_painted)
                    for seed in range(options.seeds)
                ]
                mean = np.mean([figures(each) for each in found], 0)
                if is_painted:
                    cells = [f"{value:.2f}" for value in (mean / plain)[:4]]
                else:
                    plain = mean
                    cells = [f"{value:.4f}" for value in mean[:4]]
                kind = "painted" if is_painted else f"none ({area:.0%} painted)"
                row = " | ".join((*cells, f"{mean[4]:.0f}"))
                print(f"| {path.stem} | {network} | {kind} | {row} |", flush=True)


if __name__ == "__main__":
    main()
