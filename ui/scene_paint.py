"""Weights that are painted on the scene's own meshes."""

from __future__ import annotations

from verdigris.core.base.errors import HostError, VerdigrisError
from verdigris.core.hosts.host import NORMAL_WEIGHT, Host, HostMaterial
from verdigris.core.hosts.painted_meshes import Painted, read_painted
from verdigris.ui.background import Background
from verdigris.ui.notices import INFO, WARNING, Notices
from verdigris.ui.weights import WeightMap


class ScenePaint:
    """Takes them into the panel's map, and starts the application's own brush."""

    def __init__(self, host: Host, weights: WeightMap, notices: Notices) -> None:
        self._host = host
        self._weights = weights
        self._notices = notices
        self._background = Background()
        self._wanted: HostMaterial | None = None
        self._shown: set[HostMaterial] = set()

    def poll(self) -> None:
        """Shows what has been made of the paint meanwhile."""
        self._background.poll()

    def take(self, material: HostMaterial, is_asked: bool) -> None:
        """Reads the scene now, and makes a map of it on a thread of its own; that of a material
        which is asked for later counts."""
        self._wanted = material
        try:
            found = read_painted(self._host, material)
        except VerdigrisError as failure:
            self._refuse(failure)
            return
        if found is None:
            self._show(material, None, is_asked)
            return

        def show(painted: Painted | None) -> None:
            if self._wanted == material:
                self._show(material, painted, is_asked)

        self._background.run(found.to_map, show, self._refuse)

    def start_brush(self, material: HostMaterial, mesh: str) -> None:
        """On this mesh, if the material is on it, or on the first one."""
        try:
            meshes = self._host.meshes(material)
            if not meshes:
                raise HostError(f"{material.name}: is on no mesh: assign or select one")
            self._host.start_painting(mesh if mesh in meshes else meshes[0])
        except VerdigrisError as failure:
            self._notices.tell(WARNING, str(failure))

    def _refuse(self, failure: VerdigrisError) -> None:
        self._notices.tell(WARNING, f"The scene's painted weights cannot be used: {failure}")

    def _show(self, material: HostMaterial, found: Painted | None, is_asked: bool) -> None:
        if found is not None:
            self._shown.add(material)
            self._weights.replace(found.weights)
            self._notices.tell_notes(found.notes)
        elif material in self._shown:
            self._shown.remove(material)
            self._weights.fill(NORMAL_WEIGHT)
        elif is_asked:
            self._notices.tell(INFO, "Nothing is painted on the meshes of this material.")
