"""Weights that are painted on the meshes of the scene."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from verdigris.core.base.errors import HostError, VerdigrisError
from verdigris.core.hosts.host import NORMAL_WEIGHT, Host, HostMaterial, StopsPainting
from verdigris.core.hosts.painted_meshes import Painted, read_painted
from verdigris.ui.paint.weight_map import WeightMap
from verdigris.ui.signals.notices import INFO, WARNING, Notices


class ScenePaint:
    """Reads the scene's paint into the panel's map, and starts the application's own brush."""

    def __init__(self, host: Host, weights: WeightMap, notices: Notices) -> None:
        self._host = host
        self._weights = weights
        self._notices = notices
        self._background = Background()
        self._requested: HostMaterial | None = None
        self._painted: set[HostMaterial] = set()

    def poll(self) -> None:
        """Takes over maps that are finished."""
        self._background.poll()

    def read(self, material: HostMaterial, is_requested: bool) -> None:
        """Reads the paint now and makes the map on another thread. The last call wins."""
        self._requested = material
        try:
            meshes = read_painted(self._host, material)
        except VerdigrisError as failure:
            self._report(failure)
            return
        if meshes is None:
            self._apply(material, None, is_requested)
            return

        def apply(painted: Painted | None) -> None:
            if self._requested == material:
                self._apply(material, painted, is_requested)

        self._background.run(meshes.to_map, apply, self._report)

    def start_brush(self, material: HostMaterial, mesh: str) -> None:
        """Starts the brush on this mesh, or on the first mesh of the material."""
        try:
            meshes = self._host.meshes(material)
            if not meshes:
                raise HostError(
                    f"{material.name} is not assigned to a mesh. Assign it, or select a mesh."
                )
            self._host.start_painting(mesh if mesh in meshes else meshes[0])
        except VerdigrisError as failure:
            self._notices.add(WARNING, str(failure))

    def stop_brush(self) -> None:
        """Ends the application's own brush."""
        if isinstance(self._host, StopsPainting):
            try:
                self._host.stop_painting()
            except VerdigrisError as failure:
                self._notices.add(WARNING, str(failure))

    def _report(self, failure: VerdigrisError) -> None:
        self._notices.add(WARNING, f"The painted weights of the scene cannot be used: {failure}")

    def _apply(self, material: HostMaterial, found: Painted | None, is_requested: bool) -> None:
        if found is not None:
            self._painted.add(material)
            self._weights.replace(found.weights)
            self._notices.add_notes(found.notes)
        elif material in self._painted:
            self._painted.remove(material)
            self._weights.fill(NORMAL_WEIGHT)
        elif is_requested:
            self._notices.add(INFO, "The meshes of this material have no painted weights.")


class Background:
    """Runs functions on threads. `poll` passes on the results, on the thread of its caller."""

    def __init__(self) -> None:
        self._done: deque[Callable[[], None]] = deque()
        self._running = 0

    @property
    def is_busy(self) -> bool:
        return self._running > 0

    def run(
        self,
        work: Callable[[], Any],
        then: Callable[[Any], None],
        failed: Callable[[VerdigrisError], None],
    ) -> None:
        """Starts `work`, which must not touch the host's scene."""
        self._running += 1

        def act() -> None:
            try:
                result = work()
            except VerdigrisError as failure:
                self._done.append(lambda error=failure: failed(error))
            except Exception as failure:  # noqa: BLE001 - the panel must report it
                error = VerdigrisError(f"internal error: {failure!r}")
                self._done.append(lambda: failed(error))
            else:
                self._done.append(lambda: then(result))

        threading.Thread(target=act, name="panel work", daemon=True).start()

    def poll(self) -> None:
        while self._done:
            self._running -= 1
            self._done.popleft()()
