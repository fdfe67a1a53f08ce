"""Values on the corners of mesh files: painted weights, uv sets and other primvars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import MeshError
from verdigris.core.geometry.mesh import (
    FileMesh,
    load_mesh,
    obj_corner,
    obj_fault,
    obj_lines,
    usd_faces,
    usd_meshes,
    usd_places,
)
from verdigris.core.material.usd.faults import refusing_damage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats
    from verdigris.core.geometry.mesh import Mesh


# The name for OBJ's vertex colours: three numbers after the position.
OBJ_ATTRIBUTE = "color"
_NORMAL_WEIGHT = 1.0
CHANNELS = ("r", "g", "b", "a")
_NUMBERS = ("float", "double", "half", "color")
# The name of OBJ's only set.
_OBJ_SET = "st"


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
    values = _one_channel(str(path), name, np.array(colours, np.float32), channel)
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
    with refusing_damage(MeshError, path):
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


def weight_names(mesh: Any) -> tuple[str, ...]:
    """Names of the primvars of a mesh that can be weights."""
    return tuple(_weight_primvars(mesh))


def find_weights(mesh: Any, name: str, file: str, channel: int | None = None) -> Floats | None:
    """The weight of each corner of a mesh's polygons; None if it has no such primvar. `file` is
    named in errors."""
    from pxr import Usd

    primvar = _weight_primvars(mesh).get(name)
    if primvar is None:
        return None
    found = primvar.ComputeFlattened(Usd.TimeCode.EarliestTime())
    if found is None:
        raise MeshError(f"{file}: {name!r} has invalid indices: export it again")
    values = np.array(found, np.float32)
    values = _one_channel(file, name, values if values.ndim else values[None], channel)
    return _at_corners(file, mesh, primvar, values)


def _one_channel(file: str, name: str, values: NDArray[Any], channel: int | None) -> NDArray[Any]:
    """Reduces values (N, channels) to one channel, or to their mean without a channel."""
    if channel is None:
        return values if values.ndim == 1 else np.asarray(values.mean(1))
    if values.ndim != 2 or channel >= values.shape[1]:
        count = 1 if values.ndim != 2 else values.shape[1]
        raise MeshError(
            f"{file}: {name!r} has {count} channel(s) and no {CHANNELS[channel]!r}: choose another"
        )
    return np.asarray(values[:, channel])


def _weight_primvars(mesh: Any) -> dict[str, Any]:
    from pxr import UsdGeom

    return {
        str(each.GetPrimvarName()): each
        for each in UsdGeom.PrimvarsAPI(mesh.GetPrim()).GetPrimvarsWithAuthoredValues()
        if _is_weight(str(each.GetTypeName()))
    }


def _is_weight(kind: str) -> bool:
    """Whether values of this type can be weights: numbers and colours, but not uvs, normals, names
    or ids."""
    return kind.startswith(_NUMBERS) and "matrix" not in kind and "quat" not in kind


def _at_corners(file: str, mesh: Any, primvar: Any, values: NDArray[Any]) -> Floats:
    counts, vertex = usd_faces(mesh)
    kind, name = str(primvar.GetInterpolation()), primvar.GetPrimvarName()
    place = usd_places(kind, counts, vertex)
    needed = int(place.max(initial=-1)) + 1
    if len(values) < needed:
        raise MeshError(
            f"{file}: {name!r} has {len(values)} values, and {kind} needs {needed}: export it again"
        )
    return np.asarray(values[place], np.float32)


def load_primvars(path: Path, mesh: FileMesh) -> dict[str, Floats]:
    """Values (T, 3, channels) by name: uv sets have two channels. Meshes of a stage that lack a
    primvar have zeros there."""
    if path.suffix.lower() == ".obj":
        return {_OBJ_SET: mesh.uv}
    parts: list[dict[str, Floats]] = []
    counts: list[int] = []
    with refusing_damage(MeshError, path):
        for each in usd_meshes(path):
            parts.append(_of_mesh(each, str(path)))
            counts.append(len(usd_faces(each)[1]))
    found: dict[str, Floats] = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        channels = max(part[name].shape[1] for part in parts if name in part)
        flat = [
            _widened(part[name], channels) if name in part else np.zeros((count, channels), "f4")
            for part, count in zip(parts, counts, strict=True)
        ]
        found[name] = np.concatenate(flat).astype(np.float32)[mesh.corners]
    return found


def uv_sets(primvars: dict[str, Floats], mesh: FileMesh) -> dict[str, Floats]:
    """The primvars that can be uv sets; the set of `mesh.uv` comes first. If the meshes of a stage
    name their uvs differently, the first set contains all of them."""
    pairs = {name: values for name, values in primvars.items() if values.shape[-1] == 2}
    same = {name: int((values == mesh.uv).all((1, 2)).sum()) for name, values in pairs.items()}
    first = max(same, key=same.__getitem__, default=_OBJ_SET)
    return {first: mesh.uv, **{name: pairs[name] for name in pairs if name != first}}


def _of_mesh(mesh: Any, file: str) -> dict[str, Floats]:
    from pxr import Usd, UsdGeom

    counts, vertex = usd_faces(mesh)
    found: dict[str, Floats] = {}
    for primvar in UsdGeom.PrimvarsAPI(mesh.GetPrim()).GetPrimvarsWithAuthoredValues():
        name = str(primvar.GetPrimvarName())
        flat = primvar.ComputeFlattened(Usd.TimeCode.EarliestTime())
        values = np.array([] if flat is None else flat)
        if not values.size or values.dtype.kind not in "fiu":
            continue
        values = values.reshape(len(values), -1) if values.ndim else values.reshape(1, 1)
        if "texCoord" in str(primvar.GetTypeName()):
            # a third coordinate is no part of a uv set
            values = values[:, :2]
        place = usd_places(str(primvar.GetInterpolation()), counts, vertex)
        if len(values) <= place.max(initial=-1):
            raise MeshError(
                f"{file}: {name!r} has {len(values)} values and needs {int(place.max()) + 1}: "
                "export it again"
            )
        found[name] = np.asarray(values[place], np.float32)
    return found


def _widened(values: Floats, channels: int) -> Floats:
    return np.pad(values, ((0, 0), (0, channels - values.shape[1])))
