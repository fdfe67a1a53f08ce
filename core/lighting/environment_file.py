"""Reads HDRIs: .hdr and .exr files with light from all directions."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import LightingError
from verdigris.core.base.images import UNREADABLE, ImageError, open_image
from verdigris.core.base.inputs import require_file
from verdigris.core.base.text import require_unicode
from verdigris.core.lighting.environment import ENVIRONMENTS, Environment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats


SUFFIXES = (".hdr", ".exr")
LARGEST_WIDTH = 16_384
# Wider maps are averaged: a texel at this width spans a fifth of the sun.
WIDTH_USED = 4096
# More would overflow in sums of single floats.
_BRIGHTEST = 1e9
# Tried one after another, because each needs memory of its own.
_FAULTS: tuple[tuple[Callable[[Floats], NDArray[np.bool_]], str, str], ...] = (
    (np.isnan, "not a number (NaN)", "paint over them"),
    (np.isinf, "infinite", "clip them, or save as 32-bit floats"),
    (lambda texels: texels < 0, "negative, down to {least:.4g}", "clip them to 0"),
    (lambda texels: texels > _BRIGHTEST, f"above {_BRIGHTEST:.0e}", "scale the map down"),
)


def read_environment(path: str | Path) -> Environment:
    """The environment in a latitude-longitude map, which contains its sun, if any."""
    path = Path(path)
    _check_file(path)
    return Environment.of(_reduced(_checked(path, _read(path))))


def _check_file(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise LightingError(
            f"{path}: {path.suffix!r} is not a format of environments: use "
            f"{' or '.join(SUFFIXES)}, or a name ({', '.join(ENVIRONMENTS)})"
        )
    require_file(path, LightingError, "name an HDRI, or 'sky'")
    require_unicode(path, LightingError)
    if not os.access(path, os.R_OK):
        raise LightingError(f"{path}: its permissions do not allow reading: change them")
    if path.stat().st_size == 0:
        raise LightingError(f"{path}: is empty (0 bytes): save it again")


def _read(path: Path) -> Floats:
    try:
        with open_image(path) as image:
            width, height = image.size
            _check_shape(path, width, height)
            shown = image.texels(3 if image.channels >= 3 else 1, "float")
    except ImageError as failure:
        formats = f" as {' or '.join(SUFFIXES)}" if failure.what == UNREADABLE else ""
        raise LightingError(f"{path}: {failure}: save it again{formats}") from None
    return np.ascontiguousarray(np.broadcast_to(shown, (height, width, 3)), np.float32)


def _check_shape(path: Path, width: int, height: int) -> None:
    if width > LARGEST_WIDTH:
        raise LightingError(
            f"{path}: is {width} pixels wide, and at most {LARGEST_WIDTH} are read: scale it down"
        )
    if width != 2 * height:
        raise LightingError(
            f"{path}: is {width} x {height} pixels, but a latitude-longitude map is twice as wide "
            "as high: convert it to that layout"
        )


def _checked(path: Path, texels: Floats) -> Floats:
    least = texels.min()
    for is_bad, what, remedy in _FAULTS:
        are_here = is_bad(texels).any(-1)
        count = int(are_here.sum())
        if count:
            row, column = np.argwhere(are_here)[0]
            raise LightingError(
                f"{path}: {count} pixels are {what.format(least=least)}, first in column {column}, "
                f"row {row}: {remedy}, and save it again"
            )
    if not texels.any():
        raise LightingError(f"{path}: is black and lights nothing: choose another")
    return texels


def _reduced(texels: Floats) -> Floats:
    """Averages of whole groups of texels, so that no light is lost, until few enough are left."""
    height, width = texels.shape[:2]
    factor = next((n for n in (1, 2, 3, 4) if width % n == 0 and width // n <= WIDTH_USED), 0)
    if factor:
        shape = (height // factor, factor, width // factor, factor, 3)
        return np.asarray(texels.reshape(shape).mean((1, 3), dtype=np.float64), np.float32)
    # without a divisor, by exact overlap
    narrow = _resampled(texels, WIDTH_USED, 1)
    return _resampled(narrow, WIDTH_USED // 2, 0)


def _resampled(texels: Floats, count: int, axis: int) -> Floats:
    """Means over equal parts of an axis, by differences of running sums."""
    size = texels.shape[axis]
    sums = np.cumsum(texels, axis, dtype=np.float64)
    sums = np.concatenate([np.zeros_like(sums.take([0], axis)), sums], axis)
    place = np.arange(count + 1) * (size / count)
    low = np.minimum(place.astype(int), size - 1)
    part = (place - low).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
    at = sums.take(low, axis) * (1 - part) + sums.take(low + 1, axis) * part
    return np.asarray(np.diff(at, axis=axis) * (count / size), np.float32)
