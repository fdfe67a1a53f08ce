"""Error of the light that a material reflects under a sky: what lighting in a game sees.

    python docs/benchmarks/bench_sky.py [FILE ...] [--preset P] [--seeds N] [--device D]
        [--set resolution=256 ...]
    python docs/benchmarks/bench_sky.py --bundle BUNDLE --source FILE

Bakes each FILE, the examples by default, and measures the bundle; with --bundle it measures one
that is there. The surface is turned at random under a sky with a sun, and seen from random
directions. The error of a place is the sum over channels of the absolute difference, by the sum of
the material's. The bias is the sum of all reflected light against the material's: below 0 the
bundle loses light.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from runs import EXAMPLES, bake_and_load, begin, describe

from verdigris.core.baking.measure.measure import texel_footprint
from verdigris.core.base.device import Device
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.material.evaluator import POINT, DeviceMaterial, Footprint
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.student import Student
from verdigris.core.settings.recipe import Recipe

Floats = NDArray[np.floating]

PLACES, DIRECTIONS = 300, 4_096
# Cosines of the viewer, who hardly sees what is flatter.
LEAST_COSINE = 0.15
SEED = 49
SUN = np.array((0.5, 0.6, 0.8)) / np.linalg.norm((0.5, 0.6, 0.8))
# Of a place that reflects nothing, so that its error is a number.
_LEAST_LIGHT = 1e-6


@dataclass(frozen=True)
class SkyErrors:
    """Errors of places relative to the light that the material reflects there."""

    median: float
    percentile_90: float
    largest: float
    bias: float
    """All light of the bundle by all light of the material, less 1."""


def sky(directions: Floats) -> Floats:
    """Grey radiance from unit vectors (..., 3) of the world, y up."""
    height, off_sun = directions[..., 1], 1 - directions @ SUN
    dome = np.where(height > 0, 0.6 + 0.9 * np.exp(-6 * np.abs(height)), 0.12)
    sun = 6 * np.exp(-120 * off_sun) + 0.8 * np.exp(-8 * off_sun)
    return dome + np.where(height > -0.05, sun, 0)


def fibonacci_hemisphere(count: int) -> Floats:
    """Unit vectors (count, 3) around z, each for an equal part of the hemisphere."""
    index = np.arange(count)
    cosine, turn = (index + 0.5) / count, np.pi * (3 - np.sqrt(5)) * index
    sine = np.sqrt(1 - cosine**2)
    return np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine], axis=1)


def random_rotations(random: np.random.Generator, count: int) -> Floats:
    """Matrices (count, 3, 3), uniform among all rotations: those of random unit quaternions."""
    quaternions = random.standard_normal((4, count))
    w, x, y, z = quaternions / np.linalg.norm(quaternions, axis=0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def reflected_light(material: DeviceMaterial, footprint: Footprint = POINT) -> Floats:
    """Light (PLACES, 3) towards viewers of random places; the same places at every call."""
    random = np.random.default_rng(SEED)
    uv = random.random((PLACES, 2))
    cosine = random.uniform(LEAST_COSINE, 1, PLACES)
    turn, sine = random.uniform(0, 2 * np.pi, PLACES), np.sqrt(1 - cosine**2)
    wo = np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine], axis=1)
    rotations = random_rotations(random, PLACES)
    wi = fibonacci_hemisphere(DIRECTIONS)
    response = material.response(
        np.repeat(uv, DIRECTIONS, axis=0).astype(np.float32),
        np.tile(wi, (PLACES, 1)).astype(np.float32),
        np.repeat(wo, DIRECTIONS, axis=0).astype(np.float32),
        footprint=footprint,
    ).reshape(PLACES, DIRECTIONS, 3)
    radiance = sky(np.einsum("pij,dj->pdi", rotations, wi))
    return 2 * np.pi / DIRECTIONS * np.einsum("pdc,pd->pc", response.astype(float), radiance)


def compare_light(bundle: Floats, material: Floats) -> SkyErrors:
    """Errors of light that was reflected at the same places."""
    total = np.maximum(material.sum(1), _LEAST_LIGHT)
    errors = np.abs(bundle - material).sum(1) / total
    return SkyErrors(
        median=float(np.median(errors)),
        percentile_90=float(np.percentile(errors, 90)),
        largest=float(errors.max()),
        bias=float(bundle.sum() / max(material.sum(), _LEAST_LIGHT) - 1),
    )


def measure_sky(teacher: DeviceMaterial, parameters: Parameters, device: Device) -> SkyErrors:
    """Of the finest level, against the material's mean over a texel of it."""
    material = reflected_light(teacher, texel_footprint(parameters.layout.width))
    return compare_light(reflected_light(Student(parameters, device)), material)


def print_row(name: str, errors: SkyErrors) -> None:
    cells = (errors.median, errors.percentile_90, errors.largest)
    numbers = " | ".join(f"{value:.4f}" for value in cells)
    print(f"| {name} | {numbers} | {errors.bias:+.4f} |", flush=True)


def measure_bundle(path: Path, source: Path, device: Device) -> None:
    bundle, document = open_bundle(path), load_document(source)
    teacher = Teacher(document, document.require_material(bundle.source_name), device)
    print_row(path.stem, measure_sky(teacher, bundle.parameters(), device))


def measure_bakes(path: Path, recipe: Recipe, seeds: int, device: Device) -> None:
    teacher = Teacher(load_document(path), device=device)
    for seed in range(seeds):
        _, parameters, _ = bake_and_load(teacher, recipe.changed({"seed": seed}))
        name = f"{path.stem}, seed {seed}" if seeds > 1 else path.stem
        print_row(name, measure_sky(teacher, parameters, device))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--bundle", type=Path)
    parser.add_argument("--source", type=Path)
    options, device, recipe = begin(parser)
    if (options.bundle is None) != (options.source is None):
        parser.error("--bundle and --source belong together")
    print(f"{device}: {options.bundle or describe(options)}")
    print(f"| material | median | 90th percentile | largest | bias |\n{'| --- ' * 5}|")
    if options.bundle:
        measure_bundle(options.bundle, options.source, device)
        return
    for path in options.files or sorted(EXAMPLES.glob("*.mtlx")):
        measure_bakes(path, recipe, options.seeds, device)


if __name__ == "__main__":
    main()
