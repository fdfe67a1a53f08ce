"""Tells how wrong each texel of a student is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.measure.measure import LEAST_COSINE
from verdigris.core.base.device import MOST_THREADS, Source
from verdigris.core.network.texels import centres

if TYPE_CHECKING:
    import slangpy
    from numpy.typing import NDArray

    from verdigris.core.material.evaluator import DeviceMaterial, Floats, Footprint
    from verdigris.core.network.student import Student

    Indices = NDArray[np.int64]

# Of so many pairs of directions one is mirrored, to see highlights.
_MIRRORED = 3
_SOURCE, _ENTRY = Source("baking/measure/judge_responses"), "judgeResponses"
_DIRECTIONS, _DRAW = Source("baking/measure/judge_directions"), "drawDirections"


@dataclass(frozen=True)
class Judge:
    """Compares texels of one level with the material there."""

    teacher: DeviceMaterial
    student: Student
    size: int
    footprint: Footprint
    random: np.random.Generator

    def errors(self, texels: Indices, donors: Indices, pairs: int) -> Floats:
        """(donors, texels): what is left of each texel with the values of each of its donors."""
        most = MOST_THREADS // max(len(donors), self.teacher.lanes_per_sample)
        parts = [
            self._errors(texels[first : first + most], donors[:, first : first + most], pairs)
            for first in range(0, len(texels), most)
        ]
        return np.concatenate(parts, 1) if parts else np.empty(donors.shape, np.float32)

    def _errors(self, texels: Indices, donors: Indices, pairs: int) -> Floats:
        count, student = len(texels), self.student
        kernel = student.kernel(_SOURCE, _ENTRY)
        uv, uv_of_donors = self._centres(texels), self._centres(donors.ravel())
        errors = student.buffer(donors.size, np.zeros(donors.size, np.float32))
        for pair in range(pairs):
            towards = self.directions(count, is_mirrored=pair % _MIRRORED == 0)
            wanted = self.teacher.response_on_device(count, uv, *towards, self.footprint)
            student.device.dispatch(
                kernel,
                donors.size,
                {
                    "gParameters": {"wanted": count, "places": len(donors)},
                    "gUv": uv_of_donors,
                    "gIncoming": towards[0],
                    "gOutgoing": towards[1],
                    "gWanted": wanted,
                    "gErrors": errors,
                    **student.bindings(),
                },
            )
        return np.asarray(errors.to_numpy().view(np.float32).reshape(donors.shape))

    def directions(self, count: int, is_mirrored: bool) -> tuple[slangpy.Buffer, slangpy.Buffer]:
        """To the light and the viewer. They are drawn on the device: a judge asks for millions."""
        device = self.student.device
        wi, wo = (self.student.buffer(3 * count, None) for _ in range(2))
        device.dispatch(
            device.shared_kernels({}, ()).get((_DIRECTIONS,), _DRAW),
            count,
            {
                "gParameters": {
                    "seed": int(self.random.integers(1 << 32)),
                    "count": count,
                    "leastCosine": LEAST_COSINE,
                    "isMirrored": int(is_mirrored),
                },
                "gIncoming": wi,
                "gOutgoing": wo,
            },
        )
        return wi, wo

    def _centres(self, texels: Indices) -> slangpy.Buffer:
        return self.student.buffer(2 * len(texels), centres(texels, self.size))
