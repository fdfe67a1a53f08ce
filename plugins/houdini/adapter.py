"""The host for Houdini. Only this file and scene_*.py read or change the scene."""

from __future__ import annotations

from pathlib import Path

import hou

from verdigris.core.base.errors import HostError
from verdigris.core.base.worker_environment import package_folder
from verdigris.core.geometry.primvars import weight_names
from verdigris.core.hosts.host import (
    VIEWPORT_SUFFIX,
    WEIGHT_SET,
    BakedResult,
    HostDocument,
    HostMaterial,
    HostMesh,
)
from verdigris.core.material.usd.usdshade import convert, has_surface, list_materials
from verdigris.plugins.common.programs import start_selftest
from verdigris.plugins.houdini.interpreter import hython
from verdigris.plugins.houdini.result_script import read_results
from verdigris.plugins.houdini.scene_geometry import (
    add_brush,
    display_node,
    geometry_of,
    has_material,
    mesh_of_object,
)
from verdigris.plugins.houdini.scene_nodes import children, refuse_locked, require_node, undo_step
from verdigris.plugins.houdini.scene_results import (
    RESULT_DATA,
    RESULTS_DATA,
    make_viewport_material,
    note_on_stage,
)
from verdigris.plugins.houdini.scene_stage import (
    SEPARATOR,
    bound_meshes,
    library_path,
    material_library,
    mesh_of_stage,
    stage_nodes,
    stage_of,
    stage_warnings,
)

STAGE, NETWORK = "USD stage", "/mat network"
_MATERIAL_PATH, _OBJECT_PATH = "/mat", "/obj"


