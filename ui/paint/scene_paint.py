"""Painted weights of the scene: read from its meshes, and assigned to its materials."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import HostError, VerdigrisError
from verdigris.core.hosts.guarded_host import GuardedHost
from verdigris.core.hosts.host import NORMAL_WEIGHT, Host, HostMaterial
from verdigris.core.hosts.painted_meshes import Painted, read_painted
from verdigris.ui.paint.weight_map import WeightMap
from verdigris.ui.signals import INFO, WARNING, Notices


class ScenePaint:
    """Reads the scene's paint into the panel's map, and starts the application's own brush."""

    def __init__(self, host: GuardedHost, weights: WeightMap, notices: Notices) -> None:
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


class WeightOwners:
    """Switches the map between materials. Each material of each scene has its own weights."""

    def __init__(self, host: Host, weights: WeightMap, notices: Notices) -> None:
        self._host = host
        self._weights = weights
        self._notices = notices
        self._scene: Path | None = None
        self._identities: dict[HostMaterial, str] = {}

    def switch_to(self, current: HostMaterial | None, materials: Iterable[HostMaterial]) -> None:
        """Shows the weights of `current`. `materials` are all materials of the scene."""
        self._follow_scene()
        owned = (*materials, *((current,) if current else ()))
        self._identities = {each: self._identity(each) for each in owned}
        self._weights.switch_owner((self._scene, current))

    def _follow_scene(self) -> None:
        """Keeps the weights when the scene is saved under a first name, and copies them when it is
        saved under another. Weights of an unrelated scene stay with that scene."""
        before, self._scene = self._scene, self._host.scene_file()
        if self._scene is None or self._scene == before:
            return
        names = {
            (before, each): (self._scene, each)
            for each, identity in self._identities.items()
            if identity and identity == self._identity(each)
        }
        if before is None:
            self._weights.rename_owners(names)
        elif self._weights.copy_owners(names):
            text = f"The painted weights of {before.name} were copied to {self._scene.name}."
            self._notices.add(INFO, text)

    def find_renamed(
        self, material: HostMaterial, materials: Iterable[HostMaterial]
    ) -> HostMaterial | None:
        """The material under its new name, if it was renamed. Its weights move along."""
        before = self._identities.get(material)
        others = [each for each in materials if each not in self._identities]
        found = [each for each in others if before and self._identity(each) == before]
        if len(found) != 1:
            return None
        self._identities[found[0]] = self._identities.pop(material)
        names = {(self._scene, material): (self._scene, found[0])}
        if self._host.scene_file() == self._scene:
            self._weights.rename_owners(names)
        else:
            # the scene may be a copy in which the material still has the old name
            self._weights.copy_owners(names)
        return found[0]

    def _identity(self, material: HostMaterial) -> str:
        try:
            return self._host.identity(material)
        except VerdigrisError:
            return ""
