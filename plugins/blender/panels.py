# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The panels in the sidebar of the 3D viewport and with the properties of a material, and what an
artist can choose in them."""

from __future__ import annotations

import bpy

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.hosts.troubles import find_trouble

from .bake_job import RUNNING
from .changes import changes_of
from .live_link import draw_link
from .operators import BESIDE_SCENE, last_failure, running_job, shown_material, wrapped
from .scene.live_inputs import is_chosen
from .scene.materials import live_offers, nodes_for_images
from .scene.results import find_look, find_result
from .trouble import draw_help
from .worker_place import own_folder

PRESETS = (
    ("", "Automatic", "Standard on a GPU, draft on a CPU"),
    ("draft", "Draft", "For a first look"),
    ("standard", "Standard", "For use"),
    ("final", "Final", "To ship"),
)


class VerdigrisSettings(bpy.types.PropertyGroup):
    """Saved with the scene."""

    preset: bpy.props.EnumProperty(
        name="Preset",
        description="How long to train",
        items=[(a or "AUTO", b, c) for a, b, c in PRESETS],
    )
    folder: bpy.props.StringProperty(
        name="Folder",
        description="Where bundles are written. // is the folder of the .blend file",
        default=BESIDE_SCENE,
        subtype="DIR_PATH",
    )
    use_weights: bpy.props.BoolProperty(
        name="Painted weights",
        description="Train more where the weights of the meshes are larger",
        default=True,
    )
    viewport_textures: bpy.props.BoolProperty(
        name="Textures for the viewport",
        description="Also make a baked look with plain textures, because Blender cannot show a "
        "neural material",
        default=True,
    )

    @property
    def request(self) -> BakeRequest:
        """What the artist asks of a bake. No preset is the automatic one."""
        return BakeRequest(
            preset=None if self.preset == "AUTO" else self.preset,
            viewport_textures=self.viewport_textures,
        )


class _Panel:
    bl_label = "Verdigris"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        job = running_job()
        material = shown_material(context)
        settings = context.scene.verdigris
        layout.label(text=material.name if material else "No material", icon="MATERIAL")
        if job is not None and job.state == RUNNING:
            layout.progress(factor=job.share, text=job.text)
            row = layout.row(align=True)
            row.operator("verdigris.finish")
            row.operator("verdigris.cancel", icon="CANCEL")
            self._draw_link()
            return
        failure = last_failure()
        if failure:
            box = layout.box()
            for line in wrapped(failure):
                box.label(text=line)
            if find_trouble(failure):
                box.operator("verdigris.why", icon="QUESTION")
        column = layout.column()
        column.use_property_split = True
        for name in ("preset", "folder", "use_weights", "viewport_textures"):
            column.prop(settings, name)
        if material is not None:
            self._draw_live_inputs(material)
            left_out = nodes_for_images(material)
            if left_out:
                names = ", ".join(each.name for each in left_out)
                for line in wrapped(f"Left out: {names}"):
                    layout.label(text=line, icon="ERROR")
                layout.operator("verdigris.bake_nodes", icon="IMAGE_DATA")
        layout.operator("verdigris.bake", icon="RENDER_STILL")
        layout.operator("verdigris.paint", icon="BRUSH_DATA")
        if material is not None:
            self._draw_result(material)
            layout.operator("verdigris.attach_ladder", icon="MOD_DECIM")
        self._draw_link()
        layout.separator()
        layout.operator("verdigris.batch")
        layout.operator("verdigris.selftest")
        if own_folder() is not None:
            layout.operator("verdigris.make_worker")
        draw_help(layout)

    def _draw_link(self) -> None:
        for text in draw_link(self.layout, running_job()):
            for line in wrapped(text):
                self.layout.label(text=line)

    def _draw_live_inputs(self, material: bpy.types.Material) -> None:
        found = live_offers(material)
        if not found:
            return
        column = self.layout.column(align=True)
        column.label(text="Live inputs")
        for each in found:
            is_open = is_chosen(material, each)
            button = column.operator("verdigris.live_input", text=each.label, depress=is_open)
            button.name = each.name
            if is_open:
                row = column.row(align=True)
                for name, end in zip(each.properties, ("From", "To"), strict=True):
                    row.prop(material, f'["{name}"]', text=end)

    def _draw_result(self, material: bpy.types.Material) -> None:
        result = find_result(material)
        if result:
            row = self.layout.row(align=True)
            row.label(text=result, icon="CHECKMARK")
            row.operator("verdigris.compare", text="", icon="FILE_REFRESH")
        changed = changes_of(material)
        if changed:
            box = self.layout.box()
            box.alert = True
            for line in wrapped(f"Changed since the bake: {', '.join(changed)}"):
                box.label(text=line, icon="ERROR")
            box.operator("verdigris.bake", text="Bake Again").is_again = True
        if result or find_look(material) or material.get("verdigris_made_for"):
            self.layout.operator("verdigris.swap_look", icon="SHADING_TEXTURE")


class VERDIGRIS_PT_sidebar(_Panel, bpy.types.Panel):
    bl_idname = "VERDIGRIS_PT_sidebar"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Verdigris"


class VERDIGRIS_PT_material(_Panel, bpy.types.Panel):
    bl_idname = "VERDIGRIS_PT_material"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "material"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.material is not None
