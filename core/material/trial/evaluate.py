"""Evaluates a shader's teacher at places and directions where shaders fail."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.kernels import Source
from verdigris.core.material.evaluator import compile_points
from verdigris.core.material.shader.trial_result import ShaderTrial
from verdigris.core.material.teacher.teacher import Teacher

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats

_GROUP = 64
_EVALUATIONS = 4096
_LEAST_COSINE = 0.02
_LARGEST = 1e38
_SEED = 3


class RawTeacher(Teacher):
    """A teacher whose values are not clamped, and which is not tried itself."""

    def _tried(self) -> ShaderTrial:
        name = f"{self.source.name}_raw"
        self.kernels = self.device.material_kernels(name)
        self.source = Source(name, f"#define VERDIGRIS_RAW 1\n{self.source.text}")
        return ShaderTrial()


def evaluate(teacher: RawTeacher, enter: Callable[[str], None]) -> dict[str, Any]:
    """The fields of a `ShaderTrial`. `enter` reports the beginning of a phase."""
    compile_points(teacher)
    uv, wi, wo = _draw()
    if teacher.generated.transmission is not None:
        wi[::2, 2] *= -1
    enter("run")
    teacher.response(uv[:_GROUP], wi[:_GROUP], wo[:_GROUP])
    enter("run")
    values = teacher.response(uv, wi, wo)
    unlit = teacher.unlit(uv, wo)
    # emission and opacity are tried with the response of the same number; the kernel limits values
    # to the largest single float, and this also replaces NaN
    wrong = ~((values < _LARGEST).all(1) & (unlit < _LARGEST).all(1))
    # rounding gives numbers just below 0
    below = (values < -1e-4).any(1) & ~wrong
    found = wrong if wrong.any() else below
    first = int(found.argmax())
    place = ""
    if found.any():
        place = f"uv {_text(uv[first])}, light from {_text(wi[first])}, view {_text(wo[first])}"
    return {
        "evaluations": len(uv),
        "not_finite": int(wrong.sum()),
        "negative": int(below.sum()),
        "place": place,
    }


def _text(values: Sequence[float]) -> str:
    return f"({', '.join(f'{each:.3g}' for each in values)})"


def _draw() -> tuple[Floats, Floats, Floats]:
    """Places and directions; an eighth each along the normal, in mirror directions, and equal."""
    random = np.random.default_rng(_SEED)
    uv = random.random((_EVALUATIONS, 2))
    wi, wo = (_directions(random, _EVALUATIONS) for _ in range(2))
    kind = np.arange(_EVALUATIONS) % 8
    wo[kind == 1] = wi[kind == 1] = (0, 0, 1)
    wi[kind == 2] = wo[kind == 2] * (-1, -1, 1)
    wi[kind == 3] = wo[kind == 3]
    uv[kind == 4] = np.round(uv[kind == 4])
    return uv.astype(np.float32), wi.astype(np.float32), wo.astype(np.float32)


def _directions(random: np.random.Generator, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    z = _LEAST_COSINE + (1 - _LEAST_COSINE) * random.random(count)
    turn = 2 * math.pi * random.random(count)
    side = np.sqrt(1 - z**2)
    return np.stack([side * np.cos(turn), side * np.sin(turn), z], 1)
