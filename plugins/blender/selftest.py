# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calls every function of the add-on in a new scene and writes a report.

blender -b -P selftest.py -- REPORT.json
python selftest.py REPORT.json      (with the module bpy)
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path


def make_scene() -> None:
    """Makes an unsaved scene: a plane with a Principled BSDF."""
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.mesh.primitive_plane_add()
    material = bpy.data.materials.new("scratch")
    if material.node_tree is None:
        # before Blender 6, new materials may have no nodes
        material.use_nodes = True
    bpy.context.object.data.materials.append(material)


if __name__ == "__main__":
    load = runpy.run_path(str(Path(__file__).with_name("launcher.py")))["load_addon"]
    load()
    import bpy

    from verdigris.plugins.common.host_test import finish, run_selftest

    given = runpy.run_path(str(Path(__file__).with_name("batch.py")))
    words = given["own_arguments"](sys.argv[1:], bpy.app.module, "")
    if len(words) != 1:
        sys.exit(__doc__)
    code = finish(run_selftest(given["start"], make_scene), Path(words[0]))
    sys.stdout.flush()
    sys.exit(code)
