"""A student beside the same material flattened to one set of textures, at about equal bytes.

    python docs/benchmarks/bench_flatten.py [FILE ...] [--preset P] [--device D]
        [--set resolution=128 ...] [--pictures DIR]

Both learn from the same samples by the same loss for as many steps. Bytes count every texel of
every mip level, eight bits a channel, and the student's decoder in fp16. Measured as by `verdigris
measure`, before rounding to eight bits. --pictures writes teacher, student and textures, each on
the measured sphere, beside each other.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from bench_bake import files
from flattened import Flattened
from runs import bake_and_load, begin, describe

from verdigris.core.baking.measure.measure import (
    draw_held_out,
    draw_sphere,
    measure_pictures,
    measure_student,
    sphere_to_compare,
    texel_footprint,
)
from verdigris.core.base.device import Device
from verdigris.core.flatten.fit import flatten
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.student import Student
from verdigris.core.pictures.picture_files import write_picture
from verdigris.core.settings.recipe import Recipe

COLUMNS = ("log MAE", "SMAPE", "sphere dB", "FLIP", "KiB", "s")


def compare(
    path: Path, recipe: Recipe, device: Device, count: int
) -> tuple[list[list[float]], np.ndarray]:
    """A row for the student and one for the textures, and their spheres after the teacher's."""
    teacher = Teacher(load_document(path), device=device)
    event, parameters, settings = bake_and_load(teacher, recipe)
    begun = time.perf_counter()
    textures = flatten(teacher, settings)
    seconds = time.perf_counter() - begun

    footprint = texel_footprint(settings.resolution)
    held_out = draw_held_out(teacher, count, footprint=footprint)
    view = sphere_to_compare()
    compared: tuple[tuple[DeviceMaterial, int, float], ...] = (
        (
            Student(parameters, device),
            parameters.latents.size + 2 * parameters.decoder.size,
            event.seconds,
        ),
        (Flattened(textures, device), textures.byte_size, seconds),
    )
    rows, spheres = [], [draw_sphere(teacher, view)]
    for material, size, took in compared:
        samples = measure_student(material, held_out)
        picture = measure_pictures(teacher, material, view)
        errors = [samples.log_mae, samples.smape, picture.psnr, picture.ldr_flip]
        rows.append([*errors, size / 1024, took])
        spheres.append(draw_sphere(material, view))
    return rows, np.concatenate(spheres, axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--corpus")
    parser.add_argument("--samples", type=int, default=1 << 16)
    parser.add_argument("--pictures", type=Path)
    options, device, recipe = begin(parser)
    print(f"{device}: {describe(options)}")
    print(f"| material | by | {' | '.join(COLUMNS)} |\n{'| --- ' * (len(COLUMNS) + 2)}|")
    for path in files(options):
        rows, picture = compare(path, recipe, device, options.samples)
        for kind, row in zip(("neural", "flattened"), rows, strict=True):
            cells = " | ".join(
                form % value
                for form, value in zip(
                    ("%.4f", "%.3f", "%.1f", "%.3f", "%.0f", "%.0f"), row, strict=True
                )
            )
            print(f"| {path.stem} | {kind} | {cells} |", flush=True)
        if options.pictures:
            options.pictures.mkdir(parents=True, exist_ok=True)
            write_picture(options.pictures / f"{path.stem}.png", picture / (1 + picture))


if __name__ == "__main__":
    main()
