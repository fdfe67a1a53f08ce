"""FLIP of many pictures at once, on a device.

The library takes a tenth of a second for 256 x 256 pixels in one thread, and a ladder compares
hundreds of pictures. Tests compare this with the library.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.base.kernels import Source, constants_module

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats


_SHADER = Source("ladder/measure/flip")
# A display of .7 m at a distance of .7 m with 3840 pixels, as in the library.
_PIXELS_A_DEGREE = 0.7 * 3840 / 0.7 * np.pi / 180
# Contrast sensitivity as sums of Gaussians a sqrt(pi / b) exp(-(pi x)^2 / b), x in degrees.
_LIGHTNESS, _RED_GREEN = (1.0, 0.0047), (1.0, 0.0053)
_BLUE_YELLOW = ((34.1, 0.04), (13.5, 0.025))
_FEATURE_WIDTH = 0.082
_RADIUS = int(np.ceil(3 * np.sqrt(_BLUE_YELLOW[0][1] / (2 * np.pi**2)) * _PIXELS_A_DEGREE))
_MOST_PIXELS = 1 << 19


def flip_maps(device: Device, drawn: Floats, reference: Floats) -> Floats:
    """FLIP at the pixels of pictures (count, height, width, 3) of linear light, as displayed."""
    count, height, width, _ = drawn.shape
    at_once = max(1, _MOST_PIXELS // (height * width))
    found = np.zeros((count, height, width), np.float32)
    filters = device.new_buffer(_filters())
    for first in range(0, count, at_once):
        part = slice(first, min(count, first + at_once))
        found[part] = _compare(device, filters, drawn[part], reference[part])
    return found


def _compare(device: Device, filters: Any, drawn: Floats, reference: Floats) -> Floats:
    """FLIP of as many pictures as fit into a dispatch."""
    kernels = device.shared_kernels({}, (_constants(),))
    count, height, width, _ = drawn.shape
    pixels = count * height * width
    errors = device.new_space(pixels)
    buffers = {
        "gFilters": filters,
        "gRows": device.new_space(2 * pixels * _filters().shape[1]),
        "gErrors": errors,
    }
    tested, compared = (device.new_buffer(each) for each in (drawn, reference))
    for entry, pictures, first in (
        ("filterRows", tested, 0), ("filterRows", compared, pixels), ("compareColumns", tested, 0),
    ):  # fmt: skip
        parameters = {"count": pixels, "first": first, "width": width, "height": height}
        variables = {**buffers, "gPictures": pictures, "gParameters": parameters}
        device.dispatch(kernels.get((_SHADER,), entry), pixels, variables)
    return np.asarray(errors.to_numpy().view(np.float32).reshape(-1, height, width))


@cache
def _constants() -> Source:
    return constants_module("flip_constants", {"kRadius": _RADIUS})


@cache
def _filters() -> Floats:
    """The filters (places, 7), in the order of the shader."""
    place = np.arange(-_RADIUS, _RADIUS + 1)
    degrees = place / _PIXELS_A_DEGREE

    def gaussian(a: float, b: float) -> NDArray[np.float64]:
        # the product along rows and columns then has the factor of the sum
        return np.asarray(np.sqrt(a * np.sqrt(np.pi / b)) * np.exp(-((np.pi * degrees) ** 2) / b))

    columns = [gaussian(*each) for each in (_LIGHTNESS, _RED_GREEN)]
    columns = [each / each.sum() for each in columns]
    both = [gaussian(*each) for each in _BLUE_YELLOW]
    total = np.sqrt(sum(each.sum() ** 2 for each in both))
    columns += [each / total for each in both]
    deviation = 0.5 * _FEATURE_WIDTH * _PIXELS_A_DEGREE
    bell = np.exp(-(place**2) / (2 * deviation**2)) * (abs(place) <= np.ceil(3 * deviation))
    slopes = -place * bell, ((place / deviation) ** 2 - 1) * bell
    columns.append(bell / bell.sum())
    for slope in slopes:
        up, down = np.maximum(slope, 0), np.minimum(slope, 0)
        columns.append(up / up.sum() + down / -down.sum())
    return np.stack(columns, 1).astype(np.float32)
