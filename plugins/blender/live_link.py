# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The switch of the live link: games and pages show the material while it bakes."""

from __future__ import annotations

import bpy

from verdigris.ui.model.parts.game_link import GameLink

from .bake_job import BakeJob

# For all bakes of this session: games keep its address.
GAME = GameLink()


class VERDIGRIS_OT_link(bpy.types.Operator):
    """Show materials in a running game or page while they bake, and when they are finished"""

    bl_idname = "verdigris.link"
    bl_label = "Live Link"

    def execute(self, context: bpy.types.Context) -> set[str]:
        GAME.switch(not GAME.is_on)
        return {"FINISHED"}


class VERDIGRIS_OT_copy_link(bpy.types.Operator):
    """Copy the address for the game. It holds a password: who knows it sees the material"""

    bl_idname = "verdigris.copy_link"
    bl_label = "Copy Address"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return bool(GAME.address)

    def execute(self, context: bpy.types.Context) -> set[str]:
        context.window_manager.clipboard = GAME.address
        return {"FINISHED"}


def draw_link(layout: bpy.types.UILayout, job: BakeJob | None) -> list[str]:
    """Draws the switch. Returns what the panel says of the link."""
    if job is not None:
        # a worker that a game looks at outlives its bake
        job.tick()
    row = layout.row(align=True)
    row.operator("verdigris.link", icon="LINKED", depress=GAME.is_on)
    if not GAME.is_on:
        return []
    row.operator("verdigris.copy_link", text="", icon="COPYDOWN")
    return [GAME.text if GAME.address or GAME.problem else "The link opens with the next bake"]
