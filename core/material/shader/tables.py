"""Files of numbers that shaders read: arrays of numpy, and measured materials of the MERL database.

The layout of a MERL file follows the reader that the database publishes (BRDFRead.cpp): three
whole numbers with the sizes of the grid, then all red, all green and all blue values as doubles,
each to be multiplied by a number of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import DocumentError, reason
from verdigris.core.material.files.paths import SearchPath
from verdigris.core.material.shader.document_text import OWN_FOLDER, OWN_SHADERS, document_text
from verdigris.core.material.shader.expand import LIGHTS, MERL_SUFFIX, RGL_SUFFIX
from verdigris.core.material.shader.light_stack import read_stack
from verdigris.core.material.shader.rgl import read_rgl
from verdigris.core.material.shader.shader_file import read_shader_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats

_OWN_SHADERS = {MERL_SUFFIX: "merl.slang", RGL_SUFFIX: "rgl.slang", LIGHTS: "light_stack.slang"}
MERL_GRID = 90, 90, 180
MERL_SCALES = 1.0 / 1500.0, 1.15 / 1500.0, 1.66 / 1500.0
_MOST_BYTES = 1 << 30


def is_measured(path: Path) -> bool:
    """Whether a file is a measured material by its name."""
    return bool(_own_shader(path))


def _own_shader(path: Path) -> str:
    """The name of our shader that reads a measured material; empty for other files."""
    return _OWN_SHADERS.get(LIGHTS if path.name == LIGHTS else path.suffix.lower(), "")


def read_measured_document(path: Path) -> str:
    """A measured material as the text of a MaterialX document."""
    # refuses a damaged file before a bake
    read_table(path, str(path))
    own = _own_shader(path)
    shader = read_shader_file(OWN_SHADERS / own, SearchPath(), values={"table": path.name})
    # images of lights are named like their folder
    stem = path.absolute().parent.name if path.name == LIGHTS else path.stem
    return document_text(stem, f"{OWN_FOLDER}/{own}", shader)


def read_table(path: Path, asker: str) -> Floats:
    """The numbers of a file, in one row."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise DocumentError(f"{asker}: {path} is larger than {_MOST_BYTES >> 30} GB")
        found: NDArray[Any]
        if path.suffix.lower() == MERL_SUFFIX:
            found = _read_merl(path, asker)
        elif path.suffix.lower() == RGL_SUFFIX:
            found = read_rgl(path, asker)
        elif path.name == LIGHTS:
            found = read_stack(path)
        else:
            found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as failure:
        why = reason(failure) if isinstance(failure, OSError) else str(failure)
        raise DocumentError(
            f"{asker}: {path} cannot be read ({why}): use an array of numpy (.npy), or a file of "
            f"the MERL ({MERL_SUFFIX}) or RGL database ({RGL_SUFFIX})"
        ) from None
    if found.dtype.kind not in "fiu" or not found.size:
        raise DocumentError(f"{asker}: {path} contains no numbers ({found.dtype}): save floats")
    values = np.ascontiguousarray(found, np.float32).reshape(-1)
    if not np.isfinite(values).all():
        raise DocumentError(f"{asker}: {path} contains numbers that are not finite: save it again")
    return values


def _read_merl(path: Path, asker: str) -> NDArray[np.float64]:
    """The colours of a grid, [half, difference, turn, channel]. Negative ones are not measured."""
    data = path.read_bytes()
    sizes = np.frombuffer(data[:12], "<i4")
    count = int(np.prod(MERL_GRID))
    if tuple(sizes) != MERL_GRID or len(data) != 12 + 24 * count:
        shown = " x ".join(map(str, sizes))
        raise DocumentError(
            f"{asker}: {path} has {shown or 'no'} entries in {len(data):,} bytes: a file of the "
            f"MERL database has {' x '.join(map(str, MERL_GRID))} in {12 + 24 * count:,}"
        )
    values = np.frombuffer(data, "<f8", offset=12).reshape(3, *MERL_GRID)
    return np.asarray(np.moveaxis(values, 0, -1) * MERL_SCALES)
