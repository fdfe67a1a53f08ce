"""Bytes and errors of materials: their images, their bundles, and flattened textures.

    python docs/benchmarks/bench_bytes.py --preset standard [FILE ...] [--corpus DIR]
        [--device D] [--set ... ]

Without FILE: all examples with images, and all such documents of MaterialX's own below --corpus.
Images count as files, and block-compressed with mips: 8 bits a texel, 4 for images of one channel.
A bundle counts weights, latents and maps on a GPU. The flattened Standard Surface has base colour,
metalness with roughness, and normals, at 8 bits a texel each, at the size whose bytes are nearest
to the bundle's; its texels are not compressed, so that its error is a lower bound. Errors are log
MAE, against texels of the preset's resolution, and PSNR of the sphere.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from flattened import Flattened
from runs import EXAMPLES, begin, describe

from verdigris.core.baking.bake import BakeOptions, bake
from verdigris.core.baking.measure.measure import (
    classify,
    draw_held_out,
    measure_pictures,
    measure_student,
    sphere_to_compare,
    texel_footprint,
)
from verdigris.core.base.device import Device
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.bundle.cost.source_bytes import SourceBytes, source_bytes
from verdigris.core.bundle.files.read import Bundle, open_bundle
from verdigris.core.flatten.viewport import flatten
from verdigris.core.material.load.mtlx_document import load_document, select_materials
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.spec import block_bytes
from verdigris.core.progress import Finished, SizeChosen
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import Recipe

# Bits of a flattened texel, and steps of a fit: more gain nothing.
_FLAT_BITS, _FLAT_STEPS = 24, 3_000
_SAMPLES = 1 << 18


@dataclass(frozen=True)
class Baked:
    """A bake, and what it has written."""

    size: tuple[int, int]
    bytes: int
    log_mae: float
    psnr: float
    seconds: float
    choice: SizeChosen | None


def loaded_bytes(bundle: Bundle) -> int:
    """Bytes of weights, latents and maps on a GPU."""
    manifest = bundle.manifest
    maps = (each for each in (manifest.emission, manifest.opacity) if each)
    textures = sum(each.texture.texel_bytes for each in (manifest.latents, *maps))
    return manifest.weights.bytes + textures


def bake_one(teacher: Teacher, recipe: Recipe, folder: Path, name: str) -> Baked:
    choice, end = None, None
    for event in bake([teacher], recipe, BakeOptions(name, folder, checkpoint_seconds=1e6)):
        if isinstance(event, SizeChosen):
            choice = event
        end = event
    assert isinstance(end, Finished)
    bundle = open_bundle(Path(end.result))
    size = bundle.layout.width, bundle.layout.height
    samples, picture = end.samples[0], end.pictures[0]
    return Baked(size, loaded_bytes(bundle), samples.log_mae, picture.psnr, end.seconds, choice)


def flat_size(most: int) -> tuple[int, int]:
    """The width and height, powers of two, whose bytes are nearest to these."""
    sizes = [(1 << n, 1 << m) for n in range(2, 12) for m in (n - 1, n)]
    return min(sizes, key=lambda size: abs(math.log(block_bytes(*size, _FLAT_BITS) / most)))


def flat_one(teacher: Teacher, settings: BakeSettings, most: int) -> Baked:
    """The flattened Standard Surface at about these bytes."""
    size = flat_size(most)
    short = replace(settings, iterations=min(_FLAT_STEPS, settings.iterations))
    textures = flatten(teacher, short, size)
    student = Flattened(textures, teacher.device)
    footprint = texel_footprint(settings.resolution)
    samples = measure_student(student, draw_held_out(teacher, _SAMPLES, footprint=footprint))
    picture = measure_pictures(teacher, student, sphere_to_compare())
    count = block_bytes(*size, _FLAT_BITS)
    return Baked(size, count, samples.log_mae, picture.psnr, 0.0, None)


def with_images(options: argparse.Namespace) -> Iterator[Path]:
    """The documents, without those that read no image."""
    found = [Path(each) for each in options.files] or sorted(EXAMPLES.glob("*.mtlx"))
    if options.corpus:
        found += sorted(Path(options.corpus).rglob("*.mtlx"))
    for path in found:
        try:
            chosen = select_materials([load_document(path)], ())
        except VerdigrisError:
            continue
        if source_bytes(*chosen[0]).images:
            yield path


def row(name: str, sources: SourceBytes, baked: Baked, flat: Baked) -> str:
    mib = [f"{each / (1 << 20):.2f}" for each in (sources.files, sources.compressed, baked.bytes)]
    size = f"{baked.size[0]} x {baked.size[1]}"
    errors = f"{baked.log_mae:.4f}, {baked.psnr:.1f}"
    flat_errors = f"{flat.log_mae:.4f}, {flat.psnr:.1f}"
    flat_bytes = f"{flat.bytes / (1 << 20):.2f}"
    return f"| {name} | {' | '.join(mib)} | {size} | {errors} | {flat_bytes} | {flat_errors} |"


def compare(path: Path, recipe: Recipe, device: Device, folder: Path) -> str:
    teacher = Teacher(load_document(path), device=device)
    baked = bake_one(teacher, recipe, folder, path.stem)
    settings = recipe[classify([teacher], recipe)]
    flat = flat_one(teacher, settings, baked.bytes)
    return row(path.stem, source_bytes(teacher.document, teacher.material), baked, flat)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--corpus")
    options, device, recipe = begin(parser)
    print(f"{describe(options)} on {device}")
    print("| material | files MiB | BC | bundle | texels | log MAE, dB | flat MiB | log MAE, dB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for path in with_images(options):
            print(compare(path, recipe, device, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
