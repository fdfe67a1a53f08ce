"""Reads painted weights from mesh files: vertex colours of OBJ, primvars of USD."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import MeshError
from verdigris.core.geometry.mesh import (
    load_mesh,
    obj_corner,
    obj_fault,
    obj_lines,
    usd_faces,
    usd_meshes,
)
from verdigris.core.geometry.primvars import CHANNELS, find_weights, one_channel, weight_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.geometry.mesh import Mesh

    Floats = NDArray[np.float32]

# The name for OBJ's vertex colours: three numbers after the position.
OBJ_ATTRIBUTE = "color"
_NORMAL_WEIGHT = 1.0


def load_painted_mesh(
    path: Path, attribute: str, low: float = 0.0, high: float = 1.0
) -> tuple[Mesh, Floats, tuple[str, ...]]:
    """The mesh, the weights (T, 3) of its corners, and warnings.

    A colour gives the mean of its channels, or one channel with a suffix: `displayColor.r`. The
    values 0 and 1 become the weights `low` and `high`. Corners without a value get the weight 1.
    """
    mesh = load_mesh(path)
    base, channel = attribute, None
    if "." in attribute and attribute.rsplit(".", 1)[1] in CHANNELS:
        base, letter = attribute.rsplit(".", 1)
        channel = CHANNELS.index(letter)
    read = _obj_weights if path.suffix.lower() == ".obj" else _usd_weights
    weights, warnings = read(path, base, channel, (low, high))
    if len(weights) != mesh.corner_count:
        raise MeshError(f"{path}: the file changed while it was read: try again")
    return mesh, weights[mesh.corners], warnings


def _obj_weights(
    path: Path, name: str, channel: int | None, ends: tuple[float, float]
) -> tuple[Floats, tuple[str, ...]]:
    """The weight of each corner of the file's polygons, and warnings."""
    colours: list[list[float]] = []
    corners: list[int] = []
    is_painted: list[bool] = []
    for number, words in obj_lines(path):
        if words[0] == "v":
            is_painted.append(len(words) >= 7)
            colour = words[4:7] if is_painted[-1] else ["0"] * 3
            try:
                colours.append([float(word) for word in colour])
            except ValueError as failure:
                raise obj_fault(path, number, words, failure) from None
        elif words[0] == "f":
            # only the point's number; uvs and normals were checked with the mesh
            counts = (len(colours), 0, 0)
            corners += [obj_corner(word.split("/")[0], counts)[0] for word in words[1:]]
    painted = sum(is_painted)
    if name != OBJ_ATTRIBUTE or not painted:
        there = {OBJ_ATTRIBUTE} if painted else set()
        listed = ", ".join(there) or "none: write vertex colours as 'v x y z r g b'"
        raise MeshError(f"{path}: has no attribute {name!r}; it has: {listed}")
    warnings: tuple[str, ...] = ()
    if painted < len(colours):
        without = len(colours) - painted
        warnings = (f"{without} of {len(colours)} vertices have no colour and got the weight 1",)
    values = one_channel(str(path), name, np.array(colours, np.float32), channel)
    weights = _between(ends, values)
    weights[~np.array(is_painted)] = _NORMAL_WEIGHT
    return weights[np.array(corners, np.int64)], warnings


def _usd_weights(
    path: Path, name: str, channel: int | None, ends: tuple[float, float]
) -> tuple[Floats, tuple[str, ...]]:
    """The weight of each corner of the stage's polygons, and warnings."""
    parts: list[Floats] = []
    there: set[str] = set()
    without: list[str] = []
    for mesh in usd_meshes(path):
        there |= set(weight_names(mesh))
        found = find_weights(mesh, name, str(path), channel)
        if found is None:
            without.append(str(mesh.GetPath()))
            parts.append(np.full(len(usd_faces(mesh)[1]), _NORMAL_WEIGHT, np.float32))
        else:
            parts.append(_between(ends, found))
    if len(without) == len(parts):
        listed = ", ".join(sorted(there)) or "none"
        raise MeshError(f"{path}: has no attribute {name!r}; it has: {listed}")
    warnings: tuple[str, ...] = ()
    if without:
        warnings = (
            f"{len(without)} of {len(parts)} meshes have no {name!r} and got the weight 1: "
            f"{', '.join(without[:4])}{' …' if len(without) > 4 else ''}",
        )
    return np.concatenate(parts), warnings


def _between(ends: tuple[float, float], values: Floats) -> Floats:
    """Maps the values 0 and 1 to the two ends."""
    low, high = ends
    return np.asarray(low + (high - low) * values, np.float32)
