# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sets the worker up from the packages in the add-on, with progress in the status bar."""

from __future__ import annotations

from pathlib import Path

import bpy

from verdigris.core.base.errors import HostError
from verdigris.core.base.process.worker_environment import WORKER_PROGRAM
from verdigris.core.worker.client.set_up import FAILED, FINISHED, SetUp

from .programs import FOLDER
from .worker_place import own_folder, use_own_worker

_INTERVAL = 0.25


class VERDIGRIS_OT_make_worker(bpy.types.Operator):
    """Unpack the packages for bakes into a folder of this add-on (about 0.6 GB). It needs no
    network"""

    bl_idname = "verdigris.make_worker"
    bl_label = "Set Up the Worker"

    _set_up: SetUp | None = None

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            program = require_program()
        except HostError as failure:
            self.report({"ERROR"}, str(failure))
            return {"CANCELLED"}
        use_own_worker()
        self._set_up = SetUp(program)
        manager = context.window_manager
        self._timer = manager.event_timer_add(_INTERVAL, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        for each in self._set_up.poll():
            if each.kind == FAILED:
                self._clean(context)
                self.report({"ERROR"}, each.text)
                return {"CANCELLED"}
            if each.kind == FINISHED:
                self._clean(context)
                self.report({"INFO"}, "The worker is ready")
                return {"FINISHED"}
            done = "" if each.part is None else f" {each.part:.0%}"
            context.workspace.status_text_set(f"Verdigris:{done} {each.text}")
        return {"PASS_THROUGH"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Ends the set-up when Blender closes. The next one continues."""
        self._set_up.cancel()
        self._clean(context)

    def _clean(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        if context.workspace is not None:
            context.workspace.status_text_set(None)


def require_program() -> Path:
    """The program of the installed add-on that sets the worker up."""
    program = FOLDER / WORKER_PROGRAM
    if own_folder() is None or not program.is_file():
        raise HostError(
            "this add-on runs from a checkout: make the worker's environment with "
            "`python3 packaging/bootstrap.py setup`"
        )
    return program
