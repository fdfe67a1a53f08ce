"""Files of ours in folders of strangers: no planted link is followed, no file with a second name is
written."""

import ast
import os
from pathlib import Path

import pytest

from verdigris.core.base import files
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.files import Folder, PlantedError
from verdigris.core.base.lock import clear_locks, locked
from verdigris.core.base.outputs import write_own_file

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def precious(tmp_path):
    """A file of the user, outside of the stranger's folder."""
    file = tmp_path / "precious.txt"
    file.write_text("precious")
    yield file
    assert file.read_text() == "precious"
    assert file.stat().st_nlink <= 2


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


PLANTS = {
    "link": lambda name, target: name.symlink_to(target),
    "relative link": lambda name, target: name.symlink_to(Path("..", target.name)),
    "dangling link": lambda name, target: name.symlink_to(target.with_name("gone")),
    "second name": lambda name, target: os.link(target, name),
    "pipe": lambda name, _: os.mkfifo(name),
}


@pytest.mark.parametrize("kind", PLANTS)
def test_a_planted_file_is_never_opened_and_is_named(out, precious, kind):
    PLANTS[kind](out / "a", precious)
    with Folder.at(out) as folder, pytest.raises(PlantedError, match=r"a is .*: remove it"):
        folder.open("a", os.O_RDWR | os.O_CREAT)
    assert not precious.with_name("gone").exists()


@pytest.mark.parametrize("kind", PLANTS)
def test_a_lock_is_refused_in_one_line(out, precious, kind):
    PLANTS[kind](out / ".tray.lock", precious)
    message = r"out: \.tray\.lock is .*: remove it, or choose another folder$"
    with pytest.raises(SettingsError, match=message), locked(out, "tray"):
        pass
    clear_locks(out, ["tray"])


@pytest.mark.parametrize("kind", PLANTS)
def test_a_file_of_ours_takes_the_place_of_what_was_planted(out, precious, kind):
    PLANTS[kind](out / "ladder.json", precious)
    write_own_file(out / "ladder.json", b"{}")
    assert (out / "ladder.json").read_bytes() == b"{}"
    assert not (out / "ladder.json").is_symlink()
    assert names(out) == ["ladder.json"]


@pytest.mark.parametrize("kind", PLANTS)
def test_a_log_is_new(out, precious, kind):
    PLANTS[kind](out / "tray.log", precious)
    with files.new_file(out / "tray.log") as log:
        log.write(b"begun")
    assert (out / "tray.log").read_bytes() == b"begun"


def test_a_linked_folder_is_refused_and_what_it_leads_to_stays(out, tmp_path):
    (tmp_path / "mine").mkdir()
    (out / "logs").symlink_to(tmp_path / "mine")
    with pytest.raises(PlantedError, match="logs is a link, and not a folder: remove it"):
        files.make_own_folder(out / "logs")
    assert names(tmp_path / "mine") == []


def test_of_a_linked_tree_only_the_link_is_removed(out, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "work").write_text("of years")
    (out / "old").symlink_to(mine)
    (out / "tree").mkdir()
    (out / "tree" / "inner").symlink_to(mine)
    (out / "tree" / "inner").lstat()
    files.remove_folder(out / "old")
    files.remove_folder(out / "tree")
    assert names(out) == []
    assert (mine / "work").read_text() == "of years"


def test_a_read_only_tree_is_removed_without_changing_what_links_in_it_lead_to(out, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir(mode=0o750)
    inner = out / "tree" / "inner"
    inner.mkdir(parents=True)
    (inner / "a").write_text("a")
    (inner / "link").symlink_to(mine)
    inner.chmod(0o500)
    inner.parent.chmod(0o500)
    files.remove_folder(out / "tree")
    assert names(out) == []
    assert mine.stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("kind", ["link", "second name"])
def test_what_takes_the_place_of_a_folder_meanwhile_keeps_its_permissions(
    kind, out, precious, monkeypatch
):
    precious.chmod(0o640)
    (out / "tree").mkdir()
    remove = files.shutil.rmtree

    def swap(*given, **options):
        if (out / "tree").is_dir():
            (out / "tree").rmdir()
            PLANTS[kind](out / "tree", precious)
        remove(*given, **options)

    monkeypatch.setattr(files.shutil, "rmtree", swap)
    files.remove_folder(out / "tree")
    assert precious.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not files._HOLDS_FOLDERS, reason="this system looks names up by path only")
