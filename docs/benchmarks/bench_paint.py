"""What painted importance does to the error inside and outside of the paint.

    python docs/benchmarks/bench_paint.py [NAME ...] [--networks 2x16 2x32] [--seeds 3]
        [--powers 0 0.5 1] [--set resolution=128 iterations=2000 batch=2048 ...]

NAME is an example that has a map in examples/importance. Each is baked uniformly, then with its
map, at the same number of steps; a power says how much the loss is weighed beside the density
(`importance_in_loss`). A cell is the painted error over the uniform one, both means over seeds.
Seconds are those of training.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from runs import EXAMPLES, begin

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.measure.measure import draw_held_out, texel_footprint
from verdigris.core.baking.painted import SAMPLES, measure_regions, painted_area
from verdigris.core.baking.state.run import Run
from verdigris.core.importance.maps import read_importance
from verdigris.core.material.load.document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.progress.events import Phase
from verdigris.core.settings.bake_settings import BakeSettings

COLUMNS = ("log MAE in", "out", "SMAPE in", "out", "s")


def errors(
    teacher: Teacher, settings: BakeSettings, weights: np.ndarray, is_painted: bool
) -> list[float]:
    held_out = draw_held_out(teacher, SAMPLES, footprint=texel_footprint(settings.resolution))
    runs: list[Run] = []
    control = BakeControl(watch=runs.append)
    with tempfile.TemporaryDirectory() as folder:
        options = BakeOptions(
            "result", Path(folder), importance=weights if is_painted else None, metrics_seconds=1e9
        )
        events = bake([teacher], settings, options, control)
        # what a bundle needs beside is of no interest here
        next(event for event in events if isinstance(event, Phase) and event.name == "measuring")
        run = runs[0]
        found = measure_regions(run.current_student(), held_out, weights)
        events.close()
    return [
        found.inside.log_mae,
        found.outside.log_mae,
        found.inside.smape,
        found.outside.smape,
        run.seconds,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["copper_tray", "foil_stamp", "pearl_inlay"])
    parser.add_argument("--networks", nargs="*", default=["2x16", "2x32"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--powers", nargs="*", type=float, default=[0.0, 0.5, 1.0])
    options, device, base = begin(parser)
    print(f"{device}: {options.preset}, {base.text()}\n")
    print(f"| material | decoder | map | {' | '.join(COLUMNS)} |")
    print("| --- " * (3 + len(COLUMNS)) + "|")
    for name in options.names:
        teacher = Teacher(load_document(EXAMPLES / f"{name}.mtlx"), device=device)
        weights = read_importance(EXAMPLES / "importance" / f"{name}.exr")
        for network in options.networks:
            uniform = None
            for power in [None, *options.powers]:
                draw = replace(base.draw, importance_in_loss=power or 0.0)
                settings = replace(base, network=network, draw=draw)
                rows = [
                    errors(teacher, replace(settings, seed=seed), weights, power is not None)
                    for seed in range(options.seeds)
                ]
                mean = np.mean(rows, 0)
                if uniform is None:
                    uniform = mean
                    cells = [f"{value:.4f}" for value in mean[:4]] + [f"{mean[4]:.0f}"]
                    kind = f"none ({painted_area(weights).mean():.0%} painted)"
                else:
                    cells = [f"{value:.2f}" for value in (mean / uniform)[:4]] + [f"{mean[4]:.0f}"]
                    kind = f"power {power:g}"
                print(f"| {name} | {network} | {kind} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
