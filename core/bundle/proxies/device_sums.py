"""Sums over lights on a device: quadrature.sum_lights for the millions of lights that it can."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.device import MOST_THREADS
from verdigris.core.base.kernels import Source
from verdigris.core.bundle.proxies.lobes import (
    ALPHAS,
    APART,
    LARGEST_ALPHA,
    LEAST_ALPHA,
    LEAST_DENSITY,
    PLASTIC,
)
from verdigris.core.bundle.proxies.quadrature import (
    Floats,
    LightSums,
    LightTask,
    Respond,
    SumLights,
)
from verdigris.core.network.spec import LEAST_VIEW_COSINE

if TYPE_CHECKING:
    from verdigris.core.material.evaluator import DeviceMaterial

_SUM = Source("bundle/proxies/sum_lights")
_SUM_FLOATS = 12
# Counts in the kernel's parameters: four frames of four lobes, and the cosine.
_MOST_COUNTS = 17
# Which of the six sums of products each element of the symmetric matrix is.
_SYMMETRIC = ((0, 3, 4), (3, 1, 5), (4, 5, 2))
_WHOLE = 1 << 32


def sums_on(material: DeviceMaterial) -> SumLights:
    """The same function with a device's kernel. `respond` must be this material's response."""

    def sum_over(respond: Respond, task: LightTask) -> LightSums:
        del respond
        parts = [
            _dispatch(material, task.part(slice(start, start + MOST_THREADS)))
            for start in range(0, len(task.uv), MOST_THREADS)
        ]
        sums = np.concatenate(parts).astype(np.float64)
        square = sums[:, 6:][:, np.array(_SYMMETRIC)]
        return LightSums(sums[:, :3], sums[:, 3:6], square)

    return sum_over


def _dispatch(material: DeviceMaterial, task: LightTask) -> Floats:
    count, frames = len(task.uv), task.frames
    views = np.concatenate([task.uv, task.wo.T, task.shift.T, task.lambert.T], axis=1)
    lobes = np.stack(
        [
            np.concatenate([axes.reshape(9, count), narrow]).T
            for axes, narrow in zip(frames.axes, frames.narrowness, strict=True)
        ],
        axis=1,
    )
    output = material.device.new_space(_SUM_FLOATS * count)
    kernel = material.kernel(_SUM, "sumLights")
    material.device.dispatch(
        kernel,
        count,
        {
            "gSum": {
                "count": count,
                "lights": sum(task.counts),
                "frames": len(frames.axes),
                "lobes": len(task.counts) - 1,
                "counts": [*task.counts, *[0] * (_MOST_COUNTS - len(task.counts))],
                "alphas": list(ALPHAS),
                "alphaRange": [LEAST_ALPHA, LARGEST_ALPHA],
                "leastCosine": LEAST_VIEW_COSINE,
                "leastDensity": LEAST_DENSITY,
                "plastic": [round(_WHOLE * each) for each in PLASTIC],
                "apart": APART,
            },
            "gViews": material.device.new_buffer(views.astype(np.float32)),
            "gLobes": material.device.new_buffer(lobes.astype(np.float32)),
            "gSums": output,
            **material.bindings(),
        },
    )
    sums: Floats = output.to_numpy().view(np.float32).reshape(count, _SUM_FLOATS)
    return sums
