"""What it costs in error that several materials share one decoder.

    python docs/benchmarks/bench_sharing.py FILE FILE ... [--preset draft] [--device D]
        [--set resolution=128 iterations=2500 ...] [--times N]

Bakes each document alone, then all of them together with the steps of one material times N: by
default their number, as `steps_for` in core/settings/presets.py has it. The errors are those of
`verdigris measure`; the ratio is that of sharing over alone.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from runs import begin, chosen_recipe, describe

from verdigris.core.baking.bake import BakeOptions, bake
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.progress import Finished
from verdigris.core.settings.presets import Recipe, for_materials

COLUMNS = ("alone", "shared", "ratio")


def run(teachers: Sequence[Teacher], recipe: Recipe) -> Finished:
    with tempfile.TemporaryDirectory() as folder:
        *_, last = bake(teachers, recipe, BakeOptions("result", Path(folder)))
    assert isinstance(last, Finished)
    return last


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--times", type=int, metavar="N")
    options, device, recipe = begin(parser)
    print(f"{device}: {describe(options)}")

    teachers = [Teacher(load_document(path), device=device) for path in options.files]
    alone = [run([teacher], recipe) for teacher in teachers]
    together = chosen_recipe(options, device, len(teachers))
    longer = for_materials(together, options.times or len(teachers))
    shared = run(teachers, longer)
    print(
        f"alone {sum(each.seconds for each in alone):.1f} s of training in all, "
        f"shared {shared.seconds:.1f} s\n"
    )
    heads = [f"{measure}, {column}" for measure in ("log MAE", "SMAPE") for column in COLUMNS]
    print(f"| material | {' | '.join(heads)} |\n{'| --- ' * (len(heads) + 1)}|")
    ratios = []
    for number, teacher in enumerate(teachers):
        one, many = alone[number].samples[0], shared.samples[number]
        cells = [one.log_mae, many.log_mae, many.log_mae / one.log_mae]
        cells += [one.smape, many.smape, many.smape / one.smape]
        ratios.append((cells[2], cells[5]))
        print(f"| {teacher.material.name} | {' | '.join(f'{cell:.4f}' for cell in cells)} |")
    means = [statistics.geometric_mean(column) for column in zip(*ratios, strict=True)]
    print(f"\nmean ratio: log MAE {means[0]:.2f}, SMAPE {means[1]:.2f}")


if __name__ == "__main__":
    main()
