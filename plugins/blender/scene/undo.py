# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Undo steps, and data that cannot be changed."""

from __future__ import annotations

import bpy

from verdigris.core.base.errors import HostError


def push_undo(name: str) -> None:
    """Ends an undo step, as Blender's own operators do."""
    bpy.ops.ed.undo_push(message=name)


def require_local(item: bpy.types.ID) -> None:
    """Refuses data of another file, whose changes Blender does not save."""
    if item.library is not None:
        raise HostError(
            f"{item.name} is linked from {item.library.filepath}: open that file, or make it local"
        )
