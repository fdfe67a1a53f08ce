"""The host for Maya. Only this module, scene/ and scene_levels.py read or change the scene."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.base.process.worker_environment import package_folder
from verdigris.core.hosts.host import (
    WEIGHT_SET,
    BakedResult,
    HostDocument,
    HostMaterial,
    HostMesh,
    LadderLook,
)
from verdigris.core.hosts.probe import Facts
from verdigris.plugins.common.programs import start_selftest
from verdigris.plugins.maya.interpreter import mayapy
from verdigris.plugins.maya.scene.assignments import engines_on, members_of, meshes_of
from verdigris.plugins.maya.scene.documents import scene_file, texture_folder
from verdigris.plugins.maya.scene.facts import read_facts
from verdigris.plugins.maya.scene.materials import (
    STACKED,
    STAGED,
    engines_of,
    list_materials,
    node_of,
    place_in_node,
    read_document,
    require_known,
    selected_among,
    unloaded_references,
)
from verdigris.plugins.maya.scene.meshes import colour_sets, has_colour_set, read_mesh
from verdigris.plugins.maya.scene.networks import convert_to_texture
from verdigris.plugins.maya.scene.nodes import (
    identity_of,
    note_step,
    note_text,
    refuse_locked,
    require_node,
    selected_meshes,
    undo_step,
)
from verdigris.plugins.maya.scene.painting import BRUSH, hide_weights, show_weights
from verdigris.plugins.maya.scene.results import (
    find_result,
    hide_looks,
    is_look_shown,
    place_of_result,
    result_text,
    show_looks,
    switch_stages,
)
from verdigris.plugins.maya.scene.stacks import bare_materials
from verdigris.plugins.maya.scene.stages import (
    is_item,
    meshes_with,
    read_staged_mesh,
    stage_warnings,
    staged_weight_sets,
)
from verdigris.plugins.maya.scene.viewport import make_viewport_material
from verdigris.plugins.maya.scene_levels import can_show, make_levels, parts_of


class MayaHost:
    """The scene that is open in this Maya."""

    can_paint = True
    _open_warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"Maya {cmds.about(version=True)}"

    @property
    def manual(self) -> Path:
        return package_folder() / "docs" / "MAYA.md"

    @property
    def export_steps(self) -> tuple[str, ...]:
        return (
            "A material of LookdevX: right-click its stack or document in the Outliner, and export "
            "it.",
            "A material of Arnold: select it, and choose Arnold > Utilities > Export Selection to "
            "MaterialX.",
            "Any other: assign it to a mesh, select the mesh, and choose File > Export Selection, "
            "with USD Export as the file type and MaterialX Shading as the kind of materials.",
            "Open the .mtlx or .usda file here.",
        )

    def facts(self) -> Facts:
        return read_facts()

    def start_selftest(self, report: Path) -> None:
        start_selftest(mayapy(), report)

    def check_window(self, report: Path) -> None:
        # it has imports of the panel
        from verdigris.plugins.maya.window_check import check_window

        check_window(report)

    def scene_file(self) -> Path | None:
        return scene_file()

    def scene_warnings(self) -> tuple[str, ...]:
        return (*self._open_warnings, *unloaded_references(), *bare_materials(), *stage_warnings())

    def open_scene(self, path: Path) -> None:
        if not path.is_file():
            raise HostError(f"{path} does not exist")
        self._open_warnings = ()
        try:
            cmds.file(newFile=True, force=True)
            cmds.file(str(path), open=True, force=True)
        except RuntimeError as failure:
            # Maya also reports a missing plug-in as an error, after it has opened the rest
            opened = scene_file()
            if opened is None or opened.resolve() != path.resolve():
                raise HostError(f"Maya cannot open {path}: {failure}") from None
            errors = str(failure).strip().rstrip(".")
            self._open_warnings = (
                f"Maya opened {path} with errors: {errors}. Materials may lack the nodes that the "
                "errors name.",
            )

    def save_scene(self) -> None:
        if scene_file() is None:
            raise HostError("the scene is not saved: save it first")
        try:
            cmds.file(save=True)
        except RuntimeError as failure:
            raise HostError(f"Maya cannot save {scene_file()}: {failure}") from None

    # materials

    def materials(self) -> tuple[HostMaterial, ...]:
        return list_materials()

    def selected_materials(self) -> tuple[HostMaterial, ...]:
        # without this flag, Maya leaves out the items of LookdevX and USD
        selected = cmds.ls(selection=True, long=True, ufeObjects=True) or []
        nodes = {each if "," in each else each.partition(".")[0] for each in selected}
        engines: set[str] = set()
        for shape in selected_meshes():
            engines |= engines_on(shape)
        there = self.materials()
        chosen = selected_among(there, nodes)
        return tuple(
            material
            for material in there
            if material in chosen or set(engines_of(material)) & engines
        )

    def identity(self, material: HostMaterial) -> str:
        node = node_of(material)
        return f"{identity_of(node)} {place_in_node(material)}"

    def document(self, material: HostMaterial) -> HostDocument:
        return read_document(material, self.meshes(material))

    # meshes and weights

    def meshes(self, material: HostMaterial) -> tuple[str, ...]:
        require_known(material)
        if material.source == STAGED:
            return tuple(meshes_with(material.key))
        found: list[str] = []
        for engine in engines_of(material):
            found += meshes_of(members_of(engine))
        selected = selected_meshes()
        if material.source == STACKED:
            found = list(selected)
        first = [name for name in dict.fromkeys(found) if name in selected]
        return tuple(dict.fromkeys((*first, *found)))

    def mesh(
        self, name: str, material: HostMaterial | None = None, weight_set: str = WEIGHT_SET
    ) -> HostMesh:
        if is_item(name):
            staged = material.key if material and material.source == STAGED else ""
            return read_staged_mesh(name, staged, weight_set)
        return read_mesh(name, material, weight_set)

    def weight_sets(self, mesh: str) -> tuple[str, ...]:
        if is_item(mesh):
            return staged_weight_sets(mesh)
        return colour_sets(mesh)

    def start_painting(self, mesh: str, weight_set: str = WEIGHT_SET) -> None:
        if is_item(mesh):
            raise HostError(
                f"{mesh} is on a USD stage, which Maya's brush does not reach: paint in the panel, "
                f"or give the mesh a primvar {weight_set!r}"
            )
        if cmds.about(batch=True):
            raise HostError(f"{mesh}: this Maya has no window for the brush: paint in the panel")
        exists = has_colour_set(mesh, weight_set)
        BRUSH.start(mesh, weight_set, exists)

    def set_brush_weight(self, weight: float) -> bool:
        """Gives the brush a weight. Returns False if the brush is not in use."""
        return BRUSH.set_weight(weight)

    def stop_painting(self) -> None:
        BRUSH.stop()

    # results

    def attach(self, material: HostMaterial, result: BakedResult) -> None:
        require_known(material)
        node, attribute = place_of_result(material)
        refuse_locked(node)
        text = result_text(material, result.bundle)
        # a stage has no shaders of Maya's
        has_shader = bool(result.textures) and material.source != STAGED
        with (undo_step if has_shader else note_step)("Verdigris result"):
            note_text(node, attribute, text)
            if has_shader:
                make_viewport_material(material, result.textures)

    def attach_rungs(self, material: HostMaterial, ladder: LadderLook) -> str:
        node, attribute = place_of_result(material)
        refuse_locked(node)
        own = [mesh for mesh in self.meshes(material) if not is_item(mesh)]
        parts = parts_of(material, own)
        text = result_text(material, ladder.result.bundle) if ladder.result else ""
        with undo_step("Verdigris levels of detail"):
            if text:
                note_text(node, attribute, text)
            layers = make_levels(material, parts, ladder)
        named = ", ".join(layers)
        for rung in ladder.rungs:
            if rung.shader and not can_show(rung):
                kind = rung.shader.category
                return (
                    f"Display layers: {named}; this Maya has no node for {kind}: use surface.mtlx"
                )
        return f"Display layers: {named}"

    def attached(self, material: HostMaterial) -> Path | None:
        text = find_result(material)
        return Path(text) if text else None

    def switch_look(self, materials: Sequence[HostMaterial]) -> str:
        """Displays the baked looks of materials, or the materials again. Returns what it did."""
        BRUSH.stop()
        staged = [each for each in materials if each.source == STAGED]
        there = self.materials() if staged else ()
        noted = {each: self.attached(each) for each in there if each.source == STAGED}
        said = switch_stages(staged, {each: path for each, path in noted.items() if path})
        materials = [each for each in materials if each.source != STAGED]
        shown = [material for material in materials if is_look_shown(material)]
        if shown:
            hide_looks(shown)
            said.append(f"The materials are shown again: {', '.join(each.name for each in shown)}")
        elif materials or not said:
            names = show_looks({material: self.meshes(material) for material in materials})
            said.append(f"Baked looks are shown: {', '.join(names)}")
        return "; ".join(said)

    def make_textures(self, material: HostMaterial) -> str:
        nodes = self.document(material).convertible
        meshes = [mesh for mesh in self.meshes(material) if not is_item(mesh)]
        if not meshes or not nodes:
            raise HostError(
                f"{material.name} is not assigned to a mesh: assign it to convert its textures"
                if nodes
                else f"{material.name} has no texture to convert"
            )
        folder = texture_folder()
        with undo_step("Verdigris textures"):
            made = [convert_to_texture(require_node(each), meshes[0], folder) for each in nodes]
        pairs = zip(nodes, made, strict=True)
        text = ", ".join(f"{node} to the file texture {file}" for node, file in pairs)
        return f"Converted {text}: Edit > Undo takes it back"

    def require_material_of(self, node: str) -> HostMaterial:
        """The material of a shader, a shading group or a stack."""
        for material in self.materials():
            if node in (material.key, material.name):
                return material
        raise HostError(f"{node} is not a material that can be baked: see the list in the panel")

    def calls_for_selftest(self, material: HostMaterial) -> dict[str, Callable[[], object]]:
        """Calls that the interface lacks, and those of the brush that need no window."""
        meshes = self.meshes(material)
        if not meshes or is_item(meshes[0]):
            return {}
        mesh = meshes[0]
        exists = has_colour_set(mesh, WEIGHT_SET)
        return {
            "display weights": lambda: show_weights(mesh, WEIGHT_SET, exists),
            "meshes while weights are displayed": lambda: self.meshes(material),
            "display the material again": hide_weights,
            "weights of the brush": lambda: self.mesh(mesh, material).weights,
            "display the baked look": lambda: self.switch_look([material]),
            "meshes while the look is displayed": lambda: self.meshes(material),
            "display the material after the look": lambda: self.switch_look([material]),
        }
