"""Staged trees: their contents, their packages, and imports with the packages of a host."""

import ast
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
import stage as staging
import worker_wheels
from check_trees import probe
from dev_install import entry_folder, install, remove
from entries import write_entry
from hosts import BY_NAME, HOSTS, SYSTEMS, this_system
from stage import ROOT, main, project, stage
from wheels import requirements

from verdigris.core.base.process.unpacked_worker import find_plain_python
from verdigris.core.worker.install.packages import read_packages

from .tiny_packages import write_tiny_wheel

MAYA, HOUDINI = BY_NAME["maya-2026"], BY_NAME["houdini-21.0"]

IMPORT = """
import importlib, pathlib, sys
sys.path[:0] = {paths!r}
import verdigris.core.hosts.host, verdigris.core.hosts.documents
import verdigris.core.worker.client.client
import verdigris.core.material.usd.usdshade, verdigris.core.base.process.worker_environment
import verdigris.plugins.common.batch_bake, verdigris.plugins.common.panel_loader
import verdigris.plugins.common.selftest.walk
from verdigris.plugins.common.version import version
from verdigris.core.material.usd.signatures import find_signature
assert find_signature("ND_image_color3", (1, 39))
assert "MaterialX" not in sys.modules and "slangpy" not in sys.modules
try:
    verdigris.core.base.process.worker_environment.require_worker_command()
except verdigris.core.base.process.worker_environment.WorkerEnvironmentError as failure:
    print(failure)
print(version(), verdigris.core.hosts.host.__file__)
"""


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    out = tmp_path_factory.mktemp("staged")
    return {host.name: stage(host, out / host.name, wheels=False) for host in (MAYA, HOUDINI)}


def offer(folder, *packages):
    """A folder with these packages only."""
    folder.mkdir()
    for package in packages:
        found = Path(importlib.util.find_spec(package).origin).parents[1]
        for name in (package, f"{package}.libs", *({"usd_core.libs"} if package == "pxr" else ())):
            if (found / name).exists():
                (folder / name).symlink_to(found / name)
    return folder


@pytest.mark.parametrize(("name", "carries"), [("maya-2026", ()), ("houdini-21.0", ("pxr",))])
def test_every_module_imports_and_the_panel_opens(name, carries, trees, tmp_path):
    pytest.importorskip("PySide6", reason="the panel needs PySide6: pip install -e .[test]")
    host = BY_NAME[name]
    brought = {line.partition("==")[0] for line in requirements(host, project(ROOT))}
    brought |= {"numpy", "PySide6", "shiboken6", *carries}
    offered = offer(tmp_path / "offered", *sorted(brought))
    found = probe(host, sys.executable, trees[name], offered=offered)
    assert found["modules"] > 10 and ("pxr" in found) == bool(carries)


