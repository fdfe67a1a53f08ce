"""Reads what was painted on a mesh from its file: vertex colours of OBJ, primvars of USD."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.errors import MeshError
from verdigris.core.importance.from_mesh import corner_weights
from verdigris.core.importance.primvars import (
    CHANNELS,
    find_weights,
    one_channel,
    triangle_count,
    weight_names,
)
from verdigris.core.pictures.mesh import load_mesh, obj_corner, obj_statements, usd_meshes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.pictures.mesh import Mesh

    Floats = NDArray[np.float32]

# What OBJ files call nothing: the three numbers behind a vertex.
OBJ_ATTRIBUTE = "color"
_NORMAL_WEIGHT = 1.0
_UNPAINTED = [_NORMAL_WEIGHT] * 3


def load_painted_mesh(path: Path, attribute: str) -> tuple[Mesh, Floats, tuple[str, ...]]:
    """The mesh, weights (T, 3) of its corners, and warnings.

    Of a colour the mean is taken, or the channel that is named behind a point: `displayColor.r`.
    """
    mesh = load_mesh(path)
    base, channel = attribute, None
    if "." in attribute and attribute.rsplit(".", 1)[1] in CHANNELS:
        base, letter = attribute.rsplit(".", 1)
        channel = CHANNELS.index(letter)
    read = _obj_weights if path.suffix.lower() == ".obj" else _usd_weights
    weights, warnings = read(path, base, channel)
    if weights.shape != mesh.uv.shape[:2]:
        raise MeshError(f"{path}: has changed while it was read: try again")
    return mesh, weights, warnings


def _obj_weights(path: Path, name: str, channel: int | None) -> tuple[Floats, tuple[str, ...]]:
    colours: list[list[float]] = []
    corners: list[int] = []
    painted = 0
    for number, words in obj_statements(path):
        if words[0] == "v":
            has_colour = len(words) >= 7
            painted += has_colour
            try:
                colour = [float(word) for word in words[4:7]] if has_colour else _UNPAINTED
            except ValueError as failure:
                raise MeshError(f"{path}: line {number}: {' '.join(words)!r}: {failure}") from None
            colours.append(colour)
        elif words[0] == "f":
            # only the first number counts: normals and uvs were checked with the mesh
            face = [obj_corner(word.split("/")[0], (len(colours), 0, 0))[0] for word in words[1:]]
            for last in range(2, len(face)):
                corners += (face[0], face[last - 1], face[last])
    if name != OBJ_ATTRIBUTE or not painted:
        there = {OBJ_ATTRIBUTE} if painted else set()
        listed = ", ".join(there) or "none: paint is read from vertices 'v x y z r g b'"
        raise MeshError(f"{path}: has no attribute {name!r}; there are: {listed}")
    warnings: tuple[str, ...] = ()
    if painted < len(colours):
        without = len(colours) - painted
        warnings = (f"{without} of {len(colours)} vertices have no colour and were taken as 1",)
    values = one_channel(str(path), name, np.array(colours, np.float32), channel)
    return corner_weights(values, np.array(corners).reshape(-1, 3), "point"), warnings


def _usd_weights(path: Path, name: str, channel: int | None) -> tuple[Floats, tuple[str, ...]]:
    parts: list[Floats] = []
    there: set[str] = set()
    without: list[str] = []
    for mesh in usd_meshes(path):
        there |= set(weight_names(mesh))
        found = find_weights(mesh, name, str(path), channel)
        if found is None:
            without.append(str(mesh.GetPath()))
            found = np.full((triangle_count(mesh), 3), _NORMAL_WEIGHT, np.float32)
        parts.append(found)
    if len(without) == len(parts):
        listed = ", ".join(sorted(there)) or "none"
        raise MeshError(f"{path}: has no attribute {name!r}; there are: {listed}")
    warnings: tuple[str, ...] = ()
    if without:
        warnings = (
            f"{len(without)} of {len(parts)} meshes have no {name!r} and were taken as 1: "
            f"{', '.join(without[:4])}{' …' if len(without) > 4 else ''}",
        )
    return np.concatenate(parts), warnings
