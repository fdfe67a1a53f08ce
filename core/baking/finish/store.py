"""The numbers that bundles store: what rounding them costs, and what decoders are checked with."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.baking.finish.figures import CHECKS
from verdigris.core.baking.state.learner import as_stored
from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.files.ktx2 import BC7
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.reference import Reference, log_mae, make_reference
from verdigris.core.bundle.files.stored_textures import (
    TEXEL_FORMATS,
    Exported,
    export_numbers,
    export_with,
    store_latents,
)
from verdigris.core.bundle.half_floats import judge, order_units, round_sides
from verdigris.core.network.latents.block_lines import encode
from verdigris.core.network.latents.quantise import fit_ranges
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.student import Student
from verdigris.core.progress import Event, Warning
from verdigris.core.settings.bake_settings import BC7_FORMAT, HALF_FORMAT, RGBA8_FORMAT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run
    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.bundle.files.arithmetic import Arithmetic
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.latents.quantise import LatentRange
    from verdigris.core.settings.schedule import Quantisation

    Decoders = tuple[NDArray[Any], ...]
    Heads = tuple[NDArray[Any], ...]

# Rows of half of a level from which sending it to a process pays.
_LEAST_ROWS = 64
# Another device, or another driver, may be off by this much more than this one.
MARGIN, _LEAST_MARGIN = 1.1, 1e-4
# A smaller increase of the error is not reported: as a factor, or by itself. Blocks take a quarter
# of the bytes, and cost 1.1 to 1.5 times the error.
_REPORTED_FACTOR = {BC7_FORMAT: 1.5, RGBA8_FORMAT: 1.02}
_REPORTED_INCREASE = 5e-5
# The next larger format.
_LARGER = {BC7_FORMAT: RGBA8_FORMAT, RGBA8_FORMAT: HALF_FORMAT}


def measure_before_rounding(run: Run) -> None:
    """Notes the error of latents that are not rounded."""
    quantisation = run.settings.training().quantisation
    assert quantisation is not None
    before = _errors(run, run.learner.filled_parameters())
    run.rounding = {"format": run.settings.latent_format, "log_mae_before": before}


def report_rounding(run: Run) -> Generator[Event, None, Decoders]:
    """Notes the error of the stored numbers at the end, and warns if it is much larger. Returns the
    rounded decoder of each side."""
    trained = run.learner.filled_parameters()
    quantisation = run.settings.training().quantisation
    if quantisation is None:
        return round_sides(trained).decoders
    if not run.rounding:
        # the bake ended before the phase began
        measure_before_rounding(run)
    stored = _store(run, trained, quantisation)
    run.rounding["log_mae_after"] = _errors(run, stored)
    for name, facts in zip(run.names, rounding_by_material(run), strict=True):
        before, after = facts["log_mae_before"], facts["log_mae_after"]
        factor = _REPORTED_FACTOR[run.settings.latent_format]
        if after > max(factor * before, before + _REPORTED_INCREASE):
            yield Warning(
                f"{name}: storing latents as {run.settings.latent_format} raised the log error "
                f"by {100 * (after / before - 1):.0f}%, from {before:.4f} to {after:.4f}: use "
                f"latent_format={_LARGER[run.settings.latent_format]}, at a larger size"
            )
    return stored.decoders


def rounded_decoders(run: Run) -> Decoders:
    """The rounded decoder of each side at this moment, without measurements. Keeps the blocks of
    latents."""
    trained, quantisation = run.learner.filled_parameters(), run.settings.training().quantisation
    if quantisation is None:
        return round_sides(trained).decoders
    return _store(run, trained, quantisation).decoders


@profiled("store latents")
def _store(run: Run, trained: Parameters, quantisation: Quantisation) -> Parameters:
    """The numbers of the bundles. Blocks take long to fit: they are kept for the bundles."""
    trainer = run.learner.trainer
    ranges, squares = trainer.latent_ranges(), trainer.latent_squares()
    if not quantisation.lines:
        return as_stored(trained, quantisation, ranges)
    ranges = ranges or fit_ranges(trained)
    weights = replace(trained, latents=squares)
    stored = round_sides(trained.copy())
    run.blocks = []
    for material, known in enumerate(ranges):
        own, weight = trained.of_material(material), weights.of_material(material)
        encodes = encode if run.teachers[0].device.is_software else encode_in_halves
        texture = store_latents(own.latents, own.layout, BC7, known, weight.latents, encodes)
        run.blocks.append(texture)
        shown = replace(own, latents=texture.values())
        for level in range(own.layout.levels):
            stored.level(level)[material] = shown.level(level)[0]
    return stored


def encode_in_halves(
    texels: FloatArray, latent_range: LatentRange, squares: FloatArray | None = None
) -> NDArray[Any]:
    """The blocks of a level as `encode` finds them. A process beside this one encodes half of a
    large level."""
    half = len(texels) // 2
    if half < _LEAST_ROWS:
        return encode(texels, latent_range, squares)

    def asked(part: slice) -> tuple[Any, ...]:
        return texels[part], latent_range, None if squares is None else squares[part]

    with ThreadPoolExecutor(1, "encode beside") as thread:
        first = thread.submit(CHECKS.call, encode, *asked(slice(half)))
        second = encode(*asked(slice(half, None)))
        return np.concatenate([first.result(), second], 1)


def rounding_by_material(run: Run) -> list[dict[str, Any]]:
    """The facts of run.rounding for each material."""
    return [
        {name: value[number] if isinstance(value, list) else value for name, value in known}
        for number, known in ((number, run.rounding.items()) for number in range(len(run.names)))
    ]


def _errors(run: Run, parameters: Parameters) -> list[float]:
    return [found.log_mae for found in run.measure(parameters).samples]


class StoredStudents:
    """Each material's stored numbers, one at a time on the device."""

    def __init__(self, run: Run, decoders: Decoders) -> None:
        """All materials share these rounded decoders."""
        self.run = run
        trained = run.learner.filled_parameters()
        self.trained = order_units(trained.with_decoders(*decoders))
        self.heads: Heads | None = None
        self._student: Student | None = None
        self._last: tuple[int, Exported] | None = None

    def of(self, material: int) -> tuple[Exported, Student]:
        """The numbers of this material's bundle, and the student with these numbers."""
        if self._last is None or self._last[0] != material:
            # freed first: the texels of two materials may not fit into memory
            self._last = None
            self._last = material, _export(self.run, self.trained, material)
            parameters = self._last[1].parameters
            if self._student is None:
                self._student = Student(parameters, self.run.teachers[material].device)
            else:
                self._student.update(parameters)
                self._student.live = parameters.live
        assert self._student is not None
        exported = self._last[1]
        stored = exported.parameters.with_heads(*self.heads or ())
        return replace(exported, parameters=stored), self._student

    def copy_of(self, exported: Exported) -> Student:
        """Another student with these numbers, for a thread of its own."""
        return Student(exported.parameters, self.run.teachers[0].device)

    def each(self) -> Iterator[tuple[Parameters, Student]]:
        """The numbers of every material, one after the other on the device."""
        for material in range(len(self.run.teachers)):
            exported, student = self.of(material)
            yield exported.parameters, student

    def each_below(self) -> Iterator[tuple[Parameters, Student]]:
        """Those of the transmitted side, as students of one side."""
        for parameters, _ in self.each():
            below = parameters.sides[1]
            yield below, Student(below, self.run.teachers[0].device)


@profiled("store latents: export")
def _export(run: Run, trained: Parameters, material: int) -> Exported:
    trained = replace(trained, live=run.teachers[material].live)
    if run.blocks:
        return export_with(trained, run.blocks[material], material)
    trainer, texel_format = run.learner.trainer, TEXEL_FORMATS[run.settings.latent_format]
    ranges = trainer.latent_ranges()
    known = ranges[material] if ranges else None
    return export_numbers(trained, material, texel_format, known, trainer.latent_squares())


@profiled("compare half precision: all")
def judged(exported: Exported, teacher: Teacher) -> tuple[Reference, Bounds, Arithmetic]:
    """Values to check decoders against, how far decoders may be from them, and the arithmetic that
    is advised."""
    reference = make_reference(exported.exact.sides[0], teacher)
    assert reference.teacher is not None
    found = log_mae(reference.exported, reference.teacher)
    bounds = Bounds(teacher_log_mae=MARGIN * found + _LEAST_MARGIN)
    return reference, bounds, judge(exported.exact, reference, bounds)