def test_a_folder_that_is_swapped_for_a_link_while_it_is_open_gains_nothing(
    out, precious, tmp_path
):
    (out / "versions").mkdir()
    with Folder.at(out) as folder, folder.folder("versions") as held:
        (out / "versions").rename(out / "moved")
        (out / "versions").symlink_to(tmp_path)
        held.replace(precious.name, b"ours")
        held.remove_tree("out")
    assert (out / "moved" / precious.name).read_bytes() == b"ours"


def test_a_name_with_a_path_is_refused(out):
    with Folder.at(out) as folder:
        for name in ("", ".", "..", "a/b", "/etc/passwd"):
            with pytest.raises(ValueError, match="is not a plain name"):
                folder.remove(name)


def test_a_file_is_whole_or_not_written(out):
    def fail(file):
        file.write(b"half")
        raise RuntimeError

    files.replace_file(out / "a", b"whole")
    with pytest.raises(RuntimeError):
        files.replace_file(out / "a", fail)
    assert (out / "a").read_bytes() == b"whole"
    assert names(out) == ["a"]


# Calls that write, make, rename or delete.
WRITES = {
    *("write_text", "write_bytes", "unlink", "rmtree", "rmdir", "mkdir", "makedirs"),
    *("rename", "symlink_to", "hardlink_to", "mkfifo", "copyfile", "copytree", "copy2", "utime"),
}
# Modules where they are right besides files.py.
ALLOWED = {
    "core/base/kernels.py": "the time of a module in the user's own cache",
    "core/base/outputs.py": "the null device",
    "core/base/process/profile.py": "a file that a developer named in a variable",
    "core/batch/run/bake_process.py": "the null device",
    "core/bundle/runtime/runtime_files.py": "a new folder of tempfile",
    "core/bundle/effect_text.py": "a new folder of tempfile",
    "core/compress/runtime_text.py": "a new folder of tempfile",
    "core/compress/verify_set.py": "a new folder of tempfile",
    "core/pictures/moving_files.py": "a new folder of tempfile",
    "plugins/common/batch/materials.py": "a new folder of tempfile",
    "plugins/houdini/nodes/top_recipe.py": "a new folder of tempfile, in text for Houdini",
}


def writing_calls(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        owner = getattr(getattr(node.func, "value", None), "id", "")
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        texts = [
            each.value
            for each in (*node.args, *(word.value for word in node.keywords))
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        ]
        opens = name == "open" and any(
            set(text) <= set("rwxabt+") and set(text) & set("wxa+") for text in texts
        )
        swaps = name in ("replace", "remove") and owner in ("os", "shutil")
        opens |= name == "open" and owner == "os" and "O_WR" in ast.dump(node)
        # `rename` of a history, a section or a folder of files.py is a method of ours
        renames_path = name != "rename" or (len(node.args) == 1 and not node.keywords and owner)
        if opens or swaps or (name in WRITES and renames_path):
            yield f"{name} in line {node.lineno}"


def test_nothing_else_writes_or_deletes_a_file():
    found = {}
    for top in ("core", "ui", "plugins"):
        for path in sorted((ROOT / top).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            if place != "core/base/files.py" and (calls := [*writing_calls(path)]):
                found[place] = calls
    assert {place: calls for place, calls in found.items() if place not in ALLOWED} == {}
    # no reason outlives its module
    assert {*ALLOWED} - {"plugins/houdini/nodes/top_recipe.py"} <= {*found}
