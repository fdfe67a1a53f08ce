"""Archives of a release: what they hold, and that the same sources make the same bytes."""

import hashlib
import json
import os
import re
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import release as releasing
from hosts import BLENDERS, BY_NAME, HOSTS, SYSTEMS
from pages import INSTALLING, links
from release import main, pack, release, write_sums
from stage import ROOT, project
from wheels import LICENCES, StageError, licences

VERSION = project(ROOT)["version"]


@pytest.fixture(scope="module")
def unzipped(tmp_path_factory):
    """Two archives of Maya and one of Houdini, unzipped to one place."""
    folder = tmp_path_factory.mktemp("release")
    there = folder / "unzipped"
    for name, system in (("maya-2025", "linux"), ("maya-2026", "linux"), ("houdini-21.0", "macos")):
        with pytest.MonkeyPatch.context() as patch:
            # compressing takes most of the time, and is of another test
            stored = {**vars(zipfile), "ZIP_DEFLATED": zipfile.ZIP_STORED}
            patch.setattr(releasing, "zipfile", SimpleNamespace(**stored))
            file = release(BY_NAME[name], system, folder, wheels=False)
        assert file.name == f"verdigris-{VERSION}-{name}-{system}.zip"
        with zipfile.ZipFile(file) as archive:
            archive.extractall(there)
    return there


def test_one_module_serves_the_trees_of_maya_that_lie_side_by_side(unzipped):
    top = unzipped / "verdigris-maya"
    text = (top / "verdigris.mod").read_text()
    headers = re.findall(r"^\+ MAYAVERSION:(\d+) PLATFORM:(\w+) verdigris (\S+) (\S+)$", text, re.M)
    maya = [host.version for host in HOSTS if host.host == "maya"]
    expected = {(year, system.maya) for year in maya for system in SYSTEMS.values()}
    assert {header[:2] for header in headers} == expected and len(headers) == len(expected)
    there = {header[:2] for header in headers if (top / header[3] / "scripts").is_dir()}
    assert there == {("2025", "linux"), ("2026", "linux")}
    # each block has its own lines
    assert text.count("PYTHONPATH +:= scripts\n") == len(headers)
    assert (top / "install_verdigris.py").is_file() and (top / "uninstall_verdigris.py").is_file()


def test_the_package_of_houdini_finds_its_tree_beside_it(unzipped):
    (file,) = unzipped.glob("*.json")
    package = json.loads(file.read_text())
    assert file.name == "verdigris-21.0-macos.json"
    assert package["enable"].endswith("houdini_os == 'macos'")
    tree = package["env"][0]["VERDIGRIS_TREE"].replace("$HOUDINI_PACKAGE_PATH", str(unzipped))
    assert (Path(tree) / "toolbar").is_dir() and (Path(tree) / "make_worker.py").is_file()
    # packages of Houdini are read from the top folder only
    assert not list((unzipped / "verdigris-houdini").glob("*.json"))


@pytest.mark.parametrize("host", ["maya", "houdini"])
def test_pages_are_complete_and_all_their_links_and_pictures_are_there(host, unzipped):
    (docs, *_) = unzipped.glob(f"verdigris-{host}/*/scripts/verdigris/docs")
    pages = sorted(docs.glob("*.md"))
    assert {"ARTISTS.md", "GLOSSARY.md", f"{host.upper()}.md"} <= {page.name for page in pages}
    for page in pages:
        for link in links(page):
            assert ".." in link or (docs / link).is_file(), f"{page.name} links to {link}"
    installing = (unzipped / f"verdigris-{host}" / "INSTALL.md").read_text()
    assert f"Verdigris {VERSION} for {host.title()}" in installing and "![" not in installing
    assert len(installing.splitlines()) > 8, f"{docs} has no section {INSTALLING!r}"


def test_the_same_files_make_the_same_bytes(tmp_path, monkeypatch):
    packed = []
    for number, name in enumerate(("one", "two")):
        folder = tmp_path / name
        folder.mkdir()
        for file in ("b.txt", "a.py") if number else ("a.py", "b.txt"):
            (folder / file).write_text("#!/usr/bin/env python3\n" if file == "a.py" else "text")
            os.utime(folder / file, (number * 1e6, number * 1e6))
        (folder / "b.txt").chmod(0o600 if number else 0o664)
        pack(folder, tmp_path / f"{name}.zip")
        packed.append((tmp_path / f"{name}.zip").read_bytes())
    assert packed[0] == packed[1]
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in archive.filelist}
    assert modes == {"a.py": 0o755, "b.txt": 0o644}
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    pack(tmp_path / "one", tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert {entry.date_time[:3] for entry in archive.filelist} == {(2023, 11, 14)}


def test_sums_are_those_of_all_archives(tmp_path):
    (tmp_path / "b.zip").write_bytes(b"b")
    (tmp_path / "a.zip").write_bytes(b"a")
    sums = [hashlib.sha256(each).hexdigest() for each in (b"a", b"b")]
    assert write_sums(tmp_path).read_text() == f"{sums[0]}  a.zip\n{sums[1]}  b.zip\n"


def test_one_command_makes_the_archives_of_all_versions_and_systems(tmp_path, monkeypatch, capsys):
    made = []

    def record(host, system, out):
        made.append((host.name, system))
        (out / f"{host.name}-{system}.zip").write_bytes(b"")
        return out / f"{host.name}-{system}.zip"

    def add_on(out, blender, system):
        return record(SimpleNamespace(name=blender), system, out)

    other = SimpleNamespace(build=add_on)
    monkeypatch.setattr(releasing, "blender_addon", other)
    monkeypatch.setattr(releasing, "release", record)
    assert main([str(tmp_path)]) == 0
    assert len(set(made)) == (len(HOSTS) + len(BLENDERS)) * len(SYSTEMS)
    assert len((tmp_path / "SHA256SUMS").read_text().splitlines()) == len(made)
    made.clear()
    assert main([str(tmp_path), "--host", "maya-2027", "--platform", "windows"]) == 0
    assert made == [("maya-2027", "windows")]

    def refuse(*_):
        raise StageError("no wheels")

    monkeypatch.setattr(releasing, "release", refuse)
    assert main([str(tmp_path)]) == 1
    assert "release: no wheels" in capsys.readouterr().err


def test_licences_of_packages_are_collected_and_a_package_without_one_is_refused(tmp_path):
    facts = tmp_path / "thing-1.2.dist-info" / "licenses"
    facts.mkdir(parents=True)
    (facts / "LICENSE.txt").write_text("MIT of things")
    (tmp_path / "thing").mkdir()
    (tmp_path / "thing" / "NOTICE").write_text("and its colours")
    (tmp_path / "thing" / "licensing.py").write_text("no licence")
    text = licences(tmp_path)
    assert "thing 1.2" in text and "MIT of things" in text and "and its colours" in text
    assert "no licence" not in text and LICENCES.endswith(".txt")
    (tmp_path / "other-3.dist-info").mkdir()
    with pytest.raises(StageError, match="other 3 has no licence file"):
        licences(tmp_path)
