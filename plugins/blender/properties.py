# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the artist chooses, and the state of the bake that is running."""

from __future__ import annotations

import bpy

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
        default="//verdigris/",
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
    def chosen_preset(self) -> str:
        """The preset for the worker, which has no name for the automatic one."""
        return "" if self.preset == "AUTO" else self.preset
