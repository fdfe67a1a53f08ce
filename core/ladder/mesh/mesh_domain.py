"""The mesh as the domain of a bake: where each texel of a uv set lies on the surface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import MeshError
from verdigris.core.geometry.mesh import Mesh, normalized
from verdigris.core.geometry.raster import rasterize
from verdigris.core.ladder.texels.grid import Grid, fill_holes
from verdigris.core.material.analyse.on_mesh import depends_on_mesh
from verdigris.core.material.codegen.geometry_values import is_read_from_mesh, plain_name
from verdigris.core.material.domain import MOST_ALONG_A_SIDE, MOST_SETS, QUADS, MeshPoints, Tiles
from verdigris.core.material.normalise.geometry_properties import DEFAULT, is_unnamed_coordinate_set
from verdigris.core.pictures.gbuffer import frame_from

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.base.array_types import Floats
    from verdigris.core.ladder.mesh.mesh_surface import Surface


SIDE = 512
# Texels beside an island that continue it, for filters.
_MARGIN = 8
_COLOURS = ("displayColor", "color", "Cd")


def mesh_points(
    surface: Surface, name: str | None = None, side: int = SIDE, properties: Sequence[str] = ()
) -> MeshPoints:
    """The points of a mesh in a uv set, with these properties. Several unit squares become an atlas
    of tiles."""
    chosen = surface.require_set(name)
    uv, tiles = surface.sets[chosen], None
    if not surface.reports[chosen].tiles:
        raise MeshError(
            f"{surface.name}: no triangle has an area in the uv set {chosen!r}: unwrap it, or name "
            "another set"
        )
    if surface.reports[chosen].tiles != ((0, 0),):
        tiles = Tiles.around(surface.reports[chosen].tiles)
        if tiles.side > MOST_ALONG_A_SIDE:
            raise MeshError(
                f"{surface.name}: the uv set {chosen!r} covers {tiles.side} unit squares a side, "
                f"but an atlas at most {MOST_ALONG_A_SIDE}: name another set"
            )
        uv = tiles.to_atlas(uv)
        # a texel must not lie in two tiles
        side = -(-side // tiles.side) * tiles.side
    mesh = surface.mesh
    depth = np.zeros(uv.shape[:2], np.float32)
    cover = rasterize(np.asarray(uv * side, np.float32), depth, side, side)
    owner, weights = cover.triangle.reshape(-1), cover.weights.reshape(-1, 3)
    inside = owner >= 0
    owner, weights = owner[inside], weights[inside]

    def mixed(values: Floats) -> Floats:
        return np.asarray(np.einsum("nij,ni->nj", values[owner], weights), np.float32)

    normal = normalized(mixed(mesh.normal))
    part = Mesh(mesh.position[owner], mesh.normal[owner], uv[owner])
    tangent, bitangent = frame_from(normal, *part.tangents())
    quads = QUADS + len(properties)
    found = np.zeros((len(owner), 4 * quads), np.float32)
    axes = (mixed(mesh.position), normal, tangent, bitangent)
    colour = _colour(surface, mixed, len(owner))
    for number, axis in enumerate(axes):
        found[:, 4 * number : 4 * number + 3] = axis
        found[:, 4 * number + 3] = colour[:, number] if number < 3 else 0
    sets = list(surface.sets.values())[:MOST_SETS]
    for number, each in enumerate(sets):
        at = 4 * len(axes) + 2 * number
        found[:, at : at + 2] = mixed(each)
    for number, named in enumerate(properties):
        values = mixed(_values_of(surface, named))[:, :4]
        at = 4 * (QUADS + number)
        found[:, at + 3] = 1
        found[:, at : at + values.shape[1]] = values
    grid = Grid(side, side, np.zeros((side * side, 4 * quads), np.float32))
    grid.values[inside] = found
    fill_holes(grid, inside, _MARGIN)
    return MeshPoints(
        grid.image,
        inside.reshape(side, side),
        len(sets),
        tiles,
        tuple(properties),
        any(each in surface.primvars for each in _COLOURS),
        surface.facts(chosen),
    )


def _colour(surface: Surface, mixed: Callable[[Floats], Floats], count: int) -> Floats:
    for name in _COLOURS:
        values = surface.primvars.get(name)
        if values is not None and values.shape[-1] >= 3:
            return np.asarray(mixed(_values_of(surface, name))[:, :3], np.float32)
    return np.ones((count, 3), np.float32)


def _values_of(surface: Surface, name: str) -> Floats:
    values = surface.primvars.get(name)
    if values is None:
        return surface.sets[name]
    if not np.isfinite(values).all():
        raise MeshError(
            f"{surface.name}: the primvar {name!r} has values that are not finite: export it again"
        )
    return values


def coverage_weights(points: MeshPoints, importance: Floats | None) -> Floats:
    """Weights of a bake: 0 where no triangle covers a texel, else the painted weights or 1."""
    covered = points.covered.copy()
    for shift in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        # filters read texels at the rim of an island
        covered |= np.roll(points.covered, shift, (0, 1))
    weights = covered.astype(np.float32)
    if importance is None:
        return weights
    rows = np.arange(points.size) * len(importance) // points.size
    columns = np.arange(points.size) * importance.shape[1] // points.size
    return np.asarray(weights * importance[rows][:, columns])


def find_properties(
    surface: Surface, nodes: Sequence[mx.Node], file: str
) -> tuple[list[str], list[str]]:
    """The geometry properties that a material's nodes read and the mesh has, and warnings about
    properties that the mesh lacks. A node without a default needs its property."""
    found: list[str] = []
    warnings: list[str] = []
    known = {**surface.primvars, **surface.sets}
    has_names = ", ".join(sorted(known)) or "none"
    for node in nodes:
        if node.getCategory() == "geomcolor" and not any(each in known for each in _COLOURS):
            warnings.append(
                f"{surface.name} has no painted colours ({', '.join(_COLOURS)}), which "
                f"{node.getName()!r} reads: it reads white. The mesh has {has_names}"
            )
        if not is_read_from_mesh(node):
            continue
        name = plain_name(node)
        if name in known:
            found.append(name)
            continue
        lacks = f"{surface.name} has no primvar {name!r}, which {node.getName()!r} reads"
        if node.getInput(DEFAULT) is None and not is_unnamed_coordinate_set(node):
            raise MeshError(
                f"{file}: {lacks} without a default: add it to the mesh (it has {has_names}), or "
                "give the node a default"
            )
        warnings.append(f"{lacks}: it reads its default. The mesh has {has_names}")
    return list(dict.fromkeys(found)), list(dict.fromkeys(warnings))


def needs_atlas(surface: Surface, uv_set: str, nodes: Sequence[mx.Node]) -> tuple[bool, list[str]]:
    """Whether a material without UDIM images needs textures of its own in each unit square of a uv
    set, because it differs between the squares; and a warning if the squares share textures
    nevertheless."""
    squares = surface.squares_a_side(uv_set)
    if squares == 1 or not depends_on_mesh(nodes):
        return False, []
    if surface.is_of_tiles(uv_set):
        return True, []
    return False, [
        f"uv set {uv_set!r} covers {squares} unit squares a side, and the material depends on the "
        "place: the squares share texels"
    ]


def reads_colours(surface: Surface, nodes: Sequence[mx.Node]) -> bool:
    """Whether a material's nodes read painted colours, and the mesh has some."""
    has_some = any(each in surface.primvars for each in _COLOURS)
    return has_some and any(node.getCategory() == "geomcolor" for node in nodes)
