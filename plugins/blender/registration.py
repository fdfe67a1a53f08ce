# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Registers the classes of the add-on."""

from __future__ import annotations

import bpy

from . import live_link, operators, panels, trouble, worker_setup
from .changes import register_changes, unregister_changes
from .scene.results import VerdigrisUSDHook, register_saving, unregister_saving

CLASSES = (
    panels.VerdigrisSettings,
    operators.VERDIGRIS_OT_bake,
    operators.VERDIGRIS_OT_cancel,
    operators.VERDIGRIS_OT_compare,
    operators.VERDIGRIS_OT_finish,
    operators.VERDIGRIS_OT_paint,
    operators.VERDIGRIS_OT_live_input,
    operators.VERDIGRIS_OT_bake_nodes,
    operators.VERDIGRIS_OT_swap,
    operators.VERDIGRIS_OT_attach_ladder,
    operators.VERDIGRIS_OT_batch,
    operators.VERDIGRIS_OT_selftest,
    live_link.VERDIGRIS_OT_link,
    live_link.VERDIGRIS_OT_copy_link,
    worker_setup.VERDIGRIS_OT_make_worker,
    trouble.VERDIGRIS_OT_check_window,
    trouble.VERDIGRIS_OT_report,
    trouble.VERDIGRIS_OT_why,
    panels.VERDIGRIS_PT_sidebar,
    panels.VERDIGRIS_PT_material,
    VerdigrisUSDHook,
)


def register() -> None:
    for each in CLASSES:
        bpy.utils.register_class(each)
    register_saving()
    register_changes()
    bpy.types.Scene.verdigris = bpy.props.PointerProperty(type=panels.VerdigrisSettings)


def unregister() -> None:
    job = operators.running_job()
    if job is not None:
        job.cancel()
        job.release()
    unregister_changes()
    unregister_saving()
    del bpy.types.Scene.verdigris
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
