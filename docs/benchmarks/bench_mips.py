"""Error of mip levels against a supersampled teacher: of trained levels, and of averaged latents.

    python docs/benchmarks/bench_mips.py [FILE ...] [--preset P] [--device D]
        [--set resolution=128 ...] [--places N] [--mips N]

The reference of mip m is the teacher's mean over the width of 2^m of the finest texels around each
held-out place. `averaged latents` are the box-filtered finest latents, behind the same decoder, and
looked up as textures are: on level m. `bilinear` is what texels of any kind can do at best: the
teacher's exact means over the area of each texel, filtered between their centres and levels. Rows
of mip 0 are measured in the same way.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from runs import EXAMPLES, bake_and_load, begin, describe

from verdigris.core.baking.measure.measure import HeldOut, draw_held_out, measure_student
from verdigris.core.base.device import Device
from verdigris.core.material.evaluator import Footprint
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.latents.texels import downsample, footprint_width, level_for_lod
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.student import Student
from verdigris.core.pictures.compare.metrics import measure_samples
from verdigris.core.settings.presets import Recipe

NORMAL_MAPPED = ("copper_tray", "glazed_tile", "painted_wood", "two_tone_velvet")


def averaged(parameters: Parameters) -> Parameters:
    """The same student with coarse latents that are means of the finest."""
    result = parameters.copy()
    for level in range(1, result.layout.levels):
        result.level(level)[0] = downsample(result.level(level - 1)[0])
    return result


def bilinear(
    teacher: Teacher, held_out: HeldOut, texels: int, footprint: Footprint
) -> NDArray[np.float32]:
    """The teacher's exact means over texels of one level, filtered between their centres."""
    place = held_out.uv * texels - 0.5
    corner = np.floor(place)
    part = place - corner
    found = np.zeros_like(held_out.response)
    for step in ((0, 0), (1, 0), (0, 1), (1, 1)):
        weight = np.prod(np.where(step, part, 1 - part), axis=1, keepdims=True)
        uv = ((corner + step + 0.5) / texels % 1).astype("f4")
        found += weight * teacher.response(uv, held_out.wi, held_out.wo, footprint=footprint)
    return found


def filtered(
    teacher: Teacher, held_out: HeldOut, resolution: int, level: float, places: int
) -> NDArray[np.float32]:
    """The same between two levels."""
    finer = math.floor(level)
    found = np.zeros_like(held_out.response)
    for each, share in ((finer, 1 - level + finer), (finer + 1, level - finer)):
        if share:
            texels = resolution >> each
            footprint = Footprint(footprint_width(texels, each), places)
            found += share * bilinear(teacher, held_out, texels, footprint)
    return found


def measure_mips(path: Path, recipe: Recipe, device: Device, options: argparse.Namespace) -> None:
    teacher = Teacher(load_document(path), device=device)
    event, parameters, settings = bake_and_load(teacher, recipe)
    print(f"<!-- {path.stem}: {event.seconds:.0f} s of training -->")
    for mip in range(options.mips + 1):
        texels = settings.resolution >> mip
        level = float(level_for_lod(parameters.layout, np.float64(mip)))
        footprint = Footprint(1 / texels, options.places)
        held_out = draw_held_out(teacher, options.samples)
        places = held_out.uv, held_out.wi, held_out.wo
        held_out = replace(held_out, response=teacher.response(*places, footprint=footprint))
        students = (
            Student(parameters, device, level=level),
            Student(averaged(parameters), device, level=mip),
        )
        found = [measure_student(student, held_out) for student in students]
        share = found[0].log_mae / found[1].log_mae, found[0].smape / found[1].smape
        limit = filtered(teacher, held_out, settings.resolution, level, options.places)
        found.append(measure_samples(limit, held_out.response))
        cells = [f"{one.log_mae:.4f} / {one.smape:.3f}" for one in found]
        cells.append(f"{share[0]:.2f} / {share[1]:.2f}")
        print(f"| {path.stem} | {mip} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--places", type=int, default=256)
    parser.add_argument("--samples", type=int, default=1 << 12)
    parser.add_argument("--mips", type=int, default=4)
    options, device, recipe = begin(parser)
    print(f"{device}: {describe(options)}")
    columns = ["material", "mip", "trained", "averaged latents", "bilinear", "trained / averaged"]
    print(f"log MAE / SMAPE\n\n| {' | '.join(columns)} |\n{'| --- ' * len(columns)}|")
    for path in options.files or [EXAMPLES / f"{name}.mtlx" for name in NORMAL_MAPPED]:
        measure_mips(path, recipe, device, options)


if __name__ == "__main__":
    main()
