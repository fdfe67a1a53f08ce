# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What this Blender has: its build, its export to USD, and its colours."""

from __future__ import annotations

import bpy

from verdigris.core.hosts.probe import ON, Facts, fact, presence

_FLAGS = ("generate_materialx_network", "export_textures_mode", "selected_objects_only")


def read_facts() -> Facts:
    """The facts of this Blender."""
    has_usd = bool(bpy.app.build_options.usd)
    options = bpy.ops.wm.usd_export.get_rna_type().properties.keys() if has_usd else ()
    scene, has_window = bpy.context.scene, not bpy.app.background
    needed = {
        "this Blender is built without USD": has_usd,
        "the USD export of this Blender writes no MaterialX": _FLAGS[0] in options,
    }
    why = next((reason for reason, is_met in needed.items() if not is_met), ON)
    return Facts(
        application={
            "build": fact(lambda: bpy.app.build_hash.decode()),
            "module": str(bpy.app.module),
            "window": "yes" if has_window else "no",
        },
        plugins={
            "USD": fact(lambda: bpy.app.usd.version_string),
            "OpenColorIO": fact(lambda: bpy.app.ocio.version_string),
        },
        flags={f"wm.usd_export {name}": presence(name in options) for name in _FLAGS},
        colours={
            "display": fact(lambda: scene.display_settings.display_device),
            "view transform": fact(lambda: scene.view_settings.view_transform),
            "working space": fact(lambda: bpy.data.colorspace.working_space)
            if hasattr(bpy.data, "colorspace")
            else "not a setting before Blender 5",
        },
        features={
            # the sidebar is drawn by Blender itself
            "Panel": ON if has_window else "this Blender has no window",
            "Materials of Blender": why,
            "Blender's brush": ON if has_window else "this Blender has no window",
        },
    )
