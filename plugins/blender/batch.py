# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bakes the materials of a .blend file without a window.

blender -b SCENE.blend -P batch.py -- [-o FOLDER] [--preset NAME] [--attach]
python batch.py SCENE.blend [-o FOLDER] [--preset NAME] [--attach]      (with the module bpy)
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verdigris.core.hosts.host import Host

PROGRAM = "batch.py"


def start() -> Host:
    """The host of the running Blender."""
    from importlib import import_module

    import_module("verdigris_blender.worker_place").use_own_worker()
    return import_module("verdigris_blender.adapter").BlenderHost()


def own_arguments(words: Sequence[str], is_module: bool, open_file: str) -> list[str]:
    """The arguments of this program. Those of Blender end with the first `--`; the file that it
    has opened is the scene."""
    if is_module:
        return list(words)
    after = list(words[words.index("--") + 1 :]) if "--" in words else []
    return [open_file, *after] if open_file else after


if __name__ == "__main__":
    launcher = runpy.run_path(str(Path(__file__).with_name("launcher.py")))
    launcher["load_addon"]()
    import bpy

    from verdigris.plugins.common.batch_bake import main

    found = own_arguments(sys.argv[1:], bpy.app.module, bpy.data.filepath)
    sys.exit(launcher["run_apart"](lambda words: main(PROGRAM, start, words), found))
