"""The digital asset of the LOP: what it holds, where it is built, and what each license writes."""

import importlib
import json
from pathlib import Path

import pytest


def module(name):
    return importlib.import_module(f"verdigris.plugins.houdini.{name}")


def test_the_asset_is_built_from_text_and_leaves_the_scene_as_it_was(harness, tmp_path):
    before, file = harness.snapshot(), tmp_path / "out" / "bake.hda"
    module("nodes.build_assets").build(file)
    assert harness.snapshot() == before and harness.houdini.undo_stack == []
    assert harness.houdini.loaded_files == []
    assert [each.name for each in file.parent.iterdir()] == ["bake.hda"]
    made = json.loads(file.read_text())
    assert (made["type"], made["context"], made["inputs"]) == ("verdigris_bake", "lop", [1, 1])
    assert made["sections"]["DescriptiveParmName"] == "state"
    for name in ("PythonModule", "OnLoaded", "OnCreated"):
        compile(made["sections"][name], name, "exec")
        assert made["options"][f"{name}/IsPython"]
    inner = made["contents"]
    assert inner["/results"]["type"] == "pythonscript"
    assert inner["/results"]["input"] == "<input 0>" and inner["/output0"]["input"] == "/results"
    shown = [each["name"] for each in made["templates"] if not each["hidden"]]
    expected = ["materials", "preset", "folder", "weights", "textures", "bake", "cancel", "state"]
    assert shown == expected
    # each parameter that an artist sets is explained in the help card
    assert all(f"#id: {name}" in made["sections"]["Help"] for name in expected)


def test_a_build_that_fails_leaves_no_file_and_no_node(harness, tmp_path):
    before = harness.snapshot()
    harness.houdini.refuses = {"createDigitalAsset"}
    with pytest.raises(Exception, match=r"bake\.hda: the node cannot be built: the disk is full"):
        module("nodes.build_assets").build(tmp_path / "bake.hda")
    assert harness.snapshot() == before and not (tmp_path / "bake.hda").exists()


def test_the_first_use_builds_the_asset_in_the_package_or_in_the_preferences(
    harness, tmp_path, monkeypatch
):
    scene, tree = harness.houdini, tmp_path / "tree"
    scene.home = str(tmp_path / "preferences")
    monkeypatch.setenv("VERDIGRIS_TREE", str(tree))
    module("nodes.build_assets").require_lop()
    (file,) = scene.loaded_files
    assert Path(file).parent == tree / "otls"
    # it is there now
    module("nodes.build_assets").require_lop()
    assert scene.loaded_files == [file]
    # a file of the name of the folder stands for a package that cannot be written
    scene.definitions.clear()
    scene.loaded_files.clear()
    monkeypatch.setenv("VERDIGRIS_TREE", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")
    module("nodes.build_assets").require_lop()
    assert Path(scene.loaded_files[0]).parent == tmp_path / "preferences" / "otls"


@pytest.mark.parametrize(
    ("license", "suffix"),
    [
        ("Commercial", ".hda"),
        ("Indie", ".hdalc"),
        ("Apprentice", ".hdanc"),
        ("ApprenticeHD", ".hdanc"),
        ("Education", ".hdanc"),
    ],
)
def test_each_license_builds_and_loads_the_file_that_it_writes(
    harness, tmp_path, monkeypatch, license, suffix
):
    scene, folder = harness.houdini, tmp_path / "preferences" / "otls"
    scene.home, scene.license = str(tmp_path / "preferences"), license
    monkeypatch.delenv("VERDIGRIS_TREE", raising=False)
    # a file of another license would limit the session
    folder.mkdir(parents=True)
    others = {".hda", ".hdalc", ".hdanc"} - {suffix}
    assets = module("nodes.build_assets")
    for other in others:
        (folder / assets.file_name()).with_suffix(other).write_text("of another license")
    assets.require_lop()
    (file,) = scene.loaded_files
    assert Path(file).suffix == suffix and Path(file).parent == folder
    assert {each.suffix for each in folder.iterdir()} == {suffix, *others}
    # the next session finds it
    scene.definitions.clear()
    scene.loaded_files.clear()
    scene.refuses = {"createDigitalAsset"}
    assets.require_lop()
    assert scene.loaded_files == [file]


def test_an_asset_of_another_version_is_replaced(harness, tmp_path, monkeypatch):
    scene = harness.houdini
    scene.home = str(tmp_path)
    monkeypatch.delenv("VERDIGRIS_TREE", raising=False)
    module("nodes.build_assets").require_lop()
    scene.definitions["verdigris_bake"]["version"] = "0.0.1"
    module("nodes.build_assets").require_lop()
    assert scene.definitions["verdigris_bake"]["version"] != "0.0.1"
