"""Earlier bakes are kept, and come back, whatever happens to the process and the disk."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from verdigris.core.base.errors import BundleError
from verdigris.core.base.files import Folder
from verdigris.core.bundle.files import replace_folder as replacing
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.write import Contents, write_bundle
from verdigris.core.bundle.history import History, keep_versions, keeper, kept_versions

from ..small_disk import small_disk
from .bundles import lively_parameters

DRIVER = Path(__file__).with_name("killed_keepers.py")
# A bundle of this layout has 60 KB, most of them reference values.
PARAMETERS = lively_parameters()


@pytest.fixture
def tmp_path():
    """In memory where that can be: the disk of a test is not what fails here."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture(autouse=True)
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "settings"))


def bake(path, name, preset="draft", error=0.01, baked=0):
    """Writes a bundle as a bake does. `baked` is its time in seconds after the first."""
    contents = Contents(
        name=name,
        source={"preset": preset, "seconds": 30.0, "settings": {"resolution": 256}},
        errors={"samples": {"log_mae": error}, "sphere": {"ldr_flip": 4 * error}},
    )
    write_bundle(path, PARAMETERS, contents, keeper(path))
    os.utime(path / "manifest.json", (1e9 + baked, 1e9 + baked))


def names(path):
    return [open_bundle(each.folder).manifest.name for each in History(path).versions()]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
