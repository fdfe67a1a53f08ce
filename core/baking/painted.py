"""What paint does to a bake: errors inside and outside of it, beside those of a uniform bake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.bake import bake
from verdigris.core.baking.finish.finish import bundle_paths
from verdigris.core.baking.measure.measure import HeldOut, draw_held_out, texel_footprint
from verdigris.core.baking.state.options import BakeControl, BakeOptions
from verdigris.core.base.errors import SettingsError
from verdigris.core.network.student import Student
from verdigris.core.pictures.heat import heat_colours
from verdigris.core.pictures.metrics import SampleMetrics, measure_samples, texel_errors
from verdigris.core.progress.events import Event, Finished

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.settings.bake_settings import BakeSettings

    Floats = NDArray[np.float32]
    Bools = NDArray[np.bool_]

SAMPLES = 1 << 17
MAP_SIZE = 128
# Pixels a side that a cell of the error map is drawn with.
_CELL_PIXELS = 3
UNIFORM_SUFFIX = "-uniform"


@dataclass(frozen=True)
class RegionErrors:
    """Errors of a student, by where its map of weights is painted; None where no sample lies."""

    inside: SampleMetrics | None
    """Where it is painted."""
    outside: SampleMetrics | None
    """Elsewhere, but for places that are left out."""
    heat: Floats
    """Mean log error by place, row 0 at v = 0."""


@dataclass(frozen=True)
class PaintedComparison:
    """One material's errors with and without its map, from bakes that are otherwise the same."""

    material: str
    share: float
    """Of the surface that is painted."""
    uniform: RegionErrors
    painted: RegionErrors
    weights: Floats

    def rows(self) -> Iterator[tuple[str, str, float, float]]:
        """Where, which measure, uniform, painted."""
        for place in ("inside", "outside"):
            uniform, painted = (getattr(each, place) for each in (self.uniform, self.painted))
            if uniform and painted:
                for measure in ("log_mae", "smape"):
                    yield place, measure, getattr(uniform, measure), getattr(painted, measure)

    def picture(self) -> Floats:
        """The map, then the errors of both bakes on one scale; linear light, v upwards."""
        top = float(np.percentile(self.uniform.heat, 99.8)) or None
        row = np.arange(MAP_SIZE) * self.weights.shape[0] // MAP_SIZE
        column = np.arange(MAP_SIZE) * self.weights.shape[1] // MAP_SIZE
        shown = self.weights[row][:, column]
        parts = [heat_colours(shown, float(shown.max()))]
        parts += [heat_colours(each.heat, top) for each in (self.uniform, self.painted)]
        picture = np.concatenate(parts, axis=1)[::-1]
        return picture.repeat(_CELL_PIXELS, axis=0).repeat(_CELL_PIXELS, axis=1)


def painted_area(weights: Floats) -> Bools:
    """Where a map is painted: above the mean of what is not left out; all of that, where it weighs
    the same."""
    live = np.asarray(weights > 0)
    area = np.asarray(weights > weights[live].mean(dtype=np.float64)) if live.any() else live
    area = area if area.any() else live
    if not area.any() or area.all():
        raise SettingsError(
            "the importance map weighs the same everywhere: there is nothing to compare"
        )
    return area


def measure_regions(student: Student, held_out: HeldOut, weights: Floats) -> RegionErrors:
    prediction = student.response(held_out.uv, held_out.wi, held_out.wo)
    row, column = (
        np.minimum((held_out.uv[:, axis] * size).astype(np.int64), size - 1)
        for axis, size in ((1, weights.shape[0]), (0, weights.shape[1]))
    )
    inside = painted_area(weights)[row, column]
    outside = ~inside & (weights[row, column] > 0)
    found = [
        measure_samples(prediction[part], held_out.response[part]) if part.any() else None
        for part in (inside, outside)
    ]
    heat = texel_errors(held_out.uv, prediction, held_out.response, MAP_SIZE, MAP_SIZE)
    return RegionErrors(found[0], found[1], np.nan_to_num(heat).astype(np.float32))


class PaintedBakes:
    """Two bakes that differ in the map alone; iterate over their events, then compare."""

    paths: tuple[Path, ...]
    """Of the painted bundles, one for each material."""

    def __init__(
        self,
        teachers: Sequence[Teacher],
        settings: BakeSettings,
        options: BakeOptions,
        control: BakeControl,
    ) -> None:
        if options.importance is None:
            raise SettingsError(
                "there is no importance map to compare with a uniform bake: name one (--importance)"
            )
        painted_area(options.importance)
        if options.time_limit or options.target_error:
            raise SettingsError(
                "two bakes are compared at the same number of steps: set iterations instead of a "
                "time limit or target error"
            )
        self._teachers, self._settings = teachers, settings
        self._options, self._control = options, control
        self.paths = bundle_paths(options, teachers)
        self._kept: dict[bool, list[RegionErrors]] = {}

    def events(self) -> Iterator[Event]:
        """Of the uniform bake, whose names end with `-uniform`, then of the painted one."""
        uniform = replace(
            self._options,
            name=f"{self._options.name}{UNIFORM_SUFFIX}",
            names=tuple(f"{path.stem}{UNIFORM_SUFFIX}" for path in self.paths),
            importance=None,
        )
        for is_painted, options in ((False, uniform), (True, self._options)):
            if self._control.stop_requested:
                return
            runs: list[Run] = []
            self._control.watch = runs.append
            for event in bake(self._teachers, self._settings, options, self._control):
                if isinstance(event, Finished) and event.stopped_by == "steps":
                    self._kept[is_painted] = self._measure(runs[0])
                yield event

    def _measure(self, run: Run) -> list[RegionErrors]:
        student = run.current_student()
        footprint = texel_footprint(run.settings.resolution)
        assert self._options.importance is not None
        found = []
        for number, teacher in enumerate(self._teachers):
            student.material = number
            held_out = draw_held_out(teacher, SAMPLES, footprint=footprint)
            found.append(measure_regions(student, held_out, self._options.importance))
        return found

    def comparisons(self) -> list[PaintedComparison]:
        """For each material; none if the bakes were ended before both were done."""
        weights = self._options.importance
        if len(self._kept) < 2 or weights is None:
            return []
        share = float(painted_area(weights).mean())
        return [
            PaintedComparison(teacher.material.name, share, uniform, painted, weights)
            for teacher, uniform, painted in zip(
                self._teachers, self._kept[False], self._kept[True], strict=True
            )
        ]
