# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes the worker's Python environment, with progress in the status bar."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import bpy

from verdigris.core.base.errors import HostError, reason
from verdigris.core.base.files import make_folders, new_log, remove_folder, rename_file
from verdigris.core.base.process.worker_environment import NO_WINDOW, environment_for, python_in

from .programs import FOLDER
from .worker_place import own_folder

_INTERVAL = 0.5


def commands_for(target: Path, wheel: Path) -> list[tuple[str, list[str]]]:
    """The commands that make an environment, with what each does."""
    python = str(python_in(target))
    return [
        ("making the environment", [sys.executable, "-m", "venv", str(target)]),
        (
            "downloading the packages of the worker",
            [python, "-m", "pip", "install", "--disable-pip-version-check", f"{wheel}[usd]"],
        ),
        ("testing it", [python, "-c", "import slangpy, MaterialX, verdigris.core.api"]),
    ]


class Setup:
    """Runs the commands one after the other. `tick` returns at once."""

    def __init__(self, target: Path, wheel: Path) -> None:
        self.target, self.made = target, target.with_name(f"{target.name}.new")
        remove_folder(self.made)
        self.log = target.with_name(f"{target.name}.log")
        new_log(self.log).close()
        self._left = commands_for(self.made, wheel)
        self._process: subprocess.Popen[bytes] | None = None
        self.doing = ""
        self._start()

    def tick(self) -> bool:
        """Whether the environment is ready."""
        assert self._process is not None
        code = self._process.poll()
        if code is None:
            return False
        if code:
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            last = lines[-1] if lines else f"exit code {code}"
            raise HostError(f"{self.doing} failed: {last}: see {self.log}")
        if self._left:
            self._start()
            return False
        remove_folder(self.target)
        rename_file(self.made, self.target)
        return True

    def stop(self) -> None:
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._process.kill()
        remove_folder(self.made)

    def _start(self) -> None:
        self.doing, command = self._left.pop(0)
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment_for(command),
                creationflags=NO_WINDOW,
            )


class VERDIGRIS_OT_make_worker(bpy.types.Operator):
    """Download the Python packages for bakes into a folder of this add-on (about 0.4 GB)"""

    bl_idname = "verdigris.make_worker"
    bl_label = "Set Up the Worker"

    _setup: Setup | None = None

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            self._setup = Setup(*_places())
        except (HostError, OSError) as failure:
            self.report(
                {"ERROR"}, str(failure) if isinstance(failure, HostError) else reason(failure)
            )
            return {"CANCELLED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(_INTERVAL, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        try:
            is_ready = self._setup.tick()
        except (HostError, OSError) as failure:
            self.report({"ERROR"}, str(failure))
            self.cancel(context)
            return {"CANCELLED"}
        context.workspace.status_text_set(f"Verdigris: {self._setup.doing}")
        if not is_ready:
            return {"PASS_THROUGH"}
        self._clean(context)
        self.report({"INFO"}, "The worker is ready")
        return {"FINISHED"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Removes what is half-made when Blender closes, or after a command has failed."""
        self._setup.stop()
        self._clean(context)

    def _clean(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        if context.workspace is not None:
            context.workspace.status_text_set(None)


def _places() -> tuple[Path, Path]:
    """The folder of the environment, and the wheel to install into it."""
    target = own_folder()
    wheel = next(iter(sorted((FOLDER / "wheels").glob("verdigris-*.whl"))), None)
    if target is None or wheel is None:
        raise HostError(
            "this add-on runs from a checkout: make the worker's environment with "
            "`python3 packaging/bootstrap.py setup`"
        )
    if not bpy.app.online_access:
        raise HostError(
            "Blender is set to stay offline: allow online access (Preferences > System), or set "
            "VERDIGRIS_PYTHON to an environment with Verdigris"
        )
    make_folders(target.parent)
    return target, wheel
