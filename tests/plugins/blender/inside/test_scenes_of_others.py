"""Scenes that others made (glTF-Blender-IO): each material is read, and what it loses is named.

The folder is not part of this repository: the test is skipped without it."""

import os
import shutil
from pathlib import Path

import bpy
import pytest

from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.plugins.blender.adapter import BlenderHost

from .conftest import new_image

SCENES = Path(
    os.environ.get("VERDIGRIS_SCENES", Path(__file__).parents[5] / "shared" / "scenes")
).joinpath("blender")
# Materials, and what their notes begin with, as the scenes' nodes give it.
EXPECTED = {
    "01_principled_material": {"TestMaterial": []},
    "04_common_materials": {
        name: ["the output for Cycles is left out"] for name in ("Crate", "Plane", "Sphere")
    },
    "08_combine_orm": {"Material": []},
    "09_tex_transform_from_point": {"Material": []},
    "24_material_partial_VC": {"Material": [], "Material.001": ["'Color Attribute'"]},
    "39_iridescence": {
        "Material": [],
        "Material.001": [],
        "Material.002": ["Untitled.001: not in a file of its own"],
        "Material.003": ["Untitled.001: not in a file of its own"],
    },
}


@pytest.mark.skipif(not SCENES.is_dir(), reason="../shared/scenes is not here")
@pytest.mark.parametrize("scene", EXPECTED)
def test_each_material_is_read_whole(scene, tmp_path):
    # what is written beside a scene must not change that of others
    copied = Path(shutil.copyfile(SCENES / f"{scene}.blend", tmp_path / f"{scene}.blend"))
    host = BlenderHost()
    host.open_scene(copied)
    for image in list(bpy.data.images):
        file = Path(bpy.path.abspath(image.filepath))
        if image.source == "FILE" and image.filepath and not file.exists():
            bpy.data.images.remove(new_image(f"stand-in {image.name}", tmp_path / file.name))
    found = {}
    for material in host.materials():
        document = host.document(material)
        loaded = parse_document(document.text, document.search, document.name)
        loaded.check(loaded.require_material(document.material))
        found[material.name] = document.notes
    if scene.startswith("04") and bpy.app.version < (5, 0, 0):
        # it has nodes, which Blender 4 does not use
        assert not found and all("press Use Nodes" in line for line in host.scene_warnings())
        return
    assert {name: len(notes) for name, notes in found.items()} == {
        name: len(starts) for name, starts in EXPECTED[scene].items()
    }
    for name, starts in EXPECTED[scene].items():
        assert all(a.startswith(b) for a, b in zip(found[name], starts, strict=True))
    assert host.scene_warnings() == ()
