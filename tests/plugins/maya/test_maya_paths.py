"""Paths that a Maya scene notes, and the programs of Maya."""

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from verdigris.core.base.process import worker_environment
from verdigris.core.hosts.host import BakedResult

from ..hosts import by_name, flattened
from .scenes import SHAPE, add_native, open_scene


@pytest.fixture
def host(maya, tmp_path):
    """A scene in a project, with a native shader."""
    host = open_scene(maya, "stack.ma")
    add_native(maya, [SHAPE])
    maya.project = (tmp_path / "show").as_posix()
    maya.path = (tmp_path / "show" / "scenes" / "shot.ma").as_posix()
    maya.undo_stack.clear()
    return host


def note(maya):
    return maya.nodes["standardSurface2"]["attributes"]["verdigrisBundle"]


@pytest.mark.parametrize(
    ("project", "scene", "noted"),
    [
        ("show", "show/scenes/shot.ma", "baked/gold.vdg"),
        ("elsewhere", "show/baked/shot.ma", "./gold.vdg"),
        ("default", "show/shot.ma", "./baked/gold.vdg"),
    ],
)
def test_a_result_is_found_after_its_project_has_moved(maya, host, tmp_path, project, scene, noted):
    maya.project = (tmp_path / project).as_posix()
    maya.path = (tmp_path / scene).as_posix()
    material = by_name(host, "standardSurface2")
    bundle = tmp_path / "show" / "baked" / "gold.vdg"
    host.attach(material, BakedResult(bundle, flattened(bundle.parent)))
    assert note(maya) == noted and host.attached(material) == bundle
    moved = tmp_path / "farm"
    maya.project = maya.project.replace(str(tmp_path), str(moved))
    maya.path = maya.path.replace(str(tmp_path), str(moved))
    assert host.attached(material) == moved / "show" / "baked" / "gold.vdg"
    # Maya searches textures in the project
    texture = maya.value("standardSurface2_verdigris_roughness.fileTextureName")
    is_inside = project == "show"
    assert texture == ("baked/roughness.png" if is_inside else f"{bundle.parent}/roughness.png")


def test_a_result_elsewhere_keeps_its_whole_path_as_older_notes_have(maya, host, tmp_path):
    material = by_name(host, "standardSurface2")
    host.attach(material, BakedResult(tmp_path / "library" / "gold.vdg"))
    assert note(maya) == (tmp_path / "library" / "gold.vdg").as_posix()
    maya.nodes["standardSurface2"]["attributes"]["verdigrisBundle"] = "/old/gold.vdg"
    assert host.attached(material) == Path("/old/gold.vdg")


def test_a_note_keeps_what_the_artist_can_redo(maya, host, tmp_path):
    from maya import cmds

    material = by_name(host, "standardSurface2")
    cmds.setAttr("standardSurface2.base", 0.5)
    cmds.undo()
    host.attach(material, BakedResult(tmp_path / "gold.vdg"))
    assert host.attached(material) == tmp_path / "gold.vdg"
    assert cmds.undoInfo(query=True, redoName=True) == "setAttr"
    assert maya.undo_stack == [] and maya.has_undo
    # without something to redo, it is an undo step of its own
    maya.redo_stack.clear()
    host.attach(material, BakedResult(tmp_path / "other.vdg"))
    assert [name for name, _ in maya.undo_stack] == ["Verdigris result"]


@pytest.mark.parametrize("is_told", [True, False])
def test_mayapy_is_found_where_each_system_has_it(maya, monkeypatch, tmp_path, is_told):
    """macOS: Maya.app/Contents/MacOS/Maya and Maya.app/Contents/bin/mayapy (Autodesk, Maya Help:
    mayapy)."""
    contents = tmp_path / "Maya.app" / "Contents"
    program = contents / ("MacOS" if is_told else "bin") / "Maya"
    (contents / "bin").mkdir(parents=True)
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.delenv("MAYA_LOCATION", raising=False)
    if is_told:
        monkeypatch.setenv("MAYA_LOCATION", str(contents))
    (contents / "bin" / "mayapy").touch()
    interpreter = importlib.import_module("verdigris.plugins.maya.interpreter")
    assert interpreter.mayapy() == contents / "bin" / "mayapy"


def test_a_removed_shelf_leaves_no_gap_in_mayas_list_of_shelves(maya, tmp_path):
    """deleteShelfTab.mel of Maya moves the numbered variables of the shelves behind."""
    menus = importlib.import_module("verdigris.plugins.maya.menus")
    maya.preferences = str(tmp_path)
    maya.layouts |= {"Verdigris": [], "Rigging": []}
    for number, name in enumerate(("Polygons", "Verdigris", "Rigging"), 1):
        maya.options[f"shelfName{number}"] = name
        maya.options[f"shelfFile{number}"] = f"shelf_{name}"
        maya.options[f"shelfLoad{number}"] = number
    menus.SHELF_OF_MAYA.remove()
    assert "Verdigris" not in maya.layouts
    assert maya.options == {
        "shelfName1": "Polygons",
        "shelfFile1": "shelf_Polygons",
        "shelfLoad1": 1,
        "shelfName2": "Rigging",
        "shelfFile2": "shelf_Rigging",
        "shelfLoad2": 3,
    }


def test_a_mapped_drive_stays_one(maya, host, tmp_path, monkeypatch):
    """On Windows, Path.resolve() replaces a mapped drive by the server's path, which programs that
    are started there cannot have as their folder."""
    monkeypatch.setattr(Path, "resolve", lambda self, strict=False: Path("//server") / self.name)
    paths = [worker_environment.package_folder(), host.manual]
    material = by_name(host, "standardSurface2")
    host.attach(material, BakedResult(tmp_path / "gold.vdg"))
    paths += [host.attached(material), *host.document(material).search]
    assert not [path for path in paths if "server" in path.as_posix()]


def test_the_packages_of_a_studio_come_before_those_of_the_plug_in(tmp_path):
    """A staged tree, in an interpreter in which a studio has a numpy of its own."""
    studio, tree = tmp_path / "studio", tmp_path / "tree"
    package = tree / "scripts" / "verdigris" / "plugins" / "maya"
    package.mkdir(parents=True)
    shutil.copy(Path(__file__).parents[3] / "plugins" / "maya" / "__init__.py", package)
    for folder, name in ((studio, "numpy"), (tree / "site-packages", "numpy"),
                         (tree / "site-packages", "only_ours")):  # fmt: skip
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text("")
    program = "import verdigris.plugins.maya, numpy, only_ours; print(numpy.__file__)"
    paths = os.pathsep.join((str(tree / "scripts"), str(studio)))
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == str(studio / "numpy.py"), done.stderr
    module = Path(__file__).parents[3] / "packaging" / "templates" / "verdigris.mod"
    assert "site-packages" not in module.read_text()
