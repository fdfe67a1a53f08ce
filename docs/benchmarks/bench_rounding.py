"""What the decoder's half floats cost: errors of a bake's end with floats, with the nearest halves,
and with those that a bundle holds.

    python docs/benchmarks/bench_rounding.py FILE ... [--seeds N] [--preset P] [--device D]
        [--set resolution=256 ...]

Latents are rounded in all three. *sphere* is the picture of `verdigris measure`, *lights* the mean
of those by which whole bakes of what is the same everywhere are told apart; both in dB.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from dataclasses import replace
from pathlib import Path

from runs import begin

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.measure.measure import (
    measure_pictures,
    measure_student,
    sphere_to_compare,
)
from verdigris.core.baking.phases.picture_error import PictureJudge
from verdigris.core.baking.state.run import Run
from verdigris.core.bundle.files.weights import round_decoder
from verdigris.core.bundle.precision.gptq_rounding import round_gptq
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import Parameters
from verdigris.core.settings.bake_settings import BakeSettings


def trained(teacher: Teacher, settings: BakeSettings) -> Run:
    """A bake that has ended."""
    runs: list[Run] = []
    control = BakeControl()
    control.watch = runs.append
    with tempfile.TemporaryDirectory() as folder:
        for _ in bake([teacher], settings, BakeOptions("result", Path(folder)), control):
            pass
    return runs[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    options, device, settings = begin(parser)
    print(f"{device}: {options.preset}, {' '.join(options.changes)}")
    print("| material | seed | decoder | log MAE | sphere | lights |\n" + "| --- " * 6 + "|")
    for path in options.files:
        teacher = Teacher(load_document(path, allow_outside=True), device=device)
        judge = PictureJudge([teacher])
        for seed in range(options.seeds):
            run = trained(teacher, replace(settings, seed=seed))
            floats = run.parameters()
            stored: Parameters = run.stored_parameters()
            for name, decoder in (
                ("floats", floats.decoder),
                ("nearest", round_decoder(floats.decoder)),
                ("bundle's", round_gptq(floats)),
            ):
                student = run.current_student(replace(stored, decoder=decoder))
                samples = measure_student(student, run.held_out[0])
                sphere = measure_pictures(teacher, student, sphere_to_compare())
                lights = -10 * math.log10(judge.error_of(student))
                cells = f"{samples.log_mae:.6f} | {sphere.psnr:.2f} | {lights:.2f}"
                print(f"| {path.stem} | {seed} | {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
