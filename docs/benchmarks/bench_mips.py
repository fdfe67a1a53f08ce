"""Error of mip levels against a supersampled teacher: trained, averaged latents, averaged textures.

    python docs/benchmarks/bench_mips.py [FILE ...] [--preset P] [--device D]
        [--set resolution=128 ...] [--places N] [--levels N]

The reference of a level is the teacher's mean over the width of one of that level's texels around
each held-out place. `averaged latents` are the box-filtered finest latents, behind the same
decoder; `textures` are flattened ones (bench_flatten.py) with the mips that asset tools make. Rows
of level 0 are measured in the same way.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from runs import EXAMPLES, add_settings, bake_and_load, chosen_settings

from verdigris.core.device import Device, open_device
from verdigris.core.flatten.fit import flatten
from verdigris.core.flatten.flattened import Flattened
from verdigris.core.flatten.textures import box_halved
from verdigris.core.material.document import load_document
from verdigris.core.material.evaluator import Footprint
from verdigris.core.material.teacher import Teacher
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.student import Student
from verdigris.core.settings import BakeSettings
from verdigris.core.training.measure import draw_held_out, measure_student

NORMAL_MAPPED = ("copper_tray", "glazed_tile", "painted_wood", "two_tone_velvet")


def averaged(parameters: Parameters) -> Parameters:
    """The same student with coarse latents that are means of the finest."""
    result = parameters.copy()
    for level in range(1, result.layout.levels):
        result.level(level)[0] = box_halved(result.level(level - 1)[0])
    return result


def measure_levels(
    path: Path, settings: BakeSettings, device: Device, options: argparse.Namespace
) -> None:
    teacher = Teacher(load_document(path, allow_outside=True), device=device)
    event, parameters, settled = bake_and_load(teacher, settings)
    textures = flatten(teacher, settled)
    print(f"<!-- {path.stem}: {event.seconds:.0f} s of training -->")
    for level in range(options.levels + 1):
        footprint = Footprint(2**level / settings.resolution, options.places)
        held_out = draw_held_out(teacher, options.samples, footprint=footprint)
        materials = (
            Student(parameters, device, level=level),
            Student(averaged(parameters), device, level=level),
            Flattened(textures, device, level),
        )
        found = [measure_student(material, held_out) for material in materials]
        cells = [f"{one.log_mae:.4f} / {one.smape:.3f}" for one in found]
        share = found[0].log_mae / found[1].log_mae, found[0].smape / found[1].smape
        cells.append(f"{share[0]:.2f} / {share[1]:.2f}")
        print(f"| {path.stem} | {level} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--places", type=int, default=256)
    parser.add_argument("--samples", type=int, default=1 << 12)
    parser.add_argument("--levels", type=int, default=4)
    add_settings(parser)
    options = parser.parse_args()
    device = open_device(options.device)
    settings = chosen_settings(options, device)
    print(f"{device}: {options.preset}, {settings.text()}")
    columns = ("material", "mip", "trained", "averaged latents", "textures", "trained / averaged")
    print(f"log MAE / SMAPE\n\n| {' | '.join(columns)} |\n{'| --- ' * len(columns)}|")
    for path in options.files or [EXAMPLES / f"{name}.mtlx" for name in NORMAL_MAPPED]:
        measure_levels(path, settings, device, options)


if __name__ == "__main__":
    main()
