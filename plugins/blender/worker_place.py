# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The worker's Python environment of an installed add-on."""

from __future__ import annotations

import os
from pathlib import Path

import bpy

from verdigris.core.base.process.worker_environment import PYTHON_VARIABLE, python_in

ADDON = Path(__file__).resolve().parent
FOLDER = "worker"


def own_folder() -> Path | None:
    """The folder for the environment, which Blender keeps when the add-on is updated. None if this
    is not an installed extension."""
    try:
        return Path(bpy.utils.extension_path_user(__package__, path=FOLDER))
    except ValueError:
        # a program that runs by its path is not part of an extension, but may lie in one
        extensions = ADDON.parents[1]
        made = extensions / ".user" / ADDON.parent.name / ADDON.name / FOLDER
        return made if made.is_dir() else None


def use_own_worker() -> None:
    """Lets the worker start from that environment, unless the artist has named another."""
    folder = own_folder()
    if folder is not None and python_in(folder).is_file():
        os.environ.setdefault(PYTHON_VARIABLE, str(python_in(folder)))
