"""Assigns painted weights to materials, also when a scene or a material is renamed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.hosts.host import Host, HostMaterial
from verdigris.ui.paint.weight_map import WeightMap
from verdigris.ui.signals.notices import INFO, Notices


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
