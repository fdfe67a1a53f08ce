"""Installs the add-on as Blender's preferences do, and prints what works then as JSON."""

import json
import sys
from pathlib import Path

import bpy

archive, scene = sys.argv[1:]
bpy.ops.extensions.package_install_files(
    filepath=archive, repo="user_default", enable_on_install=True
)
module = sys.modules["bl_ext.user_default.verdigris"]
place = sys.modules["bl_ext.user_default.verdigris.worker_place"]
set_up = sys.modules["bl_ext.user_default.verdigris.worker_setup"]
adapter = sys.modules["bl_ext.user_default.verdigris.adapter"]
bpy.ops.wm.open_mainfile(filepath=scene)
host = adapter.BlenderHost()
import verdigris.core  # noqa: E402

print(
    json.dumps(
        {
            "addon": str(Path(module.__file__).parent),
            "core": [str(path) for path in verdigris.core.__path__],
            "materials": [each.name for each in host.materials()],
            "document": len(host.document(host.materials()[0]).text),
            "manual": host.manual.is_file(),
            "worker": str(place.own_folder()),
            "program": str(set_up.require_program()),
            "operators": sorted(dir(bpy.ops.verdigris)),
            "settings": bpy.context.scene.verdigris.folder,
        }
    )
)
