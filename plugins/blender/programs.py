# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Starts batches and self-tests in another Blender."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import bpy

from verdigris.core.base.errors import HostError, reason
from verdigris.core.base.process.worker_environment import NO_WINDOW

FOLDER = Path(__file__).resolve().parent


def command_of(program: str, arguments: list[str]) -> list[str]:
    """The command that runs a program of this folder in another Blender."""
    file = str(FOLDER / program)
    if bpy.app.module:
        return [sys.executable, file, *arguments]
    return [bpy.app.binary_path, "--background", "--python", file, "--", *arguments]


def start_selftest(report: Path) -> None:
    """Starts the self-test. Its output is in a file beside the report."""
    _start(command_of("selftest.py", [str(report)]), report.with_suffix(".log"))


def start_batch(scene: Path | None) -> Path:
    """Starts a batch bake of a saved scene. Returns the file of its summary."""
    if scene is None:
        raise HostError("the scene is not saved: save it first, as the batch reads the file")
    out = scene.parent / "verdigris"
    summary = out / f"{scene.stem}.json"
    try:
        out.mkdir(exist_ok=True)
    except OSError as failure:
        raise HostError(
            f"{out} cannot be made ({reason(failure)}): save the scene elsewhere"
        ) from None
    words = [str(scene), "--out", str(out), "--summary", str(summary)]
    _start(command_of("batch.py", words), summary.with_suffix(".log"))
    return summary


def _start(command: list[str], log: Path) -> None:
    try:
        with log.open("wb") as output:
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                creationflags=NO_WINDOW,
            )
    except OSError as failure:
        raise HostError(f"{command[0]} cannot be started: {reason(failure)}") from None
