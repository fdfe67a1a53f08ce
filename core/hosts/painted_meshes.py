"""What was painted on the meshes of a material, as the one map that a bake takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.geometry.mesh_file import OBJ_ATTRIBUTE
from verdigris.core.hosts.host import NORMAL_WEIGHT, WEIGHT_SET
from verdigris.core.importance.from_mesh import MapSettings, weight_maps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.hosts.host import Host, HostMaterial

    Floats = NDArray[np.float32]

MAP_SIZE = 512


@dataclass(frozen=True)
class Painted:
    """Weights of a material's texture."""

    weights: Floats
    """(size, size), row 0 at v = 0."""

    notes: tuple[str, ...]
    """Whose weights they are, and what was mended on the way."""


@dataclass(frozen=True)
class PaintedMeshes:
    """What the meshes of a material carry: arrays, which any thread may work on."""

    uv: Floats
    """(T, 3, 2)"""
    weights: Floats
    """(T, 3)"""
    notes: tuple[str, ...]

    def to_map(self, size: int = MAP_SIZE) -> Painted | None:
        """None where all of it is even."""
        # textures repeat, so that all uvs fall into the one map of a bake
        maps = weight_maps(self.uv, self.weights, MapSettings(size, layout="repeat", wraps=True))
        (tile,) = maps.tiles.values()
        if (tile.weights == tile.weights.flat[0]).all():
            return None
        first, *rest = self.notes
        return Painted(tile.weights, (first, *maps.warnings, *rest))


def find_painted(
    host: Host, material: HostMaterial, weight_set: str = WEIGHT_SET, size: int = MAP_SIZE
) -> Painted | None:
    """The weights that a material's meshes carry; None where nobody painted, or evenly."""
    found = read_painted(host, material, weight_set)
    return found.to_map(size) if found else None


def read_painted(
    host: Host, material: HostMaterial, weight_set: str = WEIGHT_SET
) -> PaintedMeshes | None:
    """The same before it is a map, which takes longer than to read it; None where nobody painted.

    Meshes that share the texture share its texels, and there the largest weight counts: one that
    nobody painted on keeps its part as it is.
    """
    names = host.meshes(material)
    # an OBJ file has one set of weights, which has a name of its own
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
