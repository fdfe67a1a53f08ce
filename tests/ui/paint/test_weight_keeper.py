"""Painted weights come back after the panel, the application or its scene has gone."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.importance import kept_weights
from verdigris.ui.paint import weight_keeper
from verdigris.ui.paint.weight_map import Brush

from ..fake_session import FakeHost, Session


class SavedHost(FakeHost):
    """A scene in a folder; None was never saved."""

    def __init__(self, scene):
        super().__init__()
        self.scene = scene

    def scene_file(self):
        return self.scene


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Panels on a scene, each without memory of those before."""
    monkeypatch.setattr(weight_keeper, "PAUSE", 0.0)

    def make(scene=tmp_path / "shot.ma"):
        session = Session(SavedHost(scene))
        session.ready()
        return session

    return make


def stroke(session, place=0.5, weight=4.0):
    weights = session.model.state.weights
    weights.begin_stroke()
    weights.dab(place, place, Brush(weight=weight))
    session.model.tick()
    weights.end_stroke()


def settle(session):
    """Writes as a panel does that then is killed: nothing else of it ends in order."""
    session.model.tick()
    session.model.scene.kept._writer.wait()


def files_in(folder):
    return sorted(each for each in folder.rglob("*") if each.is_file())


def test_paint_of_each_material_comes_back_exactly_with_its_undo_steps(opened, tmp_path):
    session = opened()
    stroke(session)
    # not during a stroke, and not in the panel's event loop
    assert files_in(tmp_path) == []
    first = session.model.state.weights.values.copy()
    stroke(session, 0.2)
    painted = session.model.state.weights.values.copy()
    settle(session)
    (kept,) = files_in(tmp_path)
    assert kept.is_relative_to(tmp_path / "settings") and kept.stat().st_size < 16_000
    # numpy reads it, too
    with np.load(kept) as archive:
        np.testing.assert_array_equal(archive["weights"], painted)

    again = opened()
    weights = again.model.state.weights
    np.testing.assert_array_equal(weights.values, painted)
    weights.undo()
    np.testing.assert_array_equal(weights.values, first)
    weights.undo()
    assert weights.is_constant and not weights.can_undo
    weights.redo()
    weights.redo()
    # another material of the scene has its own
    again.model.choose(again.model.state.materials[1])
    assert weights.is_constant
    again.model.close()

    # without paint there is no file
    last = opened()
    last.model.state.weights.undo()
    last.model.state.weights.undo()
    settle(last)
    assert files_in(tmp_path) == []


def test_weights_lie_beside_the_checkpoint_and_move_with_the_project(opened, tmp_path):
    project = tmp_path / "project"
    (project / "neural").mkdir(parents=True)
    session = opened(project / "shot.ma")
    stroke(session)
    settle(session)
    painted = session.model.state.weights.values.copy()
    (beside,) = files_in(project)
    assert beside.parent.name == "neural" and beside.name.startswith("clay.")
    # another scene with results in this folder, and with a material of this name
    assert opened(project / "other.ma").model.state.weights.is_constant
    project.rename(tmp_path / "moved")
    moved = opened(tmp_path / "moved" / "shot.ma")
    np.testing.assert_array_equal(moved.model.state.weights.values, painted)


def test_the_newer_of_two_files_counts_and_a_first_bake_adds_the_one_beside_it(
    opened, tmp_path, monkeypatch
):
    session = opened()
    stroke(session)
    settle(session)
    (tmp_path / "neural").mkdir()
    monkeypatch.setattr(weight_keeper, "_LOOK_INTERVAL", 0.0)
    session.model.tick()
    settle(session)
    beside, own = files_in(tmp_path)
    assert (beside.parent.name, own.parent.name) == ("neural", "weights")
    newer = np.full((4, 4), 2.0, np.float32)
    newer[0, 0] = 8
    kept_weights.write_weights(beside, newer)
    os.utime(own, (1, 1))
    np.testing.assert_array_equal(opened().model.state.weights.values, newer)


def test_an_unsaved_scene_keeps_its_weights_and_takes_them_along_when_it_is_saved(opened, tmp_path):
    session = opened(None)
    stroke(session)
    settle(session)
    painted = session.model.state.weights.values.copy()
    np.testing.assert_array_equal(opened(None).model.state.weights.values, painted)
    # a file that the application wrote as it crashed, with the identities of the scene
    recovered = opened(tmp_path / "recovered.ma").model.state.weights.values
    np.testing.assert_array_equal(recovered, painted)
    # another session, which has not looked at the other material yet
    _, second = session.model.state.materials
    session.model.choose(second)
    session.model.state.weights.fill(2.0)
    settle(session)
    session = opened(None)
    session.host.scene = tmp_path / "shot.ma"
    session.model.refresh_materials()
    settle(session)
    assert opened(None).model.state.weights.is_constant
    saved = opened()
    np.testing.assert_array_equal(saved.model.state.weights.values, painted)
    saved.model.choose(second)
    assert (saved.model.state.weights.values == 2).all()
    # what is erased does not come back
    saved.model.state.weights.undo()
    settle(saved)
    again = opened()
    again.model.choose(second)
    assert (again.model.state.weights.values == 1).all()


def test_a_damaged_file_is_named_in_one_line_and_left_even_when_one_paints_again(
    opened, tmp_path, monkeypatch
):
    session = opened()
    stroke(session)
    settle(session)
    (kept,) = files_in(tmp_path)
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2])
    again = opened()
    assert again.model.state.weights.is_constant
    (notice,) = (each.text for each in again.model.state.notices if str(kept) in each.text)
    assert "\n" not in notice and "paint again" in notice
    assert kept.read_bytes() == whole[: len(whole) // 2]
    stroke(again, 0.8)
    settle(again)
    assert sorted(len(each.read_bytes()) == len(whole) // 2 for each in files_in(tmp_path)) == [
        False, True,
    ]  # fmt: skip
    assert not opened().model.state.weights.is_constant
    # one that would inflate is refused by its directory
    monkeypatch.setattr(kept_weights, "_MOST_BYTES", 1 << 20)
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("weights.npy", bytes(2 << 20))
    assert any("are allowed" in each.text for each in opened().model.state.notices)


def test_only_the_newest_files_stay_and_links_are_not_followed(opened, tmp_path, monkeypatch):
    monkeypatch.setattr(weight_keeper, "MOST_KEPT", 3)
    for number in range(5):
        session = opened(tmp_path / f"{number}.ma")
        stroke(session)
        settle(session)
        newest = max(files_in(tmp_path), key=lambda each: each.stat().st_mtime_ns)
        os.utime(newest, (number, number))
    kept = files_in(tmp_path)
    assert len(kept) == 3
    assert not opened(tmp_path / "4.ma").model.state.weights.is_constant
    assert opened(tmp_path / "0.ma").model.state.weights.is_constant
    # a planted link is replaced, and what it leads to stays
    aim = tmp_path / "aim"
    aim.write_text("mine")
    newest.unlink()
    newest.symlink_to(aim)
    session = opened(tmp_path / "4.ma")
    stroke(session)
    settle(session)
    assert aim.read_text() == "mine" and not newest.is_symlink()


def test_weights_that_can_be_kept_nowhere_are_reported_once(opened, tmp_path):
    (tmp_path / "settings").write_text("no folder")
    session = opened()
    for place in (0.2, 0.5):
        stroke(session, place)
        settle(session)
        session.model.tick()
    texts = [each.text for each in session.model.state.notices]
    assert len([each for each in texts if "painted weights cannot be kept" in each]) == 1
    assert not Path(tmp_path / "neural").exists()
