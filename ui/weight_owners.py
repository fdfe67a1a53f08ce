"""Whose the painted weights are: each material of a scene has its own, whatever the scene is called
by now."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.hosts.host import Host, HostMaterial
from verdigris.ui.notices import INFO, Notices
from verdigris.ui.weights import WeightMap


class WeightOwners:
    """Hands the map of weights from one material to the next."""

    def __init__(self, host: Host, weights: WeightMap, notices: Notices) -> None:
        self._host = host
        self._weights = weights
        self._notices = notices
        self._scene: Path | None = None
        self._known: dict[HostMaterial, str] = {}

    def hand_to(self, current: HostMaterial | None, materials: Iterable[HostMaterial]) -> None:
        """The map is this material's from now on; the others are what the scene has besides."""
        self._follow_scene()
        owned = (*materials, *((current,) if current else ()))
        self._known = {each: self._identity(each) for each in owned}
        self._weights.belong_to((self._scene, current))

    def _follow_scene(self) -> None:
        """What was painted goes along when the scene is saved under a name, and is there twice when
        it is saved under another: the old one keeps its own. What was painted in another scene
        stays there."""
        before, self._scene = self._scene, self._host.scene_file()
        if self._scene is None or self._scene == before:
            return
        names = {
            (before, each): (self._scene, each)
            for each, identity in self._known.items()
            if identity and identity == self._identity(each)
        }
        if before is None:
            self._weights.rename_owners(names)
        elif self._weights.copy_owners(names):
            told = f"What is painted in {before.name} was taken over for {self._scene.name}."
            self._notices.tell(INFO, told)

    def follow_name(
        self, material: HostMaterial, materials: Iterable[HostMaterial]
    ) -> HostMaterial | None:
        """The one of these that this is by now, if it has another name; its map is that one's."""
        before = self._known.get(material)
        others = [each for each in materials if each not in self._known]
        found = [each for each in others if before and self._identity(each) == before]
        if len(found) != 1:
            return None
        self._known[found[0]] = self._known.pop(material)
        names = {(self._scene, material): (self._scene, found[0])}
        if self._host.scene_file() == self._scene:
            self._weights.rename_owners(names)
        else:
            # this may be a copy of the scene, and the name there the old one
            self._weights.copy_owners(names)
        return found[0]

    def _identity(self, material: HostMaterial) -> str:
        try:
            return self._host.identity(material)
        except VerdigrisError:
            return ""
