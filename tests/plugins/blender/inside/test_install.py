"""The zip of packaging/blender_addon.py, checked and installed by Blender itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

import bpy
import pytest
from blender_addon import build

BLENDER = "blender-{}.{}".format(*bpy.app.version)
INSTALLED = Path(__file__).with_name("installed.py")
CHECKER = Path(bpy.utils.system_resource("SCRIPTS"), "addons_core/bl_pkg/cli/blender_ext.py")


def run(folder, *command):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"BLENDER_USER_RESOURCES": str(folder / "blender")}
    return subprocess.run(
        [sys.executable, "-P", *map(str, command)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    # the environment of these tests has the other packages
    return build(tmp_path_factory.mktemp("addon"), wheels=False, blender=BLENDER)


def test_blender_accepts_the_manifest(archive, tmp_path):
    done = run(tmp_path, CHECKER, "validate", archive)
    assert done.returncode == 0, done.stdout


def test_the_add_on_works_after_it_is_installed(archive, harness, tmp_path):
    scene = tmp_path / "scene.blend"
    done = run(tmp_path, INSTALLED, archive, scene)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    extensions = tmp_path / "blender" / "extensions"
    assert Path(found["addon"]) == extensions / "user_default" / "verdigris"
    # Verdigris is that of the wheel, not of this checkout
    assert all(str(path).startswith(str(extensions)) for path in found["core"])
    assert found["materials"] == ["copper", "spare"] and found["document"] > 1000
    assert found["manual"] and found["settings"] == "//neural/"
    assert {"bake", "cancel", "make_worker", "paint", "selftest"} <= set(found["operators"])
    # programs of the installed add-on find Verdigris by their own place, and its worker
    worker = Path(found["worker"])
    assert Path(found["program"]) == Path(found["addon"]) / "make_worker.py"
    assert list(Path(found["addon"], "wheels").glob("verdigris-*.whl"))
    assert worker == extensions / ".user" / "user_default" / "verdigris" / "worker"
    done = run(tmp_path, Path(found["addon"]) / "batch.py", scene, "--list")
    assert [each["name"] for each in json.loads(done.stdout)["materials"]] == ["copper", "spare"]
