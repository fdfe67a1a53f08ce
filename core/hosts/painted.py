"""What was painted on the meshes of a material, as the one map that a bake takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.errors import VerdigrisError
from verdigris.core.host import NORMAL_WEIGHT, WEIGHT_SET
from verdigris.core.importance.from_mesh import MapSettings, weight_maps
from verdigris.core.importance.mesh_file import OBJ_ATTRIBUTE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.host import Host, HostMaterial

    Floats = NDArray[np.float32]

MAP_SIZE = 512


@dataclass(frozen=True)
class Painted:
    """Weights of a material's texture."""

    weights: Floats
    """(size, size), row 0 at v = 0."""

    notes: tuple[str, ...]
    """Whose weights they are, and what was mended on the way."""


def find_painted(
    host: Host, material: HostMaterial, weight_set: str = WEIGHT_SET, size: int = MAP_SIZE
) -> Painted | None:
    """The weights that a material's meshes carry; None where nobody painted, or evenly.

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
    # textures repeat, so that all uvs fall into the one map of a bake
    settings = MapSettings(size, layout="repeat", wraps=True)
    maps = weight_maps(np.concatenate(uvs), np.concatenate(weights), settings)
    (tile,) = maps.tiles.values()
    if (tile.weights == tile.weights.flat[0]).all():
        return None
    return Painted(
        tile.weights, (f"painted weights of {', '.join(found)} are used", *maps.warnings, *notes)
    )
