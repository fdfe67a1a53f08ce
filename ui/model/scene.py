"""The scene of the host: its materials, its painted weights, and the results noted in it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from verdigris.core.base.errors import HostError, VerdigrisError
from verdigris.core.base.text import unused_names
from verdigris.core.bundle.files.manifest import SUFFIX
from verdigris.core.flatten.viewport import texture_paths
from verdigris.core.hosts.guarded_host import GuardedHost
from verdigris.core.hosts.host import BakedResult, HostDocument, HostMaterial
from verdigris.core.hosts.own_files import ALONE, OwnFile, read_own
from verdigris.core.hosts.result_folders import find_result_folder, result_folder
from verdigris.core.material.files.missing_files import find_folders
from verdigris.ui.model.panel_state import PanelState
from verdigris.ui.paint.scene_paint import ScenePaint, WeightOwners
from verdigris.ui.paint.weight_keeper import WeightKeeper
from verdigris.ui.signals import INFO, WARNING


class Scene:
    """Reads the scene into the state of the panel, and notes results in the scene."""

    def __init__(self, host: GuardedHost, state: PanelState) -> None:
        self.host, self._state = host, state
        self.paint = ScenePaint(host, state.weights, state.notices)
        self._baked: tuple[HostMaterial | None, str] = None, ""
        """The material whose bake was begun last, and its identity then."""
        self._owners = WeightOwners(host, state.weights, state.notices)
        self.kept = WeightKeeper(host, state.weights, state.notices, self._results_of)

    def read_materials(self) -> None:
        """Lists the materials. The chosen material may have a new name."""
        state = self._state
        state.materials = self.host.materials()
        if state.current is not None and state.current not in state.materials:
            renamed = self._owners.find_renamed(state.current, state.materials)
            state.current = renamed or state.current

    def read_selected(self) -> tuple[HostMaterial, ...]:
        """The selected materials. Adds the warnings of the scene. A failure of either hides no
        material."""
        selected: tuple[HostMaterial, ...] = ()
        try:
            selected = self.host.selected_materials()
            for warning in self.host.scene_warnings():
                self._state.notices.add(WARNING, warning)
        except VerdigrisError as failure:
            self._state.notices.add(WARNING, str(failure))
        return selected

    def document(self, material: HostMaterial) -> HostDocument:
        """A material as MaterialX: from the scene, or from the file that stands for it."""
        own = self.find_own_file(material)
        if own is not None:
            return read_own(own)
        if material.problem:
            raise HostError(material.problem)
        return self.host.document(material)

    def find_own_file(self, material: HostMaterial | None) -> OwnFile | None:
        return self._state.own_files.get(self._place(material)) if material else None

    def take_own_file(self, material: HostMaterial, own: OwnFile | None) -> None:
        """Reads a material from a file from now on, or from the scene again."""
        files, place = self._state.own_files, self._place(material)
        files.pop(place, None)
        if own is not None:
            files[place] = own
        self._state.own_files_changed.emit()

    def _place(self, material: HostMaterial) -> tuple[str, str]:
        return str(self.host.scene_file() or ""), material.key

    def look_up(self, material: HostMaterial, document: HostDocument) -> None:
        """Looks up what the scene notes at a material that was just read, and which of its nodes
        could be baked to images."""
        state = self._state
        can_convert = self.host.can_make_textures
        state.noted, state.for_textures = None, document.convertible if can_convert else ()
        if not self.host.has_scene or material.source == ALONE:
            return
        with contextlib.suppress(VerdigrisError):
            state.noted = self.host.attached(material)

    def own_weights(self) -> None:
        """Shows the painted weights of the chosen material, perhaps of an earlier session."""
        state = self._state
        self.kept.follow(lambda: self._owners.switch_to(state.current, state.materials))

    def find_textures(self, folder: Path) -> list[str]:
        """Folders in a folder that contain missing textures of the chosen material."""
        textures = (self._state.report or {}).get("textures", ())
        names = [str(each.get("file", "")) for each in textures if each.get("is_missing")]
        return [str(path) for path in find_folders(folder, names)]

    @property
    def identity(self) -> str:
        """The identity of the chosen material; empty without one."""
        return self._identity_of(self._state.current)

    def _identity_of(self, material: HostMaterial | None) -> str:
        if material is None:
            return ""
        try:
            return self.host.identity(material)
        except VerdigrisError:
            return ""

    def begin_bake(self) -> None:
        """The chosen material is baked: its result belongs to this scene."""
        self._baked = self._state.current, self.identity

    @property
    def baked(self) -> HostMaterial | None:
        """The material whose bake was begun last. Another one may be chosen since, while the
        result is refined."""
        material, _ = self._baked
        return material if material in self._state.materials else self._state.current

    @property
    def is_left(self) -> bool:
        """Whether the scene of the last bake is no longer open: another one has a material with the
        same name, or no such material."""
        material, before = self.baked, self._baked[1]
        now = self._identity_of(material) if material in self._state.materials else ""
        return bool(before and now and now != before)

    @property
    def result_folder(self) -> Path:
        """The folder that a result is written to."""
        return self._folder_of(self.result_name)

    def _folder_of(self, name: str) -> Path:
        return find_result_folder(self.host.scene_file(), name, self._state.choices.folder)

    def _results_of(self, scene: Path | None) -> Path:
        return result_folder(scene, self._state.choices.folder)

    @property
    def result_name(self) -> str:
        """The name of the result, as a batch would choose it. Materials with the same name get
        numbers, so that none replaces another's result."""
        state = self._state
        if state.current not in state.materials:
            return ""
        return self._names()[state.materials.index(state.current)]

    def bundles(self) -> list[Path]:
        """Where the panel writes the bundles of the materials in the list."""
        return [self._folder_of(name) / f"{name}{SUFFIX}" for name in self._names()]

    def _names(self) -> list[str]:
        return unused_names([each.name for each in self._state.materials])

    def note_result(self, result: BakedResult, hints: Sequence[str]) -> None:
        """Notes a result for the chosen material, as one undo step, and reports it."""
        baked = self.baked
        if baked is None:
            return
        warnings = list(self._state.bake.warnings)
        # a document is a scene of its own: nothing is lost when another one is open
        if baked.source == ALONE or (self.is_left and not self.host.has_scene):
            self._state.notices.add(INFO, "\n".join((f"Written: {result.bundle}", *hints)))
            return
        try:
            if self.is_left:
                raise HostError(
                    "the material of this bake is not in the open scene. Open its scene, and "
                    "choose Note in the scene on the card of the material"
                )
            self.attach(baked, result)
        except VerdigrisError as failure:
            warnings.append(f"The result is written, but it is not noted in the scene: {failure}")
        # one notice, as only the last one is visible
        text = (f"Written: {result.bundle}", *warnings, *hints)
        self._state.notices.add(WARNING if warnings else INFO, "\n".join(text))

    def note_version(self, bundle: Path) -> None:
        """Notes a bundle that is there already at the chosen material, with its textures."""
        current = self._state.current
        if current is None:
            return
        there = {kind: path for kind, path in texture_paths(bundle).items() if path.is_file()}
        try:
            self.attach(current, BakedResult(bundle, there))
        except VerdigrisError as failure:
            self._state.notices.add(WARNING, f"The result is not noted in the scene: {failure}")
        else:
            self._state.noted = bundle
            self._state.notices.add(INFO, f"Noted in the scene: {bundle}")

    def attach(self, material: HostMaterial, result: BakedResult) -> None:
        """Notes a result in the scene. Only this and `make_textures` change the scene."""
        is_current = material == self._state.current
        try:
            self.host.attach(material, result)
        except VerdigrisError:
            self.read_materials()
            current = self._state.current
            if current is None or current == material or not is_current:
                raise
            # the material was renamed during the bake
            self._state.materials_changed.emit()
            self.host.attach(current, result)

    # painting in the application

    def take_paint(self) -> None:
        """Replaces the weights by those that are painted on the material's meshes."""
        if self._state.current is not None:
            self.paint.read(self._state.current, is_requested=True)

    def start_painting(self) -> None:
        """Starts the application's own brush on the mesh in the view, or on the first one."""
        if self._state.current is not None:
            self.paint.start_brush(self._state.current, self._state.view.mesh)

    def stop_painting(self) -> None:
        """Ends the application's own brush, and reads what was painted."""
        self.paint.stop_brush()
        self.take_paint()
