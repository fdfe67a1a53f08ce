"""The mesh on which a ladder is fitted: its uv sets, primvars and vertices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import MeshError
from verdigris.core.geometry.mesh import FileMesh, Mesh, load_mesh, mesh_files
from verdigris.core.geometry.mesh_values import load_primvars, uv_sets
from verdigris.core.geometry.uv_layout import FIRST_TILE, TILES_IN_A_ROW, UvReport, report_uv
from verdigris.core.hosts.ladder_looks import TILES_SUFFIX
from verdigris.core.material.domain import MOST_ALONG_A_SIDE

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats, Ints


# The part of a texture that a uv set has to cover: filters need texels around each island.
_LEAST_COVER = 0.02
# The uv of a tile may lie beyond its border by this much.
_SAME = 1e-4
# The sum of the areas of a closed mesh, as vectors, is a smaller part of its area.
_OPEN = 1e-3


@dataclass(frozen=True)
class Atlas:
    """UDIM tiles side by side in one square texture."""

    uv_set: str
    """The uv set of the atlas."""
    first: tuple[int, int]
    """Column and row of the tile at its lower left."""
    side: int
    """Tiles along a side."""
    tiles: tuple[tuple[int, int], ...]
    """Column and row of each tile that the mesh uses."""

    def parts(self, texels: int) -> dict[int, tuple[int, int, int]]:
        """The part of a texture that each tile takes, by its UDIM number: left, bottom and side in
        texels."""
        size = texels // self.side
        return {
            FIRST_TILE + column + TILES_IN_A_ROW * row: (
                (column - self.first[0]) * size,
                (row - self.first[1]) * size,
                size,
            )
            for column, row in self.tiles
        }


@dataclass(frozen=True)
class Surface:
    """A mesh with all its uv sets and primvars, by corner."""

    mesh: Mesh
    sets: dict[str, Floats]
    """uv sets (T, 3, 2) by name. The first is that of `mesh`."""
    primvars: dict[str, Floats] = field(default_factory=dict)
    """Values (T, 3, channels) by name."""
    name: str = "mesh"
    painted_set: str = ""
    """The uv set of painted weights; empty for the first."""
    files: tuple[Mapping[str, str], ...] = ()
    """Names and digests of its files, as manifests record them."""

    @property
    def first_set(self) -> str:
        return next(iter(self.sets))

    @cached_property
    def reports(self) -> dict[str, UvReport]:
        """A report on each uv set."""
        return {name: report_uv(uv) for name, uv in self.sets.items()}

    @cached_property
    def centre(self) -> Floats:
        """The centre of the bounding box."""
        place = self.mesh.position
        return np.asarray((place.min((0, 1)) + place.max((0, 1))) / 2, np.float32)

    @cached_property
    def radius(self) -> float:
        return float(np.linalg.norm(self.mesh.position - self.centre, axis=-1).max()) or 1.0

    @cached_property
    def thickness(self) -> float:
        """The mean length of straight lines through a closed mesh, 4 V / A (Cauchy). One with holes
        or inside out counts as thick as it is wide."""
        corners = self.mesh.position.astype(np.float64) - self.centre
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.linalg.norm(across, axis=1).sum() / 2
        volume = (corners[:, 0] * across).sum() / 6
        is_closed = np.linalg.norm(across.sum(0)) / 2 < _OPEN * area
        return float(4 * volume / area) if is_closed and volume > 0 else 2 * self.radius

    @cached_property
    def vertices(self) -> tuple[Ints, int]:
        """The vertex of each corner (T, 3), and the number of vertices. Corners with one position
        and normal are one vertex."""
        places = (self.mesh.position.reshape(-1, 3) - self.centre) / self.radius
        parts = [places, self.mesh.normal.reshape(-1, 3)]
        keys = np.rint(np.concatenate(parts, 1) * (1 << 14)).astype(np.int32)
        packed = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.itemsize * 6))).reshape(-1)
        names, vertex = np.unique(packed, return_inverse=True)
        return vertex.reshape(-1, 3), len(names)

    def require_set(self, name: str | None) -> str:
        """The name of this uv set; None for the first."""
        if name is None:
            return self.first_set
        if name not in self.sets:
            raise MeshError(f"{self.name} has no uv set {name!r}: it has {', '.join(self.sets)}")
        return name

    @property
    def has_unique_set(self) -> bool:
        return bool(self._unique_sets)

    @cached_property
    def _unique_sets(self) -> list[str]:
        return [
            name
            for name, report in self.reports.items()
            if report.is_unique and report.covered >= _LEAST_COVER and len(report.tiles) == 1
        ]

    def facts(self, uv_set: str | None) -> dict[str, Any]:
        """The files of the mesh and a uv set, as manifests record them."""
        return {"files": list(self.files), "uv_set": self.require_set(uv_set)}

    def require_unique_set(self) -> str:
        """The last uv set in which each texel belongs to one place."""
        if clean := self._unique_sets:
            return clean[-1]
        first, squares = self.reports[self.first_set], self.squares_a_side(self.first_set)
        why = [f"{first.overlapping} of {first.islands} islands overlap"]
        if first.without_area:
            why.append(f"{first.without_area} triangles have no area")
        if squares > 1:
            why.append(f"it covers {squares} unit squares a side")
        raise MeshError(
            f"{self.name} has no uv set without overlaps in one unit square (of "
            f"{', '.join(self.sets)}; in {self.first_set!r} {' and '.join(why)}): unwrap a "
            "second set (uv1, st1), or leave out the rungs that need it"
        )

    def starting_with(self, name: str) -> Surface:
        """The surface with this uv set as its first, on which graphs are evaluated."""
        sets = {name: self.sets[name], **self.sets}
        mesh = replace(self.mesh, uv=self.sets[name])
        return replace(self, mesh=mesh, sets=sets, painted_set=self.painted_set or self.first_set)

    def squares_a_side(self, name: str) -> int:
        """How many unit squares a uv set covers along its longer side."""
        uv = self.sets[name]
        low, high = np.floor(uv.min((0, 1)) + _SAME), np.ceil(uv.max((0, 1)) - _SAME)
        return max(1, int((high - low).max()))

    def is_of_tiles(self, name: str) -> bool:
        """Whether a uv set covers several unit squares and no triangle crosses their borders, as
        with UDIM tiles."""
        low, high = self.sets[name].min(1) + _SAME, self.sets[name].max(1) - _SAME
        is_inside = (np.floor(low) == np.floor(np.maximum(low, high))).all()
        return bool(is_inside) and 1 < self.squares_a_side(name) <= MOST_ALONG_A_SIDE

    def with_atlas(self, name: str) -> tuple[Surface, Atlas]:
        """The surface with one more uv set: an atlas of the UDIM tiles of this one."""
        columns, rows = np.array(self.reports[name].tiles).T
        first = int(columns.min()), int(rows.min())
        side = int(max(np.ptp(columns), np.ptp(rows))) + 1
        scaled = (self.sets[name] - np.array(first, np.float32)) / np.float32(side)
        atlas = Atlas(f"{name}{TILES_SUFFIX}", first, side, self.reports[name].tiles)
        sets = {**self.sets, atlas.uv_set: np.asarray(scaled, np.float32)}
        return replace(self, sets=sets), atlas

    def warnings(self) -> list[str]:
        """Warnings about the uv sets, for artists."""
        found = []
        for name, report in self.reports.items():
            if not report.is_unique:
                found.append(
                    f"uv set {name!r}: {report.overlapping} of {report.islands} islands overlap "
                    f"({report.overlap:.0%} of the texels): they share texels"
                )
            if report.without_area:
                found.append(
                    f"uv set {name!r}: {report.without_area} of {len(self.mesh.position)} "
                    "triangles have no area in uv: they show one texel"
                )
        return found


def load_surface(path: Path) -> Surface:
    """Reads a mesh with all its uv sets and primvars."""
    from verdigris.core.material.load.provenance import file_facts

    mesh = load_mesh(path)
    # before the primvars are read, so that a later change is found
    files = tuple(file_facts(each) for each in mesh_files(path))
    surface = surface_of(mesh, load_primvars(path, mesh), str(path))
    return replace(surface, files=files)


def surface_of(mesh: FileMesh, primvars: dict[str, Floats], name: str) -> Surface:
    """The surface of a mesh in memory."""
    sets = uv_sets(primvars, mesh)
    for each, uv in sets.items():
        if not np.isfinite(uv).all():
            raise MeshError(f"{name}: the uv set {each!r} has values that are not finite")
    return Surface(mesh, sets, primvars, name)
