"""The meshes of the scene that have the chosen material."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.geometry.mesh import Mesh, load_mesh
from verdigris.core.geometry.shapes import find_shape
from verdigris.core.hosts.host import Host, HostMaterial
from verdigris.core.pictures.view import View
from verdigris.core.worker.protocol.commands import BYTES_A_TRIANGLE, SetMesh
from verdigris.core.worker.protocol.messages import LARGEST_PAYLOAD
from verdigris.ui.signals import WARNING, Notices, Signal


class SceneMeshes:
    """The names of the meshes, and the mesh that the worker has."""

    def __init__(self, host: Host, notices: Notices) -> None:
        self._host = host
        self._notices = notices
        self.names: tuple[str, ...] = ()
        self.loaded: SetMesh | None = None
        self.changed = Signal()

    @property
    def loaded_name(self) -> str:
        """The name of the loaded mesh; empty if there is none."""
        return self.loaded.name if self.loaded else ""

    def in_view(self, view: View) -> tuple[str, Callable[[], Mesh]] | None:
        """The name of the mesh in a view, and how to get it: a shape, one of the scene, or a file;
        None for the sphere and the plane."""
        loaded, shape = self.loaded, find_shape(view.shape)
        if shape is not None:
            return view.shape, lambda: shape
        if view.shape != "mesh":
            return None
        if loaded is not None and loaded.name == view.mesh:
            return view.mesh, loaded.mesh
        return view.mesh, lambda: load_mesh(Path(view.mesh))

    def find(self, material: HostMaterial | None) -> None:
        """Lists the meshes of a material again, and drops the loaded one."""
        self.loaded = None
        try:
            self.names = self._host.meshes(material) if material else ()
        except VerdigrisError as failure:
            self.names = ()
            self._notices.add(WARNING, f"The material's meshes cannot be listed: {failure}")
        self.changed.emit()

    def load(self, name: str, material: HostMaterial | None) -> SetMesh | None:
        """Reads a mesh from the scene. Returns None and adds a notice if it cannot be shown."""
        try:
            mesh = self._host.mesh(name, material)
        except VerdigrisError as failure:
            self._notices.add(WARNING, str(failure))
            return None
        parts = (mesh.position, mesh.normal, mesh.uv)
        count = len(mesh.position)
        if not 0 < BYTES_A_TRIANGLE * count <= LARGEST_PAYLOAD:
            most = LARGEST_PAYLOAD // BYTES_A_TRIANGLE
            text = f"{name} has {count:,} triangles. Choose a mesh with 1 to {most:,} triangles."
            self._notices.add(WARNING, text)
            return None
        payload = b"".join(np.ascontiguousarray(part, "<f4").tobytes() for part in parts)
        self.loaded = SetMesh(name, count, payload)
        self._notices.add_notes(mesh.notes)
        return self.loaded
