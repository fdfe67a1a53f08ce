# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The host for Blender. Only this module and scene/ read or change the scene."""

from __future__ import annotations

import os
from pathlib import Path

import bpy

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

from .programs import start_selftest
from .scene.facts import read_facts
from .scene.materials import all_materials, material_warnings, read_document, require_material
from .scene.meshes import arm_brush, objects_with, read_mesh, require_object, weight_sets
from .scene.results import attach_result, find_result
from .scene.rungs import attach_rungs

MANUAL = Path("docs", "BLENDER.md")


class BlenderHost:
    """The file that is open in this Blender."""

    @property
    def name(self) -> str:
        return f"Blender {bpy.app.version_string}"

    @property
    def can_paint(self) -> bool:
        return not bpy.app.background

    @property
    def manual(self) -> Path:
        beside = Path(__file__).resolve().parent / MANUAL
        return beside if beside.is_file() else package_folder() / MANUAL

    @property
    def export_steps(self) -> tuple[str, ...]:
        return (
            "Select an object that has only this material.",
            "Choose File > Export > Universal Scene Description, with Selection Only and MaterialX "
            "Network, and write a .usda file.",
            "Bake the file: `verdigris scene run FILE.usda`.",
        )

    def facts(self) -> Facts:
        return read_facts()

    def start_selftest(self, report: Path) -> None:
        start_selftest(report)

    def scene_file(self) -> Path | None:
        return Path(bpy.data.filepath) if bpy.data.filepath else None

    def scene_warnings(self) -> tuple[str, ...]:
        return material_warnings()

    def open_scene(self, path: Path) -> None:
        if not path.is_file():
            raise HostError(f"{path} does not exist")
        is_open = self.scene_file() == path.resolve() and not bpy.data.is_dirty
        if is_open:
            # Blender has loaded it from its command line
            return
        try:
            bpy.ops.wm.open_mainfile(filepath=str(path.resolve()), load_ui=False)
        except RuntimeError as failure:
            raise HostError(f"Blender cannot open {path}: {failure}") from None

    def save_scene(self) -> None:
        if self.scene_file() is None:
            raise HostError("the scene is not saved: save it first")
        try:
            bpy.ops.wm.save_mainfile(check_existing=False)
        except RuntimeError as failure:
            raise HostError(f"Blender cannot save {self.scene_file()}: {failure}") from None

    # materials

    def materials(self) -> tuple[HostMaterial, ...]:
        return all_materials()

    def selected_materials(self) -> tuple[HostMaterial, ...]:
        selected = bpy.context.view_layer.objects.selected
        slots = [slot.material for item in selected for slot in item.material_slots]
        keys = {material.name_full for material in slots if material is not None}
        return tuple(each for each in self.materials() if each.key in keys)

    def identity(self, material: HostMaterial) -> str:
        # the number stays when the material is renamed, and changes when the file is loaded; each
        # Blender counts from 1
        return f"blender {os.getpid()} {require_material(material.key).session_uid}"

    def document(self, material: HostMaterial) -> HostDocument:
        return read_document(material, self.scene_file())

    # meshes and weights

    def meshes(self, material: HostMaterial) -> tuple[str, ...]:
        found = objects_with(require_material(material.key))
        return tuple(each.name_full for each in found)

    def mesh(
        self, name: str, material: HostMaterial | None = None, weight_set: str = WEIGHT_SET
    ) -> HostMesh:
        chosen = require_material(material.key) if material is not None else None
        return read_mesh(require_object(name), chosen, weight_set)

    def weight_sets(self, mesh: str) -> tuple[str, ...]:
        return weight_sets(require_object(mesh))

    def start_painting(self, mesh: str, weight_set: str = WEIGHT_SET) -> None:
        item = require_object(mesh)
        if not self.can_paint:
            raise HostError(
                f"{mesh}: this Blender has no window for the brush: open the file in a window, or "
                "paint in the panel (verdigris panel)"
            )
        arm_brush(item, weight_set)

    # results

    def attach(self, material: HostMaterial, result: BakedResult) -> None:
        attach_result(require_material(material.key), result)

    def attach_rungs(self, material: HostMaterial, ladder: LadderLook) -> str:
        return attach_rungs(require_material(material.key), ladder)

    def attached(self, material: HostMaterial) -> Path | None:
        text = find_result(require_material(material.key))
        return Path(text) if text else None
