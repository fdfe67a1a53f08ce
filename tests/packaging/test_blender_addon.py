"""The zip for Blender: its files, its wheel and its headers. Blender itself installs it in
tests/plugins/blender."""

import csv
import hashlib
import io
import subprocess
import sys
import tomllib
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest
import worker_wheels
from blender_addon import PLUGIN, ROOT, build
from verdigris_wheel import write_wheel

from verdigris.core.worker.install.packages import read_packages

from .tiny_packages import write_tiny_wheel

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    with zipfile.ZipFile(build(tmp_path_factory.mktemp("out"), wheels=False)) as file:
        yield file


def test_the_plug_in_is_at_the_top_and_verdigris_is_a_wheel(archive):
    names = archive.namelist()
    assert {"__init__.py", "blender_manifest.toml", "batch.py", "scene/meshes.py"} <= set(names)
    assert {"docs/BLENDER.md", "docs/ARTISTS.md", "docs/PLUGINS.md"} <= set(names)
    manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    assert manifest["version"] == PROJECT["version"]
    assert [name.removeprefix("./") for name in manifest["wheels"]] == [
        name for name in names if name.startswith("wheels/")
    ]
    # Blender's limits for texts
    reasons = manifest["permissions"].values()
    for text in (manifest["tagline"], *reasons):
        assert len(text) <= 64 and not text.endswith(".")


def test_the_worker_s_packages_lie_beside_those_that_blender_loads(tmp_path, monkeypatch):
    made = [write_tiny_wheel(tmp_path, name, {}) for name in ("numpy", "platformdirs")]
    monkeypatch.setattr(worker_wheels, "download", lambda *_: made)
    file = build(tmp_path / "out", blender="blender-5.1", system="macos")
    assert file.name == f"verdigris-{PROJECT['version']}-blender-5.1-macos.zip"
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path / "installed")
    manifest = tomllib.loads((tmp_path / "installed" / "blender_manifest.toml").read_text())
    # Blender's numpy is another
    assert {each.split("/")[2].split("-")[0] for each in manifest["wheels"]} == {
        *("verdigris", "platformdirs")
    }
    assert manifest["platforms"] == ["macos-arm64"]
    assert (manifest["blender_version_min"], manifest["blender_version_max"]) == ("5.1.0", "6.0.0")
    packages = read_packages(tmp_path / "installed" / "wheels")
    assert (packages.tag, packages.system, packages.machine) == ("cp313", "macos", "arm64")
    assert len(packages.wheels) == 3 and (tmp_path / "installed" / "make_worker.py").is_file()


def test_the_wheel_has_no_plug_in_of_an_application(archive):
    (name,) = (name for name in archive.namelist() if name.endswith(".whl"))
    with zipfile.ZipFile(io.BytesIO(archive.read(name))) as wheel:
        packages = {"/".join(each.split("/")[:3]) for each in wheel.namelist()}
        record = list(csv.reader(wheel.read(wheel.namelist()[-1]).decode().splitlines()))
        for path, digest, size in record[:-1]:
            data = wheel.read(path)
            found = urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert (digest, size) == (f"sha256={found}", str(len(data)))
    assert [row[0] for row in record] == wheel.namelist()
    assert "verdigris/plugins/common" in packages
    assert not {f"verdigris/plugins/{host}" for host in ("blender", "maya", "houdini")} & packages


def test_pip_installs_the_wheel(tmp_path):
    wheel = write_wheel(tmp_path, PROJECT, ROOT)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command += ["--target", str(tmp_path / "site"), str(wheel)]
    assert subprocess.run(command, check=False).returncode == 0
    site = tmp_path / "site" / "verdigris"
    assert (site / "core" / "material" / "usd" / "signatures.json").is_file()
    assert list((site / "shaders").rglob("*.slang"))
    metadata = (tmp_path / "site" / f"verdigris-{PROJECT['version']}.dist-info").joinpath(
        "METADATA"
    )
    for pin in PROJECT["dependencies"]:
        assert f"Requires-Dist: {pin}\n" in metadata.read_text()


def test_the_same_sources_give_the_same_file(tmp_path):
    first = build(tmp_path / "a", wheels=False).read_bytes()
    assert build(tmp_path / "b", wheels=False).read_bytes() == first


def test_each_file_of_the_plug_in_has_its_licence():
    files = [*(ROOT / PLUGIN).rglob("*.py"), ROOT / PLUGIN / "blender_manifest.toml"]
    for path in files:
        lines = path.read_text().splitlines()
        assert lines[0].startswith("# SPDX-FileCopyrightText: "), path
        assert lines[1] == "# SPDX-License-Identifier: GPL-3.0-or-later", path


def test_nothing_else_imports_the_plug_in():
    others = [path for top in ("core", "ui", "shaders") for path in (ROOT / top).rglob("*.py")]
    others += [
        path for path in (ROOT / "plugins").rglob("*.py") if Path(ROOT / PLUGIN) not in path.parents
    ]
    for path in others:
        text = path.read_text()
        assert "plugins.blender" not in text and "import bpy" not in text, path


def test_a_manifest_without_its_marks_is_an_error(tmp_path):
    from blender_addon import AddOnError, _manifest

    with pytest.raises(AddOnError, match="lacks version"):
        _manifest('version = "1.0.0"\n\n[permissions]\n', "1", [], "blender-5.0", "linux")
