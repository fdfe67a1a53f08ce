"""Files that are dragged into a viewport of Maya: they install, repair, update and remove."""

import importlib.metadata
import importlib.util
import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import fake_maya_modules
import pytest
from entries import module_text
from hosts import BY_NAME, SYSTEMS, this_system
from stage import ROOT, copy_beside, project, stage

from verdigris.core.base.process.unpacked_worker import name_of, python_tag

from ..plugins import stubs

MAYA = BY_NAME["maya-2026"]
SESSION = Path(__file__).with_name("maya_session.py")
VERSION = project(ROOT)["version"]


def stage_with_packages(out):
    """As stage.py, with packages of this Python instead of wheels."""
    tree = stage(MAYA, out, wheels=False)
    for package in ("numpy", "numpy.libs", "platformdirs"):
        there = Path(importlib.util.find_spec("numpy").origin).parents[1] / package
        if there.exists():
            (tree / "site-packages" / package).symlink_to(there)
    (tree / "wheels").mkdir()
    (tree / "wheels" / "packages.json").write_text("")
    return tree


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    """A folder with a space, as on many machines."""
    return stage_with_packages(tmp_path_factory.mktemp("my downloads")).parent


@pytest.fixture
def another(staged):
    """Makes another folder with the same tree. Only its names are new, not its contents."""

    def make(out):
        copied = shutil.copytree(staged, out, symlinks=True, copy_function=os.link)
        return copied / "verdigris"

    return make


