"""The scene's meshes that have the material, to look at it on."""

from __future__ import annotations

import numpy as np

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.hosts.host import Host, HostMaterial
from verdigris.core.worker.protocol.commands import BYTES_A_TRIANGLE, GiveMesh
from verdigris.core.worker.protocol.messages import LARGEST_PAYLOAD
from verdigris.ui.notices import WARNING, Notices
from verdigris.ui.signal import Signal


class SceneMeshes:
    """Their names, and the one that was given to the worker."""

    def __init__(self, host: Host, notices: Notices) -> None:
        self._host = host
        self._notices = notices
        self.names: tuple[str, ...] = ()
        self.given: GiveMesh | None = None
        self.changed = Signal()

    @property
    def shown(self) -> str:
        """The name of that one; empty if there is none."""
        return self.given.name if self.given else ""

    def find(self, material: HostMaterial | None) -> None:
        """Asks the scene again, and forgets what was given of it."""
        self.given = None
        try:
            self.names = self._host.meshes(material) if material else ()
        except VerdigrisError as failure:
            self.names = ()
            self._notices.tell(WARNING, f"The material's meshes cannot be listed: {failure}")
        self.changed.emit()

    def give(self, name: str, material: HostMaterial | None) -> GiveMesh | None:
        """The mesh as it is now; None, and a notice, if it cannot be shown."""
        try:
            mesh = self._host.mesh(name, material)
        except VerdigrisError as failure:
            self._notices.tell(WARNING, str(failure))
            return None
        parts = (mesh.position, mesh.normal, mesh.uv)
        count = len(mesh.position)
        if not 0 < BYTES_A_TRIANGLE * count <= LARGEST_PAYLOAD:
            most = LARGEST_PAYLOAD // BYTES_A_TRIANGLE
            what = f"{name}: has {count:,} triangles: show one with 1 to {most:,}"
            self._notices.tell(WARNING, what)
            return None
        payload = b"".join(np.ascontiguousarray(part, "<f4").tobytes() for part in parts)
        self.given = GiveMesh(name, count, payload)
        self._notices.tell_notes(mesh.notes)
        return self.given
