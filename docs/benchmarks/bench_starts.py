"""What the starts of a material that is the same everywhere come to, and by which pictures the best
of them is told.

    python docs/benchmarks/bench_starts.py FILE ... [--seeds N] [--pixels 64 128] [--preset P]
        [--device D] [--set uniform_starts=24 ...]

Each start of the bakes is looked at once it has ended, in decibels: under the lights by which a
bake tells starts apart, in pictures of so many pixels a side, and as the sphere of `verdigris
measure`. A row is of all starts of a material: the mean and the standard deviation of the sphere,
how it goes with the pictures (correlation), and of the bests by these of so many starts as a bake
has, drawn from all at random, mean, standard deviation, and how often five are within 2 dB.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from runs import begin

from verdigris.core.baking.bake import BakeOptions, bake
from verdigris.core.baking.measure.measure import draw_sphere, sphere_to_compare
from verdigris.core.baking.phases import candidates
from verdigris.core.baking.phases.picture_error import PictureJudge
from verdigris.core.baking.state.run import Run
from verdigris.core.base.device import Device
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.pictures.metrics import psnr
from verdigris.core.settings.bake_settings import BakeSettings

Doubles = NDArray[np.float64]

# Sets of five bests that are drawn.
_SETS = 4_000
_ALIKE = 2.0


class Witness(PictureJudge):
    """Judges as a bake does, and notes the decibels of every start."""

    def __init__(self, teachers: Sequence[Teacher], pixels: Sequence[int]) -> None:
        super().__init__(teachers)
        self._judges = [PictureJudge(teachers, size) for size in pixels]
        self._view = sphere_to_compare()
        self._reference = draw_sphere(teachers[0], self._view)
        self.seen: list[list[float]] = []

    def error(self, run: Run) -> float:
        student = run.current_student(run.stored_parameters())
        errors = [judge.error_of(student) for judge in self._judges]
        lights = [-10 * math.log10(max(error, 1e-12)) for error in errors]
        self.seen.append([*lights, psnr(draw_sphere(student, self._view), self._reference)])
        return self.error_of(student)


def starts_of(teacher: Teacher, settings: BakeSettings, pixels: Sequence[int]) -> list[list[float]]:
    """Of all starts of a bake: the decibels of each picture, and of the sphere."""
    witness = Witness([teacher], pixels)
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(candidates, "PictureJudge", lambda _: witness),
    ):
        for _ in bake([teacher], settings, BakeOptions("result", Path(folder))):
            pass
    return witness.seen


def told(lights: Doubles, sphere: Doubles, count: int) -> str:
    """How pictures go with the sphere, and what the bests by them are."""
    random = np.random.default_rng(0)
    drawn = random.integers(0, len(sphere), (_SETS, 5, count))
    best = np.take_along_axis(drawn, lights[drawn].argmax(-1)[..., None], -1)[..., 0]
    bests = sphere[best]
    alike = (np.ptp(bests, axis=1) <= _ALIKE).mean()
    goes_with = np.corrcoef(lights, sphere)[0, 1]
    return f"{goes_with:.2f} | {bests.mean():.1f}, {bests.std():.2f} | {alike:.0%}"


def count_of(settings: BakeSettings) -> int:
    return settings.with_few_texels(settings.uniform_resolution).candidates


def report(device: Device, path: Path, settings: BakeSettings, options: argparse.Namespace) -> None:
    teacher = Teacher(load_document(path, allow_outside=True), device=device)
    found = []
    for seed in range(options.seeds):
        found += starts_of(teacher, replace(settings, seed=seed), options.pixels)
    if not found:
        print(f"| {path.stem} | has no whole starts |")
        return
    numbers = np.array(found)
    sphere = numbers[:, -1]
    for pixels, lights in zip(options.pixels, numbers.T[:-1], strict=True):
        of_all = f"{len(sphere)} | {sphere.mean():.1f}, {sphere.std():.2f}"
        cells = f"{of_all} | {pixels} | {told(lights, sphere, count_of(settings))}"
        print(f"| {path.stem} | {cells} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--pixels", type=int, nargs="+", default=[64, 128])
    options, device, settings = begin(parser)
    print(f"{device}: {options.preset}, {' '.join(options.changes)}")
    print("| material | starts | sphere | pixels | goes with | bests | five within 2 dB |")
    print("| --- " * 7 + "|")
    for path in options.files:
        report(device, path, settings, options)


if __name__ == "__main__":
    main()
