# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Starts batches and self-tests in another Blender."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy

from verdigris.core.hosts.host import log_beside
from verdigris.plugins.common.programs import batch_of, start_program

FOLDER = Path(__file__).resolve().parent


def command_of(program: str, arguments: list[str]) -> list[str]:
    """The command that runs a program of this folder in another Blender."""
    file = str(FOLDER / program)
    if bpy.app.module:
        return [sys.executable, file, *arguments]
    return [bpy.app.binary_path, "--background", "--python", file, "--", *arguments]


def start_selftest(report: Path) -> None:
    """Starts the self-test. Its output is in a file beside the report."""
    start_program(command_of("selftest.py", [str(report)]), log_beside(report))


def start_batch(scene: Path | None) -> Path:
    """Starts a batch bake of a saved scene. Returns the file of its summary."""
    summary, arguments = batch_of(scene)
    start_program(command_of("batch.py", arguments), log_beside(summary))
    return summary
