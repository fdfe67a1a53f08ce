"""Reads and writes importance maps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.arrays import REAL_KINDS, open_array
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.outputs import behind_link, check_output, write_image
from verdigris.core.base.text import require_unicode
from verdigris.core.base.working_folder import require_for
from verdigris.core.material.files.display_window import shown_size, shown_texels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float32]

LARGEST_SIDE = 8192
ARRAY_SUFFIX = ".npy"


def read_importance(path: Path) -> Floats:
    """One channel of weights, row 0 at v = 0. Of a colour image, the mean of its colours. A numpy
    array (.npy) holds the rows as they are: what a host can write that has no library for images.

    Any size will do: weights are shares of the whole, and a map of another size than the latent
    texture weighs larger or smaller places.
    """
    try:
        is_there = path.is_file()
    except OSError as failure:
        raise SettingsError(f"{path}: cannot be read ({failure.strerror})") from None
    if not is_there:
        require_for(path)
        what = "is a folder: name a file" if path.is_dir() else "there is no such file"
        raise SettingsError(f"{path}: {what}")
    require_unicode(path, SettingsError)
    weights = _read_array(path) if path.suffix.lower() == ARRAY_SUFFIX else _read_image(path)
    check_importance(weights, str(path))
    return weights


def _read_array(path: Path) -> Floats:
    found = open_array(path)
    if found.ndim != 2 or found.dtype.kind not in REAL_KINDS or max(found.shape) > LARGEST_SIDE:
        raise SettingsError(
            f"{path}: holds {found.dtype} of shape {found.shape}: use rows and columns of weights, "
            f"at most {LARGEST_SIDE} a side"
        )
    return in_single_floats(found, str(path))


def in_single_floats(found: ArrayLike, name: str) -> Floats:
    """A copy of weights of any kind."""
    with np.errstate(over="ignore", under="ignore"):
        try:
            given = np.asarray(found)
        except (TypeError, ValueError) as failure:
            raise SettingsError(
                f"{name}: holds no numbers ({failure}): use rows of weights"
            ) from None
        if given.dtype.kind not in REAL_KINDS:
            raise SettingsError(f"{name}: holds {given.dtype}, no numbers: use rows of weights")
        weights = np.array(given, np.float32)
    too_large = int(np.count_nonzero(np.isinf(weights) & np.isfinite(given)))
    if too_large:
        raise SettingsError(
            f"{name}: {too_large} of its weights are beyond {np.finfo(np.float32).max:.1e}: "
            "weights are relative, so scale them all down"
        )
    if not weights.any() and given.any():
        raise SettingsError(
            f"{name}: its weights are below {np.finfo(np.float32).tiny:.1e}: weights are relative, "
            "so scale them all up"
        )
    return weights


def _read_image(path: Path) -> Floats:
    import OpenImageIO as oiio

    config = oiio.ImageSpec()
    # otherwise what is transparent would weigh nothing, and be left out
    config["oiio:UnassociatedAlpha"] = 1
    source = oiio.ImageInput.open(str(path), config)
    if source is None:
        raise SettingsError(f"{path}: not an image that can be read: {oiio.geterror()}")
    spec = source.spec()
    # of other formats, the first is what is seen: a document's layers and pages follow it
    parts = spec.getattribute("oiio:subimages") or 1
    if source.format_name() == "openexr" and parts > 1:
        source.close()
        raise SettingsError(
            f"{path}: holds {parts} parts, any of which may be the weights: save them alone"
        )
    width, height = shown_size(source)
    if max(width, height) > LARGEST_SIDE:
        source.close()
        raise SettingsError(
            f"{path}: {width} x {height} texels; an importance map has at most "
            f"{LARGEST_SIDE} a side: scale it down"
        )
    # of grey with coverage, the grey
    channels = 1 if spec.nchannels < 3 else 3
    texels = source.read_image(0, 0, 0, channels, "float")
    problem = source.geterror()
    source.close()
    if texels is None or problem:
        raise SettingsError(f"{path}: is damaged: {problem or 'the file ends early'}")
    weights = shown_texels(source, np.asarray(texels, np.float32)).mean(-1)
    return np.ascontiguousarray(weights[::-1])


def check_map_path(path: Path) -> Path:
    """Where a map is written: the path, or what it leads to as a link. Refuses, before any work, a
    name that no map can be written to."""
    target = behind_link(path, SettingsError)
    if target.suffix.lower() != ".exr":
        raise SettingsError(f"{target}: importance maps are written as .exr")
    if not target.parent.is_dir():
        raise SettingsError(f"{target}: the folder {target.parent} is not there: make it first")
    require_unicode(target, SettingsError)
    check_output(target)
    return target


def write_importance(path: Path, weights: Floats) -> None:
    """Writes a map, row 0 at v = 0, as one channel of full floats; whole or not at all."""
    import OpenImageIO as oiio

    target = check_map_path(path)
    height, width = weights.shape
    spec = oiio.ImageSpec(width, height, 1, "float")
    spec.channelnames = ("Y",)
    texels = np.ascontiguousarray(weights[::-1, :, None], np.float32)
    write_image(target, spec, texels)


def check_importance(weights: Floats, name: str) -> None:
    """Refuses weights that are no distribution, saying how many are at fault."""
    if weights.ndim != 2 or not weights.size:
        raise SettingsError(f"{name}: has shape {weights.shape}: use rows and columns of weights")
    height, width = weights.shape
    if max(width, height) > LARGEST_SIDE:
        raise SettingsError(
            f"{name}: is {width} x {height}: use at most {LARGEST_SIDE} a side, so scale it down"
        )
    odd = int(np.count_nonzero(~np.isfinite(weights)))
    if odd:
        raise SettingsError(f"{name}: no numbers in {odd} of its texels: paint them again")
    negative = int(np.count_nonzero(weights < 0))
    if negative:
        raise SettingsError(f"{name}: negative in {negative} of its texels: weights start at 0")
    if not weights.any():
        raise SettingsError(f"{name}: is zero everywhere: paint something or leave it out")
