"""What a neural material costs beside the graph that it replaces, and how far decoders agree.

    python docs/benchmarks/bench_runtime.py [FILE ...] [--device D] [--resolution N] [--bundle B]

Nanoseconds of an evaluation at random places and directions, inputs made in the shader, with
untrained numbers of the given size: speed does not depend on them. The graphs are timed at a point,
and averaged over as many places of a texel as a bake would be taught with. For each bundle, the
largest error of every decoder of the device on its reference values, whatever the bundle asks for,
and what filtering by the texture unit costs. Without FILE, the tray.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from verdigris.core.baking.measure.measure import classify
from verdigris.core.base.device import Device, open_device
from verdigris.core.bundle.cost.cost import untrained
from verdigris.core.bundle.cost.time_responses import measure, time_material
from verdigris.core.bundle.files.arithmetic import ADVICE
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.runtime.device_materials import fastest_advised, read_stored
from verdigris.core.bundle.runtime.evaluate_queries import (
    MatrixEvaluator,
    QueryEvaluator,
    has_cooperative_matrices,
)
from verdigris.core.bundle.runtime.network_module import fits_in_constants
from verdigris.core.bundle.verify.device_decoders import exact_choices
from verdigris.core.material.evaluator import Footprint
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.spec import PRESETS
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import require_recipe

EXAMPLE = Path(__file__).parents[2] / "examples" / "copper_tray.mtlx"
WAYS = (
    "portable",
    "sampler",
    "constants",
    "cooperative",
    "cooperative_sampler",
    "cooperative_stochastic",
    "cooperative_constants",
    "cooperative_registers",
    "together",
)


def speed(device: Device, files: list[str], resolution: int) -> None:
    teachers = [Teacher(load_document(file), device=device) for file in files]
    names = [teacher.material.name for teacher in teachers]
    took = [time_material(teacher).nanoseconds for teacher in teachers]
    heads = [way.replace("_", ", ") for way in WAYS]
    print(f"| ns an evaluation | {' | '.join(heads)} | " + " | ".join(names) + " |")
    print("| --- " * (1 + len(WAYS) + len(names)) + "|")
    print("| the graph |" + " |" * len(WAYS) + "".join(f" {each:.3f} |" for each in took))
    averaged = [over_a_texel(teacher, resolution) for teacher in teachers]
    cells = "".join(f" {each} |" for each in averaged)
    print("| averaged over a texel |" + " |" * len(WAYS) + cells)
    for name in PRESETS:
        settings = BakeSettings(network=name, resolution=resolution)
        found = measure(untrained(settings), device, None)
        values = [getattr(found, way) for way in WAYS]
        cells = ["" if value is None else f"{value:.3f}" for value in values]
        best = found.neural
        faster = [f"{each / best:.1f} times faster" for each in took]
        print(f"| {name} {settings.activation} | " + " | ".join(cells + faster) + " |", flush=True)
        if found.cooperative_constants and found.cooperative_registers:
            share = found.cooperative_constants / found.cooperative_registers
            print(f"  {name}: fetched by the texture unit / from registers {share:.2f}")


def over_a_texel(teacher: Teacher, resolution: int) -> str:
    """Of the mean that a bake's samples are, as the finest level has them."""
    recipe = require_recipe("standard", "tensor").changed({"resolution": resolution})
    places = recipe[classify([teacher], recipe)].draw.finest_places
    taken = time_material(teacher, footprint=Footprint(1 / resolution, places))
    return f"{taken.nanoseconds:.3f}, {places} places"


def agreement(device: Device, path: str) -> None:
    bundle = open_bundle(Path(path))
    reference = bundle.reference()
    points = reference.uv, reference.lod, reference.wi, reference.wo
    wanted = reference.exported.astype(np.float64)
    has_constants = fits_in_constants(bundle.spec)
    choices = {
        name: choice
        for advised in ADVICE
        for name, choice in exact_choices(device, has_constants, advised)
    }
    fastest = fastest_advised(device, bundle.advised)
    choices[f"{fastest.decoder}, sampler"] = replace(fastest, filter="sampler")
    asked = f", needs {bundle.advised}" if bundle.advised else ""
    print(f"\n{path}: {bundle.spec.name} {bundle.spec.activation}, {len(reference)} points{asked}")
    decoders = {
        name: QueryEvaluator([read_stored(bundle)], device, choice).response
        for name, choice in choices.items()
    }
    if has_cooperative_matrices(device):
        decoders["together"] = MatrixEvaluator([read_stored(bundle)], device).response
    for name, decode in decoders.items():
        relative = np.abs(decode(*points) - wanted) / np.maximum(wanted, 0.01)
        beyond = int((relative > 0.01).sum())
        parts = np.percentile(relative, [50, 99])
        print(
            f"  {name:<32} largest {relative.max():.5f}  99% {parts[1]:.5f}  "
            f"median {parts[0]:.6f}  above 1%: {beyond} of {relative.size}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", default=[str(EXAMPLE)])
    parser.add_argument("--device")
    parser.add_argument("--resolution", type=int, default=1024)
    parser.add_argument("--bundle", action="append", default=[])
    options = parser.parse_args()
    device = open_device(options.device)
    print(f"{device}, latents {options.resolution} x {options.resolution}, 8 bits, all mips")
    speed(device, options.files, options.resolution)
    for path in options.bundle:
        agreement(device, path)


if __name__ == "__main__":
    main()