class HoudiniHost:
    """The scene that is open in this Houdini."""

    can_paint = True

    @property
    def name(self) -> str:
        return f"Houdini {hou.applicationVersionString()}"

    @property
    def manual(self) -> Path:
        return package_folder() / "docs" / "HOUDINI.md"

    def start_selftest(self, report: Path) -> None:
        start_selftest(hython(), "houdini", report)

    def scene_file(self) -> Path | None:
        return None if hou.hipFile.isNewFile() else Path(hou.hipFile.path())

    def scene_warnings(self) -> tuple[str, ...]:
        return tuple(line for node in stage_nodes() for line in stage_warnings(node))

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
            hou.hipFile.save()
        except hou.OperationFailed as failure:
            raise HostError(f"Houdini cannot save {self.scene_file()}: {failure}") from None

    # materials

    def materials(self) -> tuple[HostMaterial, ...]:
        found = [
            HostMaterial(node.path(), node.name(), NETWORK)
            for node in children(_MATERIAL_PATH)
            if node.isGenericFlagSet(hou.nodeFlag.Material)
            and not node.name().endswith(VIEWPORT_SUFFIX)
        ]
        for node in stage_nodes():
            stage = stage_of(node)
            for path in list_materials(stage):
                if has_surface(stage, path):
                    name = path.rpartition("/")[2]
                    found.append(HostMaterial(f"{node.path()}{SEPARATOR}{path}", name, STAGE))
        return tuple(found)

    def selected_materials(self) -> tuple[HostMaterial, ...]:
        selected = {node.path() for node in hou.selectedNodes()}
        return tuple(
            material
            for material in self.materials()
            if material.key.partition(SEPARATOR)[0] in selected
            or (
                material.source == NETWORK
                and selected & {name.partition(SEPARATOR)[0] for name in self.meshes(material)}
            )
        )

    def identity(self, material: HostMaterial) -> str:
        node, _, path = material.key.partition(SEPARATOR)
        # the numbers change each time a scene is loaded
        return f"{require_node(node).sessionId()} {path}"

    def document(self, material: HostMaterial) -> HostDocument:
        if material.source == STAGE:
            node, path = _split_key(material)
            found = convert(stage_of(node), path)
        else:
            node = require_node(material.key)
            with material_library(node) as stage:
                found = convert(stage, library_path(node))
        scene = self.scene_file()
        folders = dict.fromkeys((*([scene.parent] if scene else []), *found.folders))
        notes = found.notes
        if scene is None:
            notes = (*notes, "the scene is not saved: $HIP is Houdini's working folder")
        return HostDocument(material.key, found.text, found.name, tuple(folders), notes)

    # meshes and weights

    def meshes(self, material: HostMaterial) -> tuple[str, ...]:
        if material.source == STAGE:
            node, path = _split_key(material)
            bound = bound_meshes(stage_of(node), path)
            return tuple(f"{node.path()}{SEPARATOR}{name}" for name in bound)
        node = require_node(material.key)
        objects = [each for each in children(_OBJECT_PATH) if has_material(each, node.path())]
        selected = {each.path() for each in hou.selectedNodes()}
        objects.sort(key=lambda each: each.path() not in selected)
        return tuple(each.path() for each in objects)

    def mesh(
        self, name: str, material: HostMaterial | None = None, weight_set: str = WEIGHT_SET
    ) -> HostMesh:
        node_path, _, prim_path = name.partition(SEPARATOR)
        node = require_node(node_path)
        if prim_path:
            material_path = _split_key(material)[1] if material and material.source == STAGE else ""
            return mesh_of_stage(node, prim_path, material_path, weight_set)
        material_path = material.key if material and material.source == NETWORK else ""
        return mesh_of_object(node, material_path, weight_set)

    def weight_sets(self, mesh: str) -> tuple[str, ...]:
        node_path, _, prim_path = mesh.partition(SEPARATOR)
        node = require_node(node_path)
        if prim_path:
            from pxr import UsdGeom

            stage = stage_of(node)
            found = UsdGeom.Mesh(stage.GetPrimAtPath(prim_path))
            if not found:
                raise HostError(f"{node.path()} has no mesh {prim_path}: refresh the list")
            return weight_names(found)
        geometry = geometry_of(node)
        return tuple(
            attribute.name()
            for attribute in (*geometry.pointAttribs(), *geometry.vertexAttribs())
            if attribute.dataType() == hou.attribData.Float
        )

    def start_painting(self, mesh: str, weight_set: str = WEIGHT_SET) -> None:
        node_path, _, prim_path = mesh.partition(SEPARATOR)
        if prim_path:
            raise HostError(
                f"{mesh} is on a stage, which has no brush: paint the attribute {weight_set!r} on "
                "the SOP that it comes from, or paint in the panel"
            )
        if not hou.isUIAvailable():
            raise HostError(f"{mesh}: this Houdini has no window for the brush: paint in the panel")
        container = require_node(node_path)
        refuse_locked(container)
        shown = display_node(container)
        exists = shown.geometry().findPointAttrib(weight_set) is not None
        with undo_step("Verdigris weights"):
            brush = shown if exists and shown.type().name() == "attribpaint" else None
            if brush is None:
                brush = add_brush(container, shown, weight_set, with_ones=not exists)
            brush.setCurrent(True, clear_all_selected=True)
        viewer = hou.ui.paneTabOfType(hou.paneTabType.SceneViewer)
        if viewer is not None:
            viewer.enterCurrentNodeState()

    # results

    def attach(self, material: HostMaterial, result: BakedResult) -> None:
        if material.source == NETWORK:
            node = require_node(material.key)
            refuse_locked(node)
            with undo_step("Verdigris result"):
                node.setUserData(RESULT_DATA, result.bundle.as_posix())
                if result.textures:
                    make_viewport_material(node, result.textures)
            return
        node, path = _split_key(material)
        refuse_locked(node)
        with undo_step("Verdigris result"):
            note_on_stage(node, path, result)

    def attached(self, material: HostMaterial) -> Path | None:
        if material.source == NETWORK:
            text = require_node(material.key).userData(RESULT_DATA)
        else:
            node, path = _split_key(material)
            text = read_results(node.userData(RESULTS_DATA)).get(path)
        return Path(text) if text else None


def _split_key(material: HostMaterial) -> tuple[hou.LopNode, str]:
    """The LOP of a material and its path on the stage."""
    name, _, path = material.key.partition(SEPARATOR)
    return require_node(name), path
