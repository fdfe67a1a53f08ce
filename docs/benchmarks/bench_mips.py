"""Error of mip levels against a supersampled teacher: trained, averaged latents, averaged textures.

    python docs/benchmarks/bench_mips.py [FILE ...] [--preset P] [--device D]
        [--set resolution=128 ...] [--places N] [--mips N] [--centres] [--without-textures]
        [--pictures DIR]

The reference of mip m is the teacher's mean over the width of 2^m of the finest texels around each
held-out place; with --centres these places are the middles of squares of that width, as in a
picture that has a pixel for each. `averaged latents` are the box-filtered finest latents, behind
the same decoder, and looked up as textures are: on level m. `textures` are flattened ones
(bench_flatten.py) with the mips that asset tools make; `bilinear` is what texels of any kind can do
at best: the teacher's exact means over what a texel stands for, filtered between their centres and
levels. Rows of mip 0 are measured in the same way. With --pictures a sphere is drawn at each mip:
reference, trained and averaged latents, one below the other.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
from flattened import Flattened
from numpy.typing import NDArray
from runs import EXAMPLES, bake_and_load, begin, describe

from verdigris.core.baking.measure.measure import PLACES, HeldOut, draw_held_out, measure_student
from verdigris.core.base.device import Device
from verdigris.core.flatten.fit import flatten
from verdigris.core.material.evaluator import DeviceMaterial, Footprint
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.latents.texels import downsample, footprint_width, level_for_lod
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.student import Student
from verdigris.core.pictures.compare.metrics import display, measure_samples
from verdigris.core.pictures.picture_files import write_data
from verdigris.core.pictures.render import Lighting, draw, make_view
from verdigris.core.settings.recipe import Recipe

PICTURE_PIXELS = 192
LIGHT = Lighting((-0.45, 0.6, 0.66), (2.4, 2.3, 2.2), environment=0.0, emission=0.0)
NORMAL_MAPPED = ("copper_tray", "glazed_tile", "painted_wood", "two_tone_velvet")


def averaged(parameters: Parameters) -> Parameters:
    """The same student with coarse latents that are means of the finest."""
    result = parameters.copy()
    for level in range(1, result.layout.levels):
        result.level(level)[0] = downsample(result.level(level - 1)[0])
    return result


def at_centres(held_out: HeldOut, texels: int) -> HeldOut:
    """The same directions at the centres of the texels that the places lie in."""
    return replace(held_out, uv=((np.floor(held_out.uv * texels) + 0.5) / texels).astype("f4"))


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


def draw_mips(
    teacher: Teacher, parameters: Parameters, device: Device, mips: int, path: Path
) -> None:
    """What a surface looks like from further and further away."""
    view, columns = make_view("sphere", PICTURE_PIXELS), []
    students = [Student(each, device) for each in (parameters, averaged(parameters))]
    for mip in range(mips + 1):
        students[0].level = float(level_for_lod(parameters.layout, np.float64(mip)))
        students[1].level = mip
        patch = Footprint(2**mip / parameters.layout.width, PLACES)
        column = [draw(teacher, view, LIGHT, 1, is_flat=True, footprint=patch)]
        column += [draw(student, view, LIGHT, 1, is_flat=True) for student in students]
        columns.append(np.concatenate(column))
    write_data(path, display(np.concatenate(columns, 1)[..., :3]))


def measure_mips(path: Path, recipe: Recipe, device: Device, options: argparse.Namespace) -> None:
    teacher = Teacher(load_document(path), device=device)
    event, parameters, settings = bake_and_load(teacher, recipe)
    textures = None if options.without_textures else flatten(teacher, settings)
    print(f"<!-- {path.stem}: {event.seconds:.0f} s of training -->")
    if options.pictures:
        file = options.pictures / f"{path.stem}_mips.png"
        draw_mips(teacher, parameters, device, options.mips, file)
    for mip in range(options.mips + 1):
        texels = settings.resolution >> mip
        level = float(level_for_lod(parameters.layout, np.float64(mip)))
        footprint = Footprint(1 / texels, options.places)
        held_out = draw_held_out(teacher, options.samples)
        if options.centres:
            held_out = at_centres(held_out, texels)
        places = held_out.uv, held_out.wi, held_out.wo
        held_out = replace(held_out, response=teacher.response(*places, footprint=footprint))
        materials: list[DeviceMaterial] = [
            Student(parameters, device, level=level),
            Student(averaged(parameters), device, level=mip),
        ]
        if textures:
            materials.append(Flattened(textures, device, mip))
        found = [measure_student(material, held_out) for material in materials]
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
    parser.add_argument("--centres", action="store_true")
    # numpy fits them, which takes minutes at the size of `standard`
    parser.add_argument("--without-textures", action="store_true")
    parser.add_argument("--pictures", type=Path)
    options, device, recipe = begin(parser)
    print(f"{device}: {describe(options)}")
    columns = ["material", "mip", "trained", "averaged latents"]
    columns += [] if options.without_textures else ["textures"]
    columns += ["bilinear", "trained / averaged"]
    print(f"log MAE / SMAPE\n\n| {' | '.join(columns)} |\n{'| --- ' * len(columns)}|")
    for path in options.files or [EXAMPLES / f"{name}.mtlx" for name in NORMAL_MAPPED]:
        measure_mips(path, recipe, device, options)


if __name__ == "__main__":
    main()
