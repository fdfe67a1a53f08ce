# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which materials have changed since their bakes, by the rule of a batch.

To compare a material, it is exported. This happens when a panel first shows it, after each bake,
and after the file is saved: one material at a time, between the artist's actions.
"""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from verdigris.core.base.errors import HostError
from verdigris.core.batch.plan.inputs import DigestCache
from verdigris.core.bundle.history import Version, read_version
from verdigris.core.hosts.changes import find_changes

from .adapter import BlenderHost
from .scene.results import find_result

_BETWEEN = 0.3


class _Known:
    """By the numbers of materials, which stay when these are renamed."""

    def __init__(self) -> None:
        self.found: dict[int, tuple[str, ...]] = {}
        self.waiting: list[int] = []
        self.digests = DigestCache()


_KNOWN = _Known()


def changes_of(material: bpy.types.Material) -> tuple[str, ...]:
    """The differences of a material from its bake, as far as they are known. Asks for a comparison
    of a material that was never compared."""
    number = material.session_uid
    if number not in _KNOWN.found and find_result(material):
        _KNOWN.found[number] = ()
        _wait_for([number])
    return _KNOWN.found.get(number, ())


def compare(material: bpy.types.Material) -> tuple[str, ...]:
    """Compares a material with its bake now."""
    _KNOWN.digests.look_again()
    _KNOWN.found[material.session_uid] = found = _differences(material)
    return found


def baked_version(material: bpy.types.Material) -> Version | None:
    """The bundle of a material, or None if there is none."""
    result = find_result(material)
    return read_version(Path(result), {}, is_present=True) if result else None


def _differences(material: bpy.types.Material) -> tuple[str, ...]:
    host, version = BlenderHost(), baked_version(material)
    listed = next((each for each in host.materials() if each.key == material.name_full), None)
    if listed is None or version is None or not version.sources:
        return ()
    try:
        document = host.document(listed)
    except HostError:
        # a bake reports why
        return ()
    return find_changes(document, version.sources, _KNOWN.digests) or ()


def _wait_for(numbers: list[int]) -> None:
    if bpy.app.background:
        return
    _KNOWN.waiting += [each for each in numbers if each not in _KNOWN.waiting]
    if _KNOWN.waiting and not bpy.app.timers.is_registered(_follow):
        bpy.app.timers.register(_follow, first_interval=_BETWEEN)


def _follow() -> float | None:
    """Compares the next material that waits. The answer is the time until the next call."""
    if not _KNOWN.waiting:
        return None
    number = _KNOWN.waiting.pop(0)
    material = next((each for each in bpy.data.materials if each.session_uid == number), None)
    if material is not None and compare(material):
        redraw()
    return _BETWEEN if _KNOWN.waiting else None


def redraw() -> None:
    """Draws the panels anew."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("VIEW_3D", "PROPERTIES"):
                area.tag_redraw()


@persistent
def _after_save(*_: object) -> None:
    # a file may have thousands of materials
    _wait_for([each.session_uid for each in bpy.data.materials if find_result(each)])


@persistent
def _after_load(*_: object) -> None:
    _KNOWN.found, _KNOWN.waiting = {}, []


def register_changes() -> None:
    bpy.app.handlers.save_post.append(_after_save)
    bpy.app.handlers.load_post.append(_after_load)


def unregister_changes() -> None:
    bpy.app.handlers.save_post.remove(_after_save)
    bpy.app.handlers.load_post.remove(_after_load)
    _after_load()
    if bpy.app.timers.is_registered(_follow):
        bpy.app.timers.unregister(_follow)
