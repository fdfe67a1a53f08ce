"""Measures the milliseconds of relief on a full screen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verdigris.core.base.kernels import Source
from verdigris.core.bundle.cost.time_responses import time_dispatch
from verdigris.core.bundle.files.ktx2 import RGBA8
from verdigris.core.bundle.runtime.device_materials import upload_texture

if TYPE_CHECKING:
    from verdigris.core.base.device import Device
    from verdigris.core.geometry.height_map import HeightMap

SCREEN = 1920, 1080
# Degrees between the view and the normal.
ANGLES = 30, 45, 70
_KERNEL = (Source("bundle/cost/time_relief"),), "timeRelief"
_REPEATS = 8
# A CPU draws a part of the screen: each of its sides divided by this.
_SMALLER = 8


@dataclass(frozen=True)
class ReliefMilliseconds:
    """Milliseconds of a full screen of 1920 x 1080, the mean of three angles."""

    place: float
    """The visible place alone."""
    normal: float
    """With its normal."""
    shadow: float
    """With its normal and the shadow of one light."""


def time_relief(heights: HeightMap, device: Device) -> ReliefMilliseconds:
    """Times the relief of a plane that fills the screen."""
    kernel = device.shared_kernels({}, ()).get(*_KERNEL)
    texture = upload_texture(device, RGBA8, heights.levels)
    part = _SMALLER if device.is_software else 1
    # whole groups of 8 x 8 pixels
    width, height = (-(-side // part) // 8 * 8 for side in SCREEN)
    count = width * height
    output = device.new_space(count)

    def seconds(parts: int, angle: float) -> float:
        timing = {
            "screen": [width, height],
            "view": [math.cos(math.radians(angle)), math.sin(math.radians(angle))],
            "size": [*heights.size, len(heights.levels)],
            "scale": heights.scale,
            "midlevel": heights.midlevel,
            "parts": parts,
        }
        variables = {"gTiming": timing, "gHeights": texture, "gSum": output}
        repeats = 2 if device.is_software else _REPEATS
        return min(time_dispatch(device, kernel, count, variables) for _ in range(repeats))

    share = SCREEN[0] * SCREEN[1] / count
    means = [
        1000 * share * sum(seconds(parts, angle) for angle in ANGLES) / len(ANGLES)
        for parts in range(3)
    ]
    return ReliefMilliseconds(*means)
