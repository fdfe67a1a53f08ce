# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Blender's own brush: Weight Paint on a vertex group."""

from __future__ import annotations

import bpy

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import NORMAL_WEIGHT

from .meshes import PAINT_SCALE
from .undo import push_undo, require_local

FIRST_STROKE = 4.0
"""The weight that the brush starts with."""


def arm_brush(item: bpy.types.Object, name: str) -> None:
    """Gives an object a vertex group of ones if it has none, and starts Weight Paint on it."""
    require_local(item)
    require_local(item.data)
    if not item.visible_get():
        raise HostError(f"{item.name} is hidden: show it to paint on it")
    group = item.vertex_groups.get(name)
    if group is None and name in item.data.attributes:
        raise HostError(
            f"{item.name}: {name!r} is an attribute, for which Blender has no brush of numbers: "
            "rename it (Object Data > Attributes), or choose another name"
        )
    active = bpy.context.view_layer.objects.active
    if active is not None and active != item and active.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in tuple(bpy.context.view_layer.objects.selected):
        other.select_set(False)
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    if group is None:
        if item.mode != "OBJECT":
            # groups cannot be filled in other modes
            bpy.ops.object.mode_set(mode="OBJECT")
        group = item.vertex_groups.new(name=name)
        everything = range(len(item.data.vertices))
        group.add(everything, NORMAL_WEIGHT / PAINT_SCALE, "REPLACE")
    item.vertex_groups.active_index = group.index
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    paint = bpy.context.tool_settings.weight_paint
    settings = paint.unified_paint_settings
    settings.use_unified_weight = True
    settings.weight = FIRST_STROKE / PAINT_SCALE
    push_undo("Verdigris weights")
