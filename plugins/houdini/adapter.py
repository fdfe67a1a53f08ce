"""The host for Houdini. Only this module and scene/ read or change the scene."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import hou

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
from verdigris.plugins.houdini.interpreter import hython
from verdigris.plugins.houdini.scene.cops import FOLDER, images_of_cops, write_images
from verdigris.plugins.houdini.scene.documents import document_of_network, document_of_stage
from verdigris.plugins.houdini.scene.facts import read_facts
from verdigris.plugins.houdini.scene.geometry import (
    float_attributes,
    materials_of,
    mesh_of_object,
    objects,
)
from verdigris.plugins.houdini.scene.networks import (
    material_around,
    network_materials,
    shown_on_stages,
    touches,
)
from verdigris.plugins.houdini.scene.nodes import refuse_locked, require_node, undo_step
from verdigris.plugins.houdini.scene.paint import start_brush, stop_brush
from verdigris.plugins.houdini.scene.results import (
    add_variants,
    note_on_node,
    note_on_stage,
    noted_on_node,
    noted_on_stage,
    require_stage,
    write_layer,
)
from verdigris.plugins.houdini.scene.stage import (
    SEPARATOR,
    mesh_of_lop,
    meshes_of_lop,
    selected_stages,
    stage_nodes,
    stage_warnings,
    staged_materials,
    weight_sets_of_lop,
)
from verdigris.plugins.houdini.scene.translator import discard_network

STAGE, NETWORK = "USD stage", "material network"


class HoudiniHost:
    """The scene that is open in this Houdini."""

    can_paint = True

    @property
    def name(self) -> str:
        return f"Houdini {hou.applicationVersionString()}"

    @property
    def manual(self) -> Path:
        return package_folder() / "docs" / "HOUDINI.md"

    @property
    def export_steps(self) -> tuple[str, ...]:
        return (
            "Put the material into a Material Library LOP, built from MtlX nodes and images only.",
            "Append a USD ROP, switch Flatten Stage on, and write a .usda file beside the scene.",
            "Open the .usda file here, or a .mtlx file that your pipeline writes.",
        )

    def facts(self) -> Facts:
        return read_facts()

    def start_selftest(self, report: Path) -> None:
        start_selftest(hython(), report)

    def check_window(self, report: Path) -> None:
        # it has imports of the panel
        from verdigris.plugins.houdini.window_check import check_window

        check_window(report)

    def scene_file(self) -> Path | None:
        return None if hou.hipFile.isNewFile() else Path(hou.hipFile.path())

    def scene_warnings(self) -> tuple[str, ...]:
        return tuple(stage_warnings(stage_nodes()))

    def open_scene(self, path: Path) -> None:
        if not path.is_file():
            raise HostError(f"{path} does not exist")
        try:
            hou.hipFile.load(path.as_posix(), suppress_save_prompt=True, ignore_load_warnings=True)
        except hou.OperationFailed as failure:
            raise HostError(f"Houdini cannot open {path}: {failure}") from None

    def save_scene(self) -> None:
        if self.scene_file() is None:
            raise HostError("the scene is not saved: save it first")
        try:
            discard_network()
            hou.hipFile.save()
        except hou.OperationFailed as failure:
            raise HostError(f"Houdini cannot save {self.scene_file()}: {failure}") from None

    # materials

    def materials(self) -> tuple[HostMaterial, ...]:
        nodes = stage_nodes()
        of_stages = [
            HostMaterial(
                f"{node.path()}{SEPARATOR}{each.path}",
                each.path.rpartition("/")[2],
                STAGE,
                each.problem,
            )
            for node in nodes
            for each in staged_materials(node)
        ]
        shown, names = shown_on_stages(nodes), {material.name for material in of_stages}
        of_networks = [
            HostMaterial(node.path(), node.name(), NETWORK, problem)
            for node, problem in network_materials()
            # materials of a Material Library are on its stage
            if not (node.path().startswith(shown) and node.name() in names)
        ]
        # what can be baked comes first
        return tuple(sorted((*of_networks, *of_stages), key=lambda each: bool(each.problem)))

    def selected_materials(self) -> tuple[HostMaterial, ...]:
        nodes = hou.selectedNodes()
        if not nodes:
            return ()
        selected = {node.path() for node in nodes}
        # the materials of selected objects
        for node in nodes:
            if isinstance(node, hou.ObjNode):
                selected |= materials_of(node)
        stages = {node.path() for node in selected_stages()}
        # a selected node of a Material Library stands for the material on the stage
        around = [material_around(node) for node in nodes]
        shown = shown_on_stages(stage_nodes())
        names = {node.name() for node in around if node and node.path().startswith(shown)}

        def is_selected(material: HostMaterial) -> bool:
            if _is_on_stage(material):
                return material.name in names or _split_key(material)[0].path() in stages
            return touches(material.key, selected)

        return tuple(each for each in self.materials() if is_selected(each))

    def identity(self, material: HostMaterial) -> str:
        node, _, path = material.key.partition(SEPARATOR)
        # the numbers change each time a scene is loaded, and each Houdini has its own
        return f"{os.getpid()} {require_node(node).sessionId()} {path}"

    def document(self, material: HostMaterial) -> HostDocument:
        if _is_on_stage(material):
            return document_of_stage(material.key, *_split_key(material))
        found = document_of_network(material.key, require_node(material.key))
        return replace(found, convertible=self.nodes_for_textures(material))

    # meshes and weights

    def meshes(self, material: HostMaterial) -> tuple[str, ...]:
        if _is_on_stage(material):
            return meshes_of_lop(*_split_key(material))
        key = require_node(material.key).path()
        return tuple(each.path() for each in objects() if key in materials_of(each))

    def mesh(
        self, name: str, material: HostMaterial | None = None, weight_set: str = WEIGHT_SET
    ) -> HostMesh:
        node_path, _, prim_path = name.partition(SEPARATOR)
        node = require_node(node_path)
        if prim_path:
            material_path = _split_key(material)[1] if material and _is_on_stage(material) else ""
            return mesh_of_lop(node, prim_path, material_path, weight_set)
        material_path = material.key if material and not _is_on_stage(material) else ""
        return mesh_of_object(node, material_path, weight_set)

    def weight_sets(self, mesh: str) -> tuple[str, ...]:
        node_path, _, prim_path = mesh.partition(SEPARATOR)
        node = require_node(node_path)
        if prim_path:
            return weight_sets_of_lop(node, prim_path)
        return float_attributes(node)

    def start_painting(self, mesh: str, weight_set: str = WEIGHT_SET) -> None:
        node_path, _, prim_path = mesh.partition(SEPARATOR)
        if prim_path:
            raise HostError(
                f"{mesh} is on a stage, which has no brush: paint the attribute {weight_set!r} on "
                "the SOP that it comes from, or paint in the panel"
            )
        if not hou.isUIAvailable():
            raise HostError(f"{mesh}: this Houdini has no window for the brush: paint in the panel")
        start_brush(require_node(node_path), weight_set)

    def stop_painting(self) -> None:
        """Leaves the brush."""
        if not hou.isUIAvailable():
            raise HostError("this Houdini has no window, and so no brush to leave")
        stop_brush()

    # images of COPs

    def nodes_for_textures(self, material: HostMaterial) -> tuple[str, ...]:
        """The COPs whose images a material of a network reads."""
        if _is_on_stage(material):
            return ()
        found = images_of_cops(require_node(material.key))
        return tuple(dict.fromkeys(path for _, path in found))

    def make_textures(self, material: HostMaterial) -> str:
        """Writes these images beside the scene, and lets the material read the files."""
        scene = self.scene_file()
        if scene is None:
            raise HostError(
                "the scene is not saved: save it first, as images are written beside it"
            )
        self._refuse_locked(material)
        with undo_step("Verdigris textures"):
            written = write_images(require_node(material.key), scene.parent / FOLDER)
        names = ", ".join(file.name for file in written)
        return f"Written to {scene.parent / FOLDER}: {names}."

    # results

    def attach(self, material: HostMaterial, result: BakedResult) -> None:
        self._refuse_locked(material)
        with undo_step("Verdigris result"):
            self._note(material, result)
        if _is_on_stage(material):
            write_layer(_split_key(material)[0])

    def attach_rungs(self, material: HostMaterial, ladder: LadderLook) -> str:
        self._refuse_locked(material)
        network = require_stage(ladder)
        with undo_step("Verdigris levels of detail"):
            if ladder.result is not None:
                self._note(material, ladder.result)
            chosen = add_variants(network, material.key, ladder)
        names = ", ".join(each.name for each in ladder.rungs)
        return f"{chosen} chooses the rung: {names}. Merge it where the mesh is."

    def _refuse_locked(self, material: HostMaterial) -> None:
        on_stage = _is_on_stage(material)
        refuse_locked(_split_key(material)[0] if on_stage else require_node(material.key))

    def _note(self, material: HostMaterial, result: BakedResult) -> None:
        if _is_on_stage(material):
            note_on_stage(*_split_key(material), result)
            return
        note_on_node(require_node(material.key), result)

    def attached(self, material: HostMaterial) -> Path | None:
        if not _is_on_stage(material):
            return noted_on_node(require_node(material.key))
        return noted_on_stage(*_split_key(material))


def _is_on_stage(material: HostMaterial) -> bool:
    """Whether a material is on a stage, and not in a network of nodes."""
    return SEPARATOR in material.key


def _split_key(material: HostMaterial) -> tuple[hou.LopNode, str]:
    """The LOP of a material and its path on the stage."""
    name, _, path = material.key.partition(SEPARATOR)
    return require_node(name), path
