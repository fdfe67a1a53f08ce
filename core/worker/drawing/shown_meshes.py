"""The meshes that views show: shapes, meshes of the host's scene, and files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.geometry.mesh import Mesh, in_atlas, load_mesh
from verdigris.core.geometry.shapes import SHAPES, shape_mesh

if TYPE_CHECKING:
    from verdigris.core.material.tiles import Tiles
    from verdigris.core.worker.protocol.commands import View


class ShownMeshes:
    """Keeps the file that is shown, until it changes."""

    def __init__(self, given: Mapping[str, Mesh] | None, tiles: Tiles | None) -> None:
        """`given` are those of the scene, by their names."""
        self._given = {} if given is None else given
        self._tiles = tiles
        self._of_file: dict[tuple[str, int], Mesh] = {}

    def of(self, command: View) -> Mesh | None:
        """The mesh of a view; None for the plane and the sphere, which are no meshes."""
        if command.shape in SHAPES:
            return shape_mesh(command.shape)
        if command.shape != "mesh":
            return None
        given = self._given.get(command.mesh)
        if given is not None:
            return in_atlas(given, self._tiles)
        key = file_key(command.mesh)
        if key not in self._of_file:
            self._of_file = {key: in_atlas(load_mesh(Path(command.mesh)), self._tiles)}
        return self._of_file[key]

    def is_current(self, command: View) -> bool:
        """Whether the file of the mesh is unchanged."""
        if command.shape != "mesh" or command.mesh in self._given:
            return True
        return file_key(command.mesh) in self._of_file


def file_key(name: str) -> tuple[str, int]:
    """The key of a file by its modification time. Missing files are reported by their reader."""
    try:
        return name, Path(name).stat().st_mtime_ns
    except OSError:
        return name, 0
