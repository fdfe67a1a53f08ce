"""What lies where on the texture: the error of the student, and what a view shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.training.metrics import texel_errors
from verdigris.core.worker.commands import IN_VIEW, PAINTED
from verdigris.core.worker.protocol import ProtocolError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.network.student import Student
    from verdigris.core.training.measure import HeldOut
    from verdigris.core.worker.commands import Focus

    Floats = NDArray[np.float32]

ERROR_MAP_SIZE = 64
_SAMPLES_AT_ONCE = 1024
_FOCUS_SIZE = 64


class RollingErrors:
    """The student's error on held-out samples, found a few samples at a time."""

    def __init__(self, held_out: HeldOut) -> None:
        self._held_out = held_out
        self._prediction = np.zeros_like(held_out.response)
        self._next = 0

    def advance(self, student: Student) -> bool:
        """Whether that was the last part: the map is of all samples then."""
        part = slice(self._next, self._next + _SAMPLES_AT_ONCE)
        held_out = self._held_out
        self._prediction[part] = student.response(
            held_out.uv[part], held_out.wi[part], held_out.wo[part]
        )
        self._next += _SAMPLES_AT_ONCE
        if self._next < len(held_out.uv):
            return False
        self._next = 0
        return True

    def map(self) -> Floats:
        """Mean log error by place, row 0 at v = 0."""
        size = ERROR_MAP_SIZE
        held_out = self._held_out
        errors = texel_errors(held_out.uv, self._prediction, held_out.response, size, size)
        return np.nan_to_num(errors).astype(np.float32)


def focused(importance: Floats | None, focus: Focus, seen_uv: Floats) -> Floats | None:
    """The weights that training draws places by; None where every place counts the same."""
    if focus.where == PAINTED:
        return _painted(importance)
    if focus.where == IN_VIEW:
        return _weighted_by_view(importance, seen_uv, focus.strength)
    return importance


def _painted(importance: Floats | None) -> Floats:
    """Only what was raised above the rest."""
    if importance is None or importance.min() == importance.max():
        raise ProtocolError(
            "nothing is painted to look at: raise the weight of a part, or train everywhere"
        )
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