def test_a_bake_or_restore_that_is_killed_at_any_step_loses_no_version(tmp_path):
    command = [sys.executable, DRIVER, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    actions = json.loads(done.stdout)
    assert len(actions) == 4
    for action, deaths in actions.items():
        assert len(deaths) > 5, action
        for number, (at_once, versions, recovered) in enumerate(deaths):
            # a reader finds a whole bundle, at the latest after the next start of a panel
            assert at_once in ("before", "after", "none"), (action, number)
            assert recovered in ("before", "after"), (action, number)
            wanted = ["after", "before"] if action.startswith("restore") else ["before"]
            assert set(wanted) <= set(versions), (action, number)
        assert deaths[-1][1] == ["after", "before"]
        if action.startswith("replace"):
            assert "none" not in {death[0] for death in deaths}


def test_a_draft_after_a_final_leaves_the_final_which_comes_back(tmp_path):
    path = tmp_path / "copper.vdg"
    bake(path, "final bake", "final", 0.001)
    bake(path, "draft bake", "draft", 0.02, baked=60)
    history = History(path)
    present, before = history.versions()
    assert (present.is_present, present.preset, before.preset) == (True, "draft", "final")
    assert before.folder == tmp_path / "copper.versions" / "2001-09-09_01-46-40_final.vdg"
    assert (before.error, before.resolution, before.seconds) == (0.001, 256, 30.0)
    history.restore(before)
    assert open_bundle(path).manifest.name == "final bake"
    assert names(path) == ["final bake", "draft bake"]
    # and once more, to the state before
    history.restore(history.versions()[1])
    assert names(path) == ["draft bake", "final bake"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["copper.vdg", "copper.versions"]


def test_the_number_of_versions_is_limited_but_pinned_ones_and_the_best_stay(tmp_path):
    path = tmp_path / "copper.vdg"
    keep_versions(3)
    bake(path, "pinned", error=0.5)
    History(path).pin(History(path).versions()[0])
    bake(path, "best", "final", error=0.001, baked=1)
    for number in range(5):
        bake(path, f"draft {number}", baked=number + 2)
    assert names(path) == ["draft 4", "draft 3", "draft 2", "best", "pinned"]
    assert kept_versions() == 3


def test_labels_and_pins_follow_a_version_through_trash_and_restore(tmp_path):
    path = tmp_path / "copper.vdg"
    bake(path, "first")
    history = History(path)
    history.rename(history.versions()[0], "  for the\nhero ")
    bake(path, "second", baked=1)
    first = history.versions()[1]
    assert first.label == "for the hero"
    history.pin(first)
    history.write_note(first, " kept for the close-up  \nof shot 10\n")
    deleted = history.delete(first)
    assert names(path) == ["second"]
    history.rename(history.versions()[0], "other")
    history.undelete(deleted)
    assert names(path) == ["second", "first"]
    history.restore(history.versions()[1])
    present = history.versions()[0]
    assert (present.label, present.is_pinned) == ("for the hero", True)
    assert present.note == "kept for the close-up\nof shot 10"
    history.write_note(present, "  ")
    assert history.versions()[0].note == ""
    with pytest.raises(BundleError, match="is the present bundle: restore another"):
        history.delete(history.versions()[0])


def test_a_damaged_version_and_damaged_notes_hide_no_other(tmp_path):
    path = tmp_path / "copper.vdg"
    for number in range(3):
        bake(path, str(number), baked=number)
    history = History(path)
    (history.versions()[1].folder / "manifest.json").write_text("{")
    (history.folder / "notes.json").write_text('{"a": NaN}')
    assert names(path) == ["2", "0"]
    bake(path, "3", baked=3)
    assert names(path) == ["3", "2", "0"]


def test_a_disk_that_is_full_loses_neither_the_bundle_nor_its_versions(tmp_path):
    with small_disk(tmp_path / "disk", 1024) as disk:
        path = disk / "copper.vdg"
        bake(path, "first")
        bake(path, "second", baked=1)
        (disk / "ballast").write_bytes(bytes(os.statvfs(disk).f_bavail * 4096 - 8192))
        with pytest.raises(BundleError, match=r"cannot be written \(the disk is full"):
            bake(path, "third")
        assert names(path) == ["second", "first"]
        # renames need no room
        history = History(path)
        history.restore(history.versions()[1])
        assert names(path) == ["first", "second"]
        for each in names(path):
            open_bundle(path).check_files()
            assert each in ("first", "second")


def test_a_version_that_cannot_be_moved_stays_and_is_found_later(tmp_path, monkeypatch):
    path = tmp_path / "copper.vdg"
    bake(path, "first")
    # as Windows does while a program has a file of it open
    with monkeypatch.context() as patched:
        patched.setattr(History, "_move", lambda *_: (_ for _ in ()).throw(PermissionError()))
        bake(path, "second", baked=1)
    assert names(path) == ["second"]
    History(path).recover()
    assert names(path) == ["second", "first"]
    with monkeypatch.context() as patched:
        patched.setattr(replacing, "exchange", lambda *_: False)
        bake(path, "third", baked=2)
    assert names(path) == ["third", "second", "first"]


def test_what_a_linked_folder_of_versions_leads_to_is_neither_listed_nor_removed(tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    for number in range(14):
        bake(mine / f"2001-01-01_00-00-{number:02}.vdg", f"mine {number}", baked=number)
    keep_versions(2)
    path = tmp_path / "pack" / "copper.vdg"
    path.parent.mkdir()
    path.with_suffix(".versions").symlink_to(mine)
    before = sorted(mine.rglob("*"))
    for number in range(3):
        bake(path, f"draft {number}", baked=number)
    history = History(path)
    assert names(path) == ["draft 2"]
    assert history.trash() == []
    refusal = r"copper\.versions is a link, and not a folder: remove it$"
    with pytest.raises(BundleError, match=refusal):
        history.pin(history.versions()[0])
    with pytest.raises(BundleError, match=r"copper\.versions: is a link, but old versions of .*"):
        history.require_own_folder()
    assert sorted(mine.rglob("*")) == before


def test_what_lies_in_the_way_of_the_trash_is_named_or_passed(tmp_path):
    path = tmp_path / "copper.vdg"
    for number in range(3):
        bake(path, str(number), baked=number)
    history, trash = History(path), tmp_path / "copper.versions" / "trash"
    trash.write_text("planted")
    with pytest.raises(BundleError, match=r"copper.vdg: trash is not a folder: remove it$"):
        history.delete(history.versions()[1])
    trash.unlink()
    trash.mkdir()
    version = history.versions()[1]
    (trash / version.folder.name).symlink_to(tmp_path / "gone")
    assert history.delete(version).name == f"{version.name}-2.vdg"
    assert not (tmp_path / "gone").exists()


def test_a_file_that_takes_the_place_of_a_deleted_version_keeps_its_time(tmp_path, monkeypatch):
    path, theirs = tmp_path / "copper.vdg", tmp_path / "mine.txt"
    for number in range(2):
        bake(path, str(number), baked=number)
    theirs.write_text("precious")
    os.utime(theirs, (1e9, 1e9))
    history = History(path)
    version = history.versions()[1]
    rename = Folder.rename

    def swap_first(self, old, new, to=None):
        if old == version.folder.name:
            version.folder.rename(tmp_path / "away")
            version.folder.hardlink_to(theirs)
        rename(self, old, new, to)

    monkeypatch.setattr(Folder, "rename", swap_first)
    history.delete(version)
    assert theirs.stat().st_mtime == 1e9


def test_only_versions_by_names_of_ours_are_removed(tmp_path):
    path = tmp_path / "copper.vdg"
    keep_versions(2)
    bake(path, "first")
    bake(path, "second", baked=1)
    theirs = tmp_path / "copper.versions" / "their_work.vdg"
    bake(theirs, "theirs", error=0.5, baked=-9)
    for number in range(4):
        bake(path, f"draft {number}", error=0.1, baked=number + 2)
    assert "theirs" in names(path)
    assert sum(each.name[0] == "2" for each in theirs.parent.iterdir()) <= 3


def test_nothing_is_removed_from_a_folder_that_is_not_ours(tmp_path):
    path = tmp_path / "copper.vdg"
    folder = tmp_path / "copper.versions"
    folder.mkdir()
    (folder / "thesis.txt").write_text("of years")
    for number in range(4):
        bake(folder / f"2001-01-01_00-00-0{number}_final.vdg", f"theirs {number}", baked=number)
    keep_versions(1)
    for number in range(3):
        bake(path, f"draft {number}", baked=number + 10)
    assert {f"theirs {number}" for number in range(4)} <= {*names(path)}


def test_versions_of_before_the_marker_are_still_tidied(tmp_path):
    path = tmp_path / "copper.vdg"
    for number in range(4):
        bake(path, f"draft {number}", error=0.1 + number, baked=number)
    (marker,) = (tmp_path / "copper.versions").glob(".*")
    marker.unlink()
    keep_versions(2)
    bake(path, "last", error=0.9, baked=9)
    assert names(path) == ["last", "draft 3", "draft 0"]