@pytest.fixture
def drop(tmp_path):
    """Drops files into one session of Maya, and returns its state after each."""

    def run(*files):
        done = subprocess.run(
            [sys.executable, "-B", "-S", str(SESSION), str(tmp_path / "maya"), *map(str, files)],
            capture_output=True,
            text=True,
            check=False,
            env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


def module_of(tmp_path):
    return tmp_path / "maya" / "2026" / "modules" / "verdigris.mod"


def test_a_drop_installs_the_module_and_loads_the_plug_in(drop, staged, tmp_path):
    (state,) = drop(staged / "install_verdigris.py")
    tree = staged / "verdigris"
    assert f"Verdigris {VERSION} is installed and loaded" in state["said"]
    assert "Bakes need a worker: the panel offers to set it up." in state["said"]
    first, *rest = module_of(tmp_path).read_text().splitlines()
    system = SYSTEMS[this_system()].maya
    assert first == f"+ MAYAVERSION:2026 PLATFORM:{system} verdigris {VERSION} {tree.as_posix()}"
    assert rest == (staged / "verdigris.mod").read_text().splitlines()[1:]
    assert state["loaded"] and state["commands"] == ["verdigris"]
    assert state["modules"] == [str(module_of(tmp_path))]
    # the session works without a restart, and after Maya has removed the first path
    assert state["code"].startswith(str(tree))
    for folder in ("scripts", "site-packages"):
        assert (tree / folder).as_posix() in state["path"]
    for folder, variable in (("plug-ins", "PLUG_IN"), ("scripts", "SCRIPT")):
        assert (tree / folder).as_posix() in state["variables"][f"MAYA_{variable}_PATH"]


def test_a_second_drop_repairs_and_one_of_another_folder_updates(drop, staged, another, tmp_path):
    newer = tmp_path / "newer"
    another(newer)
    install = "install_verdigris.py"
    first, again, update = drop(staged / install, staged / install, newer / install)
    # what Maya asks is told before it asks, once
    (told,) = first["before"]
    assert "untrusted place" in told and "userSetup" in told and "Allow" in told
    assert again["before"] == update["before"] == []
    assert "installed and loaded" in first["said"]
    assert "updated and loaded" in again["said"] and again["loaded"]
    assert again["path"] == first["path"]
    assert "updated and loaded" in update["said"]
    assert update["code"].startswith(str(newer))
    assert not [each for each in update["path"] if each.startswith(str(staged / "verdigris"))]
    assert str(staged) not in update["variables"]["MAYA_PLUG_IN_PATH"]
    assert (newer / "verdigris").as_posix() in module_of(tmp_path).read_text()


def test_a_drop_after_the_folder_was_moved_asks_for_a_restart(drop, another, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    another(old)
    moved = f"mv {old} {new}"
    _, again = drop(old / "install_verdigris.py", moved, new / "install_verdigris.py")
    assert "updated and will be loaded when Maya starts again: restart it" in again["said"]
    assert (new / "verdigris").as_posix() in module_of(tmp_path).read_text()


def test_a_worker_of_another_version_is_named(drop, another, tmp_path):
    tree = another(tmp_path / "out")
    tag = python_tag()
    told = "The worker has version 0.0.9: the panel renews it."
    for version, is_named in (("0.0.9", True), (VERSION, False)):
        worker = tree / "worker" / name_of(version, tag)
        worker.mkdir(parents=True)
        marker = {"version": version, "tag": tag, "packages": ""}
        (worker / "worker.json").write_text(json.dumps(marker))
        (state,) = drop(tmp_path / "out" / "install_verdigris.py")
        assert (told in state["said"]) == ("he worker" in state["said"]) == is_named


def test_a_denied_plug_in_is_installed_but_not_loaded_with_the_way_to_trust_it(
    drop, staged, tmp_path
):
    file = staged / "install_verdigris.py"
    *denied, allowed = drop("deny loudly", file, "deny quietly", file, "deny", file)
    for state, why in zip(denied, ("was denied.", "Maya gave no reason"), strict=True):
        assert "led, but not loaded." in state["said"].replace("updated", "installed")
        assert (
            f"Maya did not load the plug-in: {'' if 'gave' in why else 'Plug-in'}" in state["said"]
        )
        assert why in state["said"] and not state["loaded"]
        folder = staged / "verdigris" / "plug-ins"
        assert f"Security > Plug-ins, add {folder} to My trusted plugin locations" in state["said"]
    assert module_of(tmp_path).is_file()
    assert "updated and loaded" in allowed["said"] and allowed["loaded"]


def test_an_archive_that_was_unzipped_in_part_is_named(drop, another, tmp_path):
    tree = another(tmp_path / "out")
    shutil.rmtree(tree / "wheels")
    (state,) = drop(tmp_path / "out" / "install_verdigris.py")
    assert f"packages of the worker are missing in {tree / 'wheels'}" in state["said"]


def test_a_folder_in_quarantine_is_named_with_the_line_that_frees_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "maya", SimpleNamespace(cmds=None))
    file = ROOT / "packaging/templates/beside_maya/install_verdigris.py"
    spec = importlib.util.spec_from_file_location("install_verdigris", file)
    installer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(installer)
    asked = []

    def xattr(command, **_):
        asked.append(command)
        return SimpleNamespace(returncode=0 if tmp_path / "m" in Path(command[-1]).parents else 1)

    monkeypatch.setattr(installer.subprocess, "run", xattr)
    library = tmp_path / "m" / "site-packages" / "numpy" / "core.so"
    library.parent.mkdir(parents=True)
    library.write_text("")
    assert installer.quarantine_notes(tmp_path / "m") == []
    monkeypatch.setattr(installer.sys, "platform", "darwin")
    (said,) = installer.quarantine_notes(tmp_path / "m")
    assert f'xattr -dr com.apple.quarantine "{installer.HERE}"' in said
    assert asked == [["/usr/bin/xattr", "-p", "com.apple.quarantine", str(library)]]
    assert installer.quarantine_notes(tmp_path / "n") == []


def test_the_first_message_offers_the_self_test(drop, staged):
    (state,) = drop(f"{staged / 'install_verdigris.py'}=Self-test")
    # it was chosen, and this fake has no mayapy to run it in
    assert "run mayapy by hand" in state["said"]


def test_one_module_serves_the_versions_beside_each_other(drop, staged, tmp_path):
    there = tmp_path / "studio"
    there.mkdir()
    copy_beside(MAYA, there)
    entries = [(BY_NAME[f"maya-{year}"], f"./maya-{year}", "linux") for year in (2025, 2026, 2027)]
    (there / "verdigris.mod").write_text(module_text(entries, "1.2.3"))
    (state,) = drop(there / "install_verdigris.py")
    assert "not installed" in state["said"] and "is for no Maya" in state["said"]
    (there / "maya-2027").mkdir()
    (state,) = drop(there / "install_verdigris.py")
    assert "is for Maya 2027 on linux: unzip the archive for this Maya" in state["said"]
    assert not module_of(tmp_path).exists() and not state["loaded"]
    (there / "maya-2026").symlink_to(staged / "verdigris")
    (state,) = drop(there / "install_verdigris.py")
    assert "Verdigris 1.2.3 is installed" in state["said"]
    assert module_of(tmp_path).read_text().count("MAYAVERSION") == 1


def test_a_folder_that_cannot_be_written_is_a_message(drop, staged, tmp_path):
    (tmp_path / "maya").write_text("a file where the folder should be")
    (state,) = drop(staged / "install_verdigris.py")
    assert "Verdigris was not installed" in state["said"] and "maya" in state["said"]


def test_uninstalling_removes_the_module_and_the_worker_on_request_only(
    drop, another, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    tree = another(out)
    (tree / "worker" / "bin").mkdir(parents=True)
    bake = tmp_path / "neural" / "tray.vdg"
    bake.mkdir(parents=True)
    install, remove = out / "install_verdigris.py", out / "uninstall_verdigris.py"
    installed, kept, gone, again = drop(
        install, f"{remove}=Cancel", f"{remove}=Remove", f"{remove}=Remove"
    )
    assert "Bakes need a worker" in installed["said"]
    assert kept["loaded"] and "Remove Verdigris from Maya 2026?" in kept["said"]
    assert not gone["loaded"] and gone["commands"] == [] and gone["code"] == ""
    assert not module_of(tmp_path).exists() and (tree / "worker").is_dir()
    assert not [each for each in gone["path"] if each.startswith(str(tree))]
    assert "not installed in this Maya" in again["said"]
    # platformdirs' folder for data on Linux
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    shared = tmp_path / "data" / "verdigris" / "worker"
    worker = shared / name_of(VERSION, python_tag())
    worker.mkdir(parents=True)
    marker = {"version": VERSION, "tag": python_tag(), "packages": ""}
    (worker / "worker.json").write_text(json.dumps(marker))
    _, gone = drop(install, f"{remove}=Remove with the worker")
    assert f"The worker is removed: {tree / 'worker'}" in gone["said"]
    # Houdini may use it
    assert f"If no other plug-in uses its worker, delete {shared}, too." in gone["said"]
    assert not (tree / "worker").exists() and bake.is_dir() and tree.is_dir()


@pytest.mark.skipif(
    not any(importlib.metadata.distributions(name="maya-stubs")),
    reason="the stubs are not installed: pip install -e .[test]",
)
def test_the_fake_has_only_names_and_flags_of_maya():
    known = stubs.maya_commands()
    found = fake_maya_modules.commands(fake_maya_modules.Modules(""))
    assert len(found) == 8
    for name, command in found.items():
        parameters = inspect.signature(command).parameters.values()
        flags = {each.name for each in parameters if each.kind == each.KEYWORD_ONLY}
        assert flags <= known[name], name
