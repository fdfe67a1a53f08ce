"""Importance maps: reads and writes them, and makes one from the errors of a bake."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.arrays import REAL_KINDS, open_array
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.images import ImageError, open_image
from verdigris.core.base.inputs import require_file
from verdigris.core.base.outputs import behind_link, check_output, write_image
from verdigris.core.base.text import require_unicode

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from verdigris.core.base.array_types import Floats


LARGEST_SIDE = 8192
ARRAY_SUFFIX = ".npy"
# Passes of a 3 x 3 mean over the errors of a bake: the error of one texel is that of a few samples.
_PASSES = 2
# Percentiles of the error.
_NORMAL_UP_TO, _MOST_AT = 75, 99


def read_importance(path: Path) -> Floats:
    """Reads one channel of weights, row 0 at v = 0. Colour images give the mean of their colours. A
    numpy array (.npy) has row 0 at v = 0, for hosts without an image library.

    A map may have another size than the latent texture, because weights are relative.
    """
    require_file(path, SettingsError, "name a file")
    require_unicode(path, SettingsError)
    weights = _read_array(path) if path.suffix.lower() == ARRAY_SUFFIX else _read_image(path)
    check_importance(weights, str(path))
    return weights


def _read_array(path: Path) -> Floats:
    found = open_array(path)
    if found.ndim != 2 or found.dtype.kind not in REAL_KINDS or max(found.shape) > LARGEST_SIDE:
        raise SettingsError(
            f"{path}: is an array of {found.dtype} with shape {found.shape}: use rows and columns "
            f"of weights, at most {LARGEST_SIDE} x {LARGEST_SIDE}"
        )
    return as_float32(found, str(path))


def as_float32(found: ArrayLike, name: str) -> Floats:
    """Weights of any numeric type as float32, as a copy."""
    with np.errstate(over="ignore", under="ignore"):
        try:
            given = np.asarray(found)
        except (TypeError, ValueError) as failure:
            raise SettingsError(
                f"{name}: is not an array of numbers ({failure}): use rows of weights"
            ) from None
        if given.dtype.kind not in REAL_KINDS:
            raise SettingsError(f"{name}: is an array of {given.dtype}: use numbers")
        weights = np.array(given, np.float32)
    too_large = int(np.count_nonzero(np.isinf(weights) & np.isfinite(given)))
    if too_large:
        raise SettingsError(
            f"{name}: {too_large} weights are above {np.finfo(np.float32).max:.1e}: weights are "
            "relative, so scale all of them down"
        )
    if not weights.any() and given.any():
        raise SettingsError(
            f"{name}: all weights are below {np.finfo(np.float32).tiny:.1e}: weights are relative, "
            "so scale all of them up"
        )
    return weights


def _read_image(path: Path) -> Floats:
    try:
        # with associated alpha, transparent texels would have weight 0
        with open_image(path, straight_alpha=True) as image:
            # in other formats the first part is the whole picture; layers and pages follow it
            if image.format_name == "openexr" and image.parts > 1:
                raise SettingsError(
                    f"{path}: has {image.parts} parts: save the weights in a file with one part"
                )
            width, height = image.size
            if max(width, height) > LARGEST_SIDE:
                raise SettingsError(
                    f"{path}: is {width} x {height}: scale the importance map down to at most "
                    f"{LARGEST_SIDE} x {LARGEST_SIDE}"
                )
            # grey with alpha: only the grey
            texels = image.texels(1 if image.channels < 3 else 3, "float")
    except ImageError as failure:
        raise SettingsError(f"{path}: {failure}: save it again") from None
    weights = np.asarray(texels, np.float32).mean(-1)
    return np.ascontiguousarray(weights[::-1])


def check_map_path(path: Path) -> Path:
    """Checks, before any work, that a map can be written. Returns the path, or a link's target."""
    target = behind_link(path, SettingsError)
    if target.suffix.lower() != ".exr":
        raise SettingsError(f"{target}: importance maps are written as .exr: change the suffix")
    if not target.parent.is_dir():
        raise SettingsError(f"{target}: the folder {target.parent} does not exist: create it")
    require_unicode(target, SettingsError)
    check_output(target)
    return target


def write_importance(path: Path, weights: Floats) -> None:
    """Writes a map, row 0 at v = 0, as one float channel."""
    texels = np.ascontiguousarray(weights[::-1, :, None], np.float32)
    write_image(check_map_path(path), texels, "float", channel_names=("Y",))


def check_importance(weights: Floats, name: str) -> None:
    """Raises an error for weights that cannot be a distribution."""
    if weights.ndim != 2 or not weights.size:
        raise SettingsError(f"{name}: has shape {weights.shape}: use rows and columns of weights")
    height, width = weights.shape
    if max(width, height) > LARGEST_SIDE:
        raise SettingsError(
            f"{name}: is {width} x {height}: scale it down to at most {LARGEST_SIDE} x "
            f"{LARGEST_SIDE}"
        )
    odd = int(np.count_nonzero(~np.isfinite(weights)))
    if odd:
        raise SettingsError(f"{name}: {odd} texels are not finite numbers: paint them again")
    negative = int(np.count_nonzero(weights < 0))
    if negative:
        raise SettingsError(f"{name}: {negative} texels are negative: use weights from 0 up")
    if not weights.any():
        raise SettingsError(f"{name}: is zero everywhere: paint some weights, or use no map")


def weights_from_error(errors: Floats, size: int, normal: float, most: float) -> Floats:
    """A map of weights (size, size) from errors by place, row 0 at v = 0.

    The quarter of the texture with the largest errors gets more weight than `normal`: weights on
    most of a surface help little. A weight grows with the square root of the error: this density
    makes the mean error least where a place's error is inversely proportional to its samples. The
    error of one place in a hundred has the weight `most`.
    """
    smooth = np.asarray(errors, np.float64)
    for _ in range(_PASSES):
        smooth = _mean_of_neighbours(smooth)
    low, high = (float(np.percentile(smooth, each)) for each in (_NORMAL_UP_TO, _MOST_AT))
    if not high > low > 0:
        return np.full((size, size), normal, np.float32)
    roots = (np.sqrt(smooth) - np.sqrt(low)) / (np.sqrt(high) - np.sqrt(low))
    weights = normal + (most - normal) * np.clip(roots, 0, 1)
    return _resampled(weights, size)


def _mean_of_neighbours(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each texel and its eight neighbours, over the edges of a repeating texture."""
    steps = [(down, across) for down in (-1, 0, 1) for across in (-1, 0, 1)]
    return np.asarray(np.mean([np.roll(values, step, (0, 1)) for step in steps], axis=0))


def _resampled(values: NDArray[np.float64], size: int) -> Floats:
    """Bilinear interpolation between texel centres of a repeating texture."""
    for axis in (0, 1):
        count = values.shape[axis]
        place = (np.arange(size) + 0.5) / size * count - 0.5
        first = np.floor(place).astype(np.int64)
        share = (place - first).reshape((-1, 1) if axis == 0 else (1, -1))
        near, far = (np.take(values, each % count, axis) for each in (first, first + 1))
        values = near + share * (far - near)
    return values.astype(np.float32)
