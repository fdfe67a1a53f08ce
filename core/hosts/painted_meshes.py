"""Joins the painted weights of a material's meshes to one importance map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.geometry.mesh_values import OBJ_ATTRIBUTE
from verdigris.core.hosts.host import NORMAL_WEIGHT, WEIGHT_SET
from verdigris.core.importance.from_mesh import MapSettings, weight_maps

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats
    from verdigris.core.hosts.host import Host, HostMaterial


MAP_SIZE = 512


@dataclass(frozen=True)
class Painted:
    """Painted weights of a material's texture."""

    weights: Floats
    """(size, size), row 0 at v = 0."""

    notes: tuple[str, ...]
    """Where the weights come from, and what was repaired."""


@dataclass(frozen=True)
class PaintedMeshes:
    """The painted meshes of a material as arrays, for any thread."""

    uv: Floats
    """(T, 3, 2)"""
    weights: Floats
    """(T, 3)"""
    notes: tuple[str, ...]

    def to_map(self, size: int = MAP_SIZE) -> Painted | None:
        """The map; None if all weights are equal."""
        # textures repeat: all uvs fall into one map
        maps = weight_maps(self.uv, self.weights, MapSettings(size, layout="repeat", wraps=True))
        (tile,) = maps.tiles.values()
        if (tile.weights == tile.weights.flat[0]).all():
            return None
        first, *rest = self.notes
        return Painted(tile.weights, (first, *maps.warnings, *rest))


def find_painted(
    host: Host, material: HostMaterial, weight_set: str = WEIGHT_SET, size: int = MAP_SIZE
) -> Painted | None:
    """The map of a material's painted meshes; None if nobody painted, or if all weights are
    equal."""
    found = read_painted(host, material, weight_set)
    return found.to_map(size) if found else None


def read_painted(
    host: Host, material: HostMaterial, weight_set: str = WEIGHT_SET
) -> PaintedMeshes | None:
    """Reads painted meshes; None if nobody painted. Meshes that share a texture share its texels,
    with the largest weight; a mesh without paint keeps its part unchanged."""
    names = host.meshes(material)
    # an OBJ file contains one set of weights, with a fixed name
    painted = [name for name in names if {weight_set, OBJ_ATTRIBUTE} & set(host.weight_sets(name))]
    uvs, weights, notes, found = [], [], [], []
    for name in names if painted else ():
        try:
            mesh = host.mesh(name, material, weight_set)
        except VerdigrisError as failure:
            if name in painted:
                raise
            notes.append(f"was left out of the painted weights: {failure}")
            continue
        uvs.append(mesh.uv)
        if mesh.weights is None:
            weights.append(np.full(mesh.uv.shape[:2], NORMAL_WEIGHT, np.float32))
        else:
            weights.append(mesh.weights)
            found.append(f"{name} ({mesh.weights.min():g} to {mesh.weights.max():g})")
    if not found:
        return None
    return PaintedMeshes(
        np.concatenate(uvs),
        np.concatenate(weights),
        (f"painted weights of {', '.join(found)} are used", *notes),
    )
