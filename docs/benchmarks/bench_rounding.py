"""What the decoder's half floats cost: errors of a bake's end with floats, with the nearest halves,
and with those that a bundle holds.

    python docs/benchmarks/bench_rounding.py FILE ... [--seeds N] [--preset P] [--device D]
        [--set resolution=256 ...]

Latents are rounded in all three. *sphere* is the PSNR of the picture of `verdigris measure`.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from runs import begin, describe

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.measure.measure import (
    measure_pictures,
    measure_student,
    sphere_to_compare,
)
from verdigris.core.baking.state.run import Run
from verdigris.core.bundle.files.weights import round_decoder
from verdigris.core.bundle.precision.gptq_rounding import round_gptq
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.settings.recipe import Recipe


def trained(teacher: Teacher, recipe: Recipe) -> Run:
    """A bake that has ended."""
    runs: list[Run] = []
    control = BakeControl()
    control.watch = runs.append
    with tempfile.TemporaryDirectory() as folder:
        for _ in bake([teacher], recipe, BakeOptions("result", Path(folder)), control):
            pass
    return runs[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    options, device, recipe = begin(parser)
    print(f"{device}: {describe(options)}")
    print("| material | seed | decoder | log MAE | sphere |\n" + "| --- " * 5 + "|")
    for path in options.files:
        teacher = Teacher(load_document(path), device=device)
        for seed in range(options.seeds):
            run = trained(teacher, recipe.changed({"seed": seed}))
            floats = run.learner.filled_parameters()
            stored = run.learner.stored_parameters(floats)
            for name, decoder in (
                ("floats", floats.decoder),
                ("nearest", round_decoder(floats.decoder)),
                ("bundle's", round_gptq(floats)),
            ):
                student = run.learner.current_student(replace(stored, decoder=decoder))
                samples = measure_student(student, run.held_out[0])
                sphere = measure_pictures(teacher, student, sphere_to_compare())
                cells = f"{samples.log_mae:.6f} | {sphere.psnr:.2f}"
                print(f"| {path.stem} | {seed} | {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
