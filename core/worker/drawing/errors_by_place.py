"""Errors of the student by place, and weights of places by paint or view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.network.prepared_places import PreparedPlaces
from verdigris.core.pictures.compare.metrics import (
    RELATIVE_EPSILON,
    SampleMetrics,
    measure_samples,
    texel_errors,
)
from verdigris.core.worker.protocol.commands import IN_VIEW, PAINTED
from verdigris.core.worker.protocol.messages import ProtocolError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.measure.measure import HeldOut
    from verdigris.core.base.array_types import Floats
    from verdigris.core.network.student import Student
    from verdigris.core.training.numpy.numpy_trainer import LiveNetwork
    from verdigris.core.worker.protocol.commands import Focus


ERROR_MAP_SIZE = 64
_SAMPLES_AT_ONCE = 1024
_FOCUS_SIZE = 64


class RollingErrors:
    """Errors of the student on held-out samples, updated in parts."""

    def __init__(self, held_out: HeldOut) -> None:
        self._held_out = held_out
        self._prediction = np.zeros_like(held_out.response)
        self._next = 0
        # of every second sample, if these have light from below
        self._places: list[PreparedPlaces] = []
        self._is_whole = False
        self.latest: float | None = None
        """The relative error of the part that was updated last."""
        # Sums of errors, by the first sample of a part.
        self._of_parts: dict[int, NDArray[np.float64]] = {}

    def advance(self, student: Student | LiveNetwork) -> bool:
        """Updates a part. Returns whether it was the last one."""
        until = min(self._next + _SAMPLES_AT_ONCE, len(self._prediction))
        while self._next < until:
            start, self._next = self._next, self._predict(student, self._next)
            self._measure(start, min(self._next, len(self._prediction)))
        if self._next < len(self._prediction):
            return False
        self._next = 0
        self._is_whole = True
        return True

    def _predict(self, student: Student | LiveNetwork, start: int) -> int:
        """Updates the prediction of some samples; returns the first of the next."""
        held_out = self._held_out
        if isinstance(student, DeviceMaterial):
            part = slice(start, start + _SAMPLES_AT_ONCE)
            self._prediction[part] = student.response(
                held_out.uv[part],
                held_out.wi[part],
                held_out.wo[part],
                live=None if held_out.live is None else held_out.live[part],
            )
            return part.stop
        sides = 2 if student.index_below else 1
        if not self._places:
            self._places = [self._prepared(student, np.s_[side::sides]) for side in range(sides)]
        number = self._places[0].part_of(start // sides)
        for side, places in enumerate(self._places):
            of_side, part = self._prediction[side::sides], places.slice_of(number)
            of_side[part] = places.evaluate(student, number)[:, 0].T
        return min(sides * (number + 1) * self._places[0].points, len(self._prediction))

    def _prepared(self, student: LiveNetwork, some: slice) -> PreparedPlaces:
        """Samples that are all on one side of the surface."""
        held_out = self._held_out
        uv, wi, wo = held_out.uv[some], held_out.wi[some, None], held_out.wo[some]
        live = None if held_out.live is None else held_out.live[some]
        above = 0 if wi[0, 0, 2] < 0 else None
        return PreparedPlaces(student, uv, wi, wo, live=live, above=above)

    def figures(self) -> SampleMetrics | None:
        """Errors of all samples, some of them a moment old; None before the first pass."""
        if not self._is_whole:
            return None
        log_mae, wrong, smape, gained, energy = np.sum(list(self._of_parts.values()), axis=0)
        count = len(self._prediction)
        return SampleMetrics(log_mae / count, wrong / energy, smape / count, gained / energy)

    def _measure(self, start: int, end: int) -> None:
        """Measures a part: measuring all samples would cost as much as predicting some."""
        response = self._held_out.response[start:end]
        found = measure_samples(self._prediction[start:end], response)
        self.latest = float(found.relative_l1)
        energy = max(float(response.sum(dtype=np.float64)), RELATIVE_EPSILON)
        count = end - start
        self._of_parts[start] = np.array(
            [
                found.log_mae * count,
                found.relative_l1 * energy,
                found.smape * count,
                found.bias * energy,
                energy,
            ]
        )

    def map(self) -> Floats:
        """Mean log error by place, row 0 at v = 0."""
        size = ERROR_MAP_SIZE
        held_out = self._held_out
        errors = texel_errors(held_out.uv, self._prediction, held_out.response, size, size)
        return np.nan_to_num(errors).astype(np.float32)


def weigh_places(importance: Floats | None, focus: Focus, seen_uv: Floats) -> Floats | None:
    """The weights of places for training; None if all are equal."""
    if focus.where == PAINTED:
        return _painted(importance)
    if focus.where == IN_VIEW:
        return _weighted_by_view(importance, seen_uv, focus.strength)
    return importance


def _painted(importance: Floats | None) -> Floats:
    """The weights, less the lowest one."""
    if importance is None or importance.min() == importance.max():
        raise ProtocolError("nothing is painted: raise the weight of a part, or train everywhere")
    return np.asarray(importance - importance.min(), np.float32)


def _weighted_by_view(importance: Floats | None, uv: Floats, strength: float) -> Floats:
    base = np.ones((_FOCUS_SIZE, _FOCUS_SIZE), np.float32) if importance is None else importance
    height, width = base.shape
    wrapped = uv - np.floor(uv)
    column = np.minimum((wrapped[:, 0] * width).astype(np.int64), width - 1)
    row = np.minimum((wrapped[:, 1] * height).astype(np.int64), height - 1)
    count = np.bincount(row * width + column, minlength=height * width).reshape(height, width)
    share = count / max(float(count.max()), 1.0)
    return np.asarray(base * (1.0 + strength * share), np.float32)
