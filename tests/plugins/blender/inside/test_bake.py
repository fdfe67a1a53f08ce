"""A real bake of a scene that Blender wrote: batch.py in another Blender, and a real worker."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

from verdigris.plugins.blender.adapter import BlenderHost
from verdigris.plugins.blender.changes import baked_version, changes_of, compare
from verdigris.plugins.blender.scene.live_inputs import toggle
from verdigris.plugins.blender.scene.materials import live_offers
from verdigris.plugins.blender.scene.results import find_look
from verdigris.plugins.common.batch_bake import main

from .conftest import feed, new_image, new_material, shader_of

PLUGIN = Path(__file__).resolve().parents[4] / "plugins" / "blender"
# Training ends early: whether it converges is tested elsewhere.
SECONDS = "1"


def run_batch(*words):
    command = [sys.executable, str(PLUGIN / "batch.py"), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stderr)
    return done


def batch(*words):
    """The same in this Blender: its exit code."""
    return main("batch", BlenderHost, [*map(str, words)])


@pytest.fixture(scope="module")
def baked(tmp_path_factory):
    """A saved scene with a texture, a live input and painted weights, baked and noted by
    batch.py."""
    folder = tmp_path_factory.mktemp("scene")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=20, y_subdivisions=20)
    grid = bpy.context.object
    rust = new_material("rusty metal", Metallic=0.5)
    image = new_image("rust", folder / "textures" / "rust.png")
    feed(rust, "Base Color", "ShaderNodeTexImage").image = image
    gloss = feed(rust, "Roughness", "ShaderNodeValue")
    gloss.label, gloss.outputs[0].default_value = "Gloss", 0.25
    toggle(rust, live_offers(rust)[0])
    grid.data.materials.append(rust)
    painted = grid.data.attributes.new("verdigris_weights", "FLOAT", "POINT")
    weights = np.ones(len(grid.data.vertices), np.float32)
    weights[:100] = 4
    painted.data.foreach_set("value", weights)
    scene = folder / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    done = run_batch(
        scene,
        *("-o", folder / "out", "--preset", "draft", "--time-limit", SECONDS),
        *("--attach", "--viewport-textures", "--", "--resolution", "32"),
        *("--set", "network=2x16", "--set", "batch=256"),
    )
    return scene, done


def test_the_summary_is_all_of_standard_output(baked):
    _, done = baked
    assert done.returncode == 0
    summary = json.loads(done.stdout)
    (outcome,) = summary["materials"]
    assert summary["host"] == f"Blender {bpy.app.version_string}"
    assert outcome["status"] == "baked" and outcome["name"] == "rusty metal"
    assert "painted weights of Grid (1 to 4) are used" in outcome["notes"]


def test_the_bundle_verifies(baked):
    scene, _ = baked
    bundle = scene.parent / "out" / "rusty_metal.vdg"
    manifest = json.loads((bundle / "manifest.json").read_text())
    assert manifest["latents"]["width"] == 32
    (live,) = manifest["live"]
    assert (live["name"], live["low"], live["high"]) == ("Gloss", 0, 1)
    assert live["default"] == pytest.approx(0.25)
    command = [os.environ["VERDIGRIS_PYTHON"], "-P", "-m", "verdigris.core", "verify", str(bundle)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_result_and_its_baked_look_are_in_the_file(baked):
    scene, _ = baked
    host = BlenderHost()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    host.open_scene(scene)
    (material,) = host.materials()
    assert host.attached(material) == scene.parent / "out" / "rusty_metal.vdg"
    made = find_look(bpy.data.materials[material.key])
    images = [node.image for node in made.node_tree.nodes if node.type == "TEX_IMAGE"]
    assert len(images) >= 4
    assert all(image.has_data or image.size[0] for image in images)


def test_a_change_since_the_bake_is_seen_and_batch_bakes_by_the_same_rule(baked):
    scene, _ = baked
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    BlenderHost().open_scene(scene)
    (rust,) = (each for each in bpy.data.materials if each.name == "rusty metal")
    assert baked_version(rust).preset == "draft"
    assert compare(rust) == ()
    shader_of(rust).inputs["Metallic"].default_value = 0.75
    assert compare(rust) == changes_of(rust) == ("the material has changed",)
    shader_of(rust).inputs["Metallic"].default_value = 0.5
    file = scene.parent / "textures" / "rust.png"
    kept = file.read_bytes()
    try:
        image = bpy.data.images.load(str(file), check_existing=True)
        image.pixels[0] = 0.125
        image.save()
        assert [each.partition(" ")[0] for each in compare(rust)] == ["rust.png"]
    finally:
        file.write_bytes(kept)
    assert compare(rust) == ()


def test_materials_are_listed_and_a_missing_scene_is_an_error(baked, tmp_path, capsys):
    scene, _ = baked
    assert batch(scene, "--list", "--summary", tmp_path / "list.json") == 0
    (outcome,) = json.loads((tmp_path / "list.json").read_text())["materials"]
    assert (outcome["name"], outcome["status"]) == ("rusty metal", "listed")
    assert batch(tmp_path / "gone.blend") == 1
    errors = capsys.readouterr().err
    assert "gone.blend does not exist" in errors and "Traceback" not in errors


def test_documents_are_handed_over_with_their_weights(baked, tmp_path):
    scene, _ = baked
    summary = tmp_path / "summary.json"
    assert batch(scene, "--hand-over", "-o", tmp_path, "--summary", summary) == 0
    (outcome,) = json.loads(summary.read_text())["materials"]
    assert Path(outcome["document"]).is_file() and Path(outcome["importance"]).is_file()
    assert str(scene.parent / "textures") in outcome["search"]
    assert outcome["live"] == ["Gloss=0..1"]


@pytest.mark.parametrize(
    ("words", "is_module", "open_file", "expected"),
    [
        (["s.blend", "-o", "out", "--", "-x"], True, "", ["s.blend", "-o", "out", "--", "-x"]),
        (["-b", "s.blend", "-P", "batch.py", "--", "-o", "out"], False, "/s.blend",
         ["/s.blend", "-o", "out"]),
        (["-b", "-P", "batch.py", "--", "s.blend", "--", "-x"], False, "",
         ["s.blend", "--", "-x"]),
        (["-b", "s.blend", "-P", "batch.py"], False, "/s.blend", ["/s.blend"]),
    ],
)  # fmt: skip
def test_the_arguments_are_those_behind_blenders_own(words, is_module, open_file, expected):
    own_arguments = runpy.run_path(str(PLUGIN / "batch.py"))["own_arguments"]
    assert own_arguments(words, is_module, open_file) == expected


def test_the_selftest_passes(tmp_path):
    command = [sys.executable, str(PLUGIN / "selftest.py"), str(tmp_path / "report.json")]
    done = subprocess.run([*command, "--no-bake"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["passed"] and report["host"] == f"Blender {bpy.app.version_string}"
    steps = {step["name"]: step for step in report["steps"]}
    for name in ("gold", "mixed", "cloth"):
        assert steps[f"document has the material ({name}, Blender nodes)"]["outcome"] == "passed"
    mixed = steps["document has the material (mixed, Blender nodes)"]["detail"]
    assert "3 values, images and nodes are there" in mixed and "Voronoi Texture" in mixed
    refused = {step["expected"] for step in report["steps"] if step["outcome"] == "refused"}
    assert refused == {"an instance without a window has no brush", "the material is linked"}
