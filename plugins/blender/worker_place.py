# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The worker's Python environment of an installed add-on."""

from __future__ import annotations

import os
from pathlib import Path

import bpy

from verdigris.core.base.worker_environment import PYTHON_VARIABLE, python_in

FOLDER = "worker"


def own_folder() -> Path | None:
    """The folder for the environment. Blender keeps it when the add-on is updated. None if this is
    no installed extension."""
    try:
        made = bpy.utils.extension_path_user(__package__, path=FOLDER)
    except ValueError:
        return None
    return Path(made)


def use_own_worker() -> None:
    """Lets the worker start from that environment, unless the artist has named another one."""
    folder = own_folder()
    if folder is not None and python_in(folder).is_file():
        os.environ.setdefault(PYTHON_VARIABLE, str(python_in(folder)))
