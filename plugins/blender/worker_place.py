# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The workers of an installed add-on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy

from verdigris.core.base.errors import HostError
from verdigris.core.base.process.unpacked_worker import PLACES_VARIABLE
from verdigris.core.base.process.worker_environment import NoWorkerError, older_version

ADDON = Path(__file__).resolve().parent
FOLDER = "worker"


def own_folder() -> Path | None:
    """The folder of workers, which Blender keeps when the add-on is updated. None if this is not an
    installed extension."""
    try:
        return Path(bpy.utils.extension_path_user(__package__, path=FOLDER))
    except ValueError:
        # a program that runs by its path is not part of an extension, but may lie in one
        extensions = ADDON.parents[1]
        made = extensions / ".user" / ADDON.parent.name / ADDON.name / FOLDER
        return made if made.is_dir() else None


def use_own_worker() -> None:
    """Lets workers be found there, unless the artist has named another folder."""
    folder = own_folder()
    if folder is not None:
        os.environ.setdefault(PLACES_VARIABLE, str(folder))


@contextmanager
def naming_the_button() -> Iterator[None]:
    """In an installed add-on, a missing worker is set up by a button."""
    try:
        yield
    except NoWorkerError:
        if own_folder() is None:
            raise
        older = older_version()
        why = f"the worker has version {older}" if older else "bakes need a worker"
        raise HostError(f"{why}: press Set Up the Worker first") from None