@pytest.mark.parametrize("name", ["maya-2026", "houdini-21.0"])
def test_a_tree_imports_with_the_packages_of_the_host(name, trees, tmp_path):
    offered = offer(tmp_path / "offered", "numpy", "platformdirs")
    paths = [str(trees[name] / "scripts"), str(offered)]
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith("VERDIGRIS")
    }
    environment["VERDIGRIS_CONFIG_DIR"] = str(tmp_path / "config")
    done = subprocess.run(
        [sys.executable, "-B", "-S", "-E", "-c", IMPORT.format(paths=paths)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    missing, found = done.stdout.strip().splitlines()
    assert missing.endswith(f'"{find_plain_python()}" "{trees[name] / "make_worker.py"}"')
    assert found.startswith(project(ROOT)["version"])
    assert str(trees[name]) in found


def test_a_tree_holds_its_own_host_and_no_other(trees):
    plugins = {
        name: {each.name for each in (tree / "scripts/verdigris/plugins").iterdir()}
        for name, tree in trees.items()
    }
    assert "maya" in plugins["maya-2026"] and "houdini" not in plugins["maya-2026"]
    assert "houdini" in plugins["houdini-21.0"] and "maya" not in plugins["houdini-21.0"]
    assert not list(trees["maya-2026"].rglob("__pycache__"))


def test_a_tree_carries_the_wheels_of_its_worker(tmp_path, monkeypatch):
    wanted = []

    def fetch(python, system):
        wanted.append((python, system))
        return [write_tiny_wheel(tmp_path, "slangpy", {"slangpy.py": ""})]

    monkeypatch.setattr(worker_wheels, "download", fetch)
    monkeypatch.setattr(staging, "install_wheels", lambda *_: None)
    tree = stage(BY_NAME["houdini-22.0"], tmp_path / "out", "windows")
    assert wanted == [("3.13", "windows")]
    packages = read_packages(tree / "wheels")
    version = project(ROOT)["version"]
    assert (packages.name, packages.system, packages.machine) == (
        *(f"{version}-cp313", "windows", "x86_64"),
    )
    names = [each.file for each in packages.wheels]
    assert names == ["slangpy-1.0-py3-none-any.whl", f"verdigris-{version}-py3-none-any.whl"]
    ast.parse((tree / "make_worker.py").read_text(), feature_version=(3, 8))


@pytest.mark.parametrize("python", ["3.11", "3.13"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_lock_has_a_wheel_of_every_package_of_a_bake(python, system):
    found = dict(each.split("-")[:2] for each in worker_wheels.locked_wheels(python, system))
    assert len(found) == len(worker_wheels.locked_wheels(python, system))
    assert "websockets" in found
    for name, version in (line.split("==") for line in worker_wheels.pins_of(project(ROOT))):
        assert found[name.lower().replace("-", "_")] == version, "run packaging/worker_wheels.py"
    # and of what these need
    for name in found:
        for line in importlib.metadata.requires(name.replace("_", "-")) or ():
            needed = re.match(r"[\w.-]+", line)[0].lower().replace("-", "_")
            if "extra ==" not in line:
                assert needed in found, f"{name} needs {needed}"


def test_the_module_file_has_the_format_of_maya(trees):
    file = trees["maya-2026"].parent / "verdigris.mod"
    first, *rest = file.read_text().splitlines()
    pattern = r"\+ MAYAVERSION:(\d{4}) PLATFORM:(\w+) (\w+) (\d+\.\d+\.\d+) (\S+)"
    version, platform, name, release, path = re.fullmatch(pattern, first).groups()
    assert platform == SYSTEMS[this_system()].maya
    assert (version, name, release) == ("2026", "verdigris", project(ROOT)["version"])
    assert (file.parent / path / "plug-ins" / "verdigris_maya.py").is_file()
    for line in rest:
        variable, folder = re.fullmatch(r"(\w+) \+:= (\S+)", line).groups()
        assert (
            variable in ("PYTHONPATH", "MAYA_SHELF_PATH") and (file.parent / path / folder).is_dir()
        )


def test_the_package_file_has_the_format_of_houdini(trees):
    file = trees["houdini-21.0"].parent / "verdigris.json"
    package = json.loads(file.read_text())
    assert package["enable"] == (
        "houdini_version >= '21.0' and houdini_version < '22.0' "
        f"and houdini_os == '{this_system()}'"
    )
    assert package["load_package_once"] is True
    (tree, paths) = package["env"]
    assert tree == {"VERDIGRIS_TREE": "$HOUDINI_PACKAGE_PATH/verdigris"}
    assert package["hpath"] == "$VERDIGRIS_TREE"
    assert paths["PYTHONPATH"]["method"] == "prepend"
    for path in paths["PYTHONPATH"]["value"]:
        assert Path(path.replace("$VERDIGRIS_TREE", str(trees["houdini-21.0"]))).is_dir()


def test_the_shelf_has_the_format_of_houdini(trees):
    tree = trees["houdini-21.0"]
    root = xml.parse(tree / "toolbar" / "verdigris.shelf").getroot()
    assert root.tag == "shelfDocument"
    members = [each.get("name") for each in root.find("toolshelf")]
    tools = {each.get("name"): each for each in root.findall("tool")}
    assert members == list(tools) and len(tools) == 5
    actions = (tree / "scripts/verdigris/plugins/houdini/actions.py").read_text()
    for tool in tools.values():
        assert tool.find("script").get("scriptType") == "python"
        call = ast.parse(tool.find("script").text).body[1].value
        assert f"def {call.func.attr}() -> None" in actions
        icon = tool.get("icon").replace("$VERDIGRIS_TREE", str(tree))
        assert xml.parse(icon).getroot().tag.endswith("svg")


def test_houdini_finds_the_menus_beside_its_shelf(trees):
    tree = trees["houdini-21.0"]
    window = xml.parse(tree / "MainMenuCommon.xml").getroot()
    (ours,) = window.find("menuBar")
    assert window.tag == "mainMenu" and ours.find("label").text == "Verdigris"
    assert xml.parse(tree / "OPmenu.xml").getroot().tag == "menuDocument"
    assert not (trees["maya-2026"] / "OPmenu.xml").exists()


def test_the_panel_file_has_the_format_of_houdini(trees):
    root = xml.parse(trees["houdini-21.0"] / "python_panels" / "verdigris.pypanel").getroot()
    assert root.tag == "pythonPanelDocument"
    (interface,) = root
    assert (interface.get("name"), interface.get("label")) == ("verdigris", "Verdigris")
    names = [
        node.name
        for node in ast.parse(interface.find("script").text).body
        if isinstance(node, ast.FunctionDef)
    ]
    assert names == ["onCreateInterface", "onDestroyInterface"]


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_every_version_has_an_entry_of_its_own(host, tmp_path):
    text = write_entry(host, tmp_path, "1.2.3").read_text()
    assert not re.search(r"\{\w+\}", text), "a place that was not filled in"
    if host.host == "maya":
        platform = SYSTEMS[this_system()].maya
        first = f"+ MAYAVERSION:{host.version} PLATFORM:{platform} verdigris 1.2.3 ./verdigris"
        assert text.splitlines()[0] == first
        return
    package = json.loads(text)
    first, end, system = re.findall(r"'([\w.]+)'", package["enable"])
    assert system == this_system()
    assert (first, package["version"]) == (host.version, "1.2.3")
    assert int(end.split(".")[0]) == int(first.split(".")[0]) + 1


def test_a_host_gets_pinned_wheels_of_missing_packages_only():
    pins = {line.partition("==")[0]: line for line in project(ROOT)["dependencies"]}
    for host in HOSTS:
        found = requirements(host, project(ROOT))
        assert all("==" in line for line in found)
        assert not {line.partition("==")[0] for line in found} & set(host.carries)
        assert pins["platformdirs"] in found
        # PySide6 6.5.3, of the hosts with Python 3.11, is compiled for numpy 1
        numpy = "numpy==1.26.4" if host.python == "3.11" else pins["numpy"]
        assert [line for line in found if line.startswith("numpy")] == (
            [numpy] if host.host == "maya" else []
        )


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_packages_of_a_tree_have_all_their_dependencies(host):
    names = {line.partition("==")[0] for line in requirements(host, project(ROOT))}
    for name in names:
        for line in importlib.metadata.requires(name) or ():
            needed = re.match(r"[\w.-]+", line)[0]
            if "extra ==" not in line:
                assert needed in names | set(host.carries), f"{name} needs {needed}"


def test_staging_again_keeps_only_the_worker(trees):
    tree = trees["maya-2026"]
    (tree / "worker").mkdir()
    (tree / "worker" / "made").write_text("")
    (tree / "stale").write_text("")
    again = stage(MAYA, tree.parent, wheels=False)
    assert (again / "worker" / "made").is_file() and not (again / "stale").exists()
    shutil.rmtree(again / "worker")
    assert sorted(each.name for each in tree.parent.iterdir()) == [
        "install_verdigris.py",
        "uninstall_verdigris.py",
        "verdigris",
        "verdigris.mod",
    ]


@pytest.mark.parametrize(
    ("name", "platform", "expected"),
    [
        ("maya-2026", "linux", "maya/2026/modules"),
        ("maya-2026", "win32", "Documents/maya/2026/modules"),
        ("maya-2026", "darwin", "Library/Preferences/Autodesk/maya/2026/modules"),
        ("houdini-20.5", "linux", "houdini20.5/packages"),
        ("houdini-21.0", "linux", "houdini21.0/packages"),
        ("houdini-21.0", "win32", "Documents/houdini21.0/packages"),
        ("houdini-21.0", "darwin", "Library/Preferences/houdini/21.0/packages"),
    ],
)
def test_entries_go_where_the_application_looks(name, platform, expected, tmp_path, monkeypatch):
    for variable in ("MAYA_APP_DIR", "HOUDINI_USER_PREF_DIR"):
        monkeypatch.delenv(variable, raising=False)
    assert entry_folder(BY_NAME[name], tmp_path, platform) == tmp_path / expected


def test_an_entry_has_the_full_path_of_the_tree_and_can_be_removed(trees, tmp_path, monkeypatch):
    monkeypatch.setenv("MAYA_APP_DIR", str(tmp_path / "app"))
    file = install(MAYA, trees["maya-2026"].parent, tmp_path)
    assert file == tmp_path / "app" / "2026" / "modules" / "verdigris.mod"
    assert file.read_text().splitlines()[0].endswith(f" {trees['maya-2026'].as_posix()}")
    assert remove(MAYA, tmp_path) == file and not file.exists()
    with pytest.raises(FileNotFoundError, match=r"is not a staged tree: build it with"):
        install(MAYA, tmp_path / "none", tmp_path)


def test_an_unknown_host_is_an_error_that_lists_the_known_ones(capsys, tmp_path):
    with pytest.raises(SystemExit) as ended:
        main(["maya-1998", str(tmp_path)])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert "maya-1998" in told and all(name in told for name in BY_NAME)
