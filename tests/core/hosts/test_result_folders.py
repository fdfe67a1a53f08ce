"""Results of the command, the panel and the plug-ins lie in one place."""

import json
from pathlib import Path

import pytest

from verdigris.core.hosts.result_folders import (
    choose_folder,
    chosen_folder,
    find_result,
    find_result_folder,
    result_folder,
)

from ..baking.bakes import CHALK
from ..in_process import run_command
from ..small_endings import SMALL_ENDINGS


@pytest.fixture(autouse=True)
def own_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "settings"))


def note(bundle, document):
    bundle.mkdir(parents=True)
    (bundle / "manifest.json").write_text(json.dumps({"source": {"document": document}}))


def test_results_lie_beside_their_scene_or_in_the_chosen_folder():
    scene = Path("/shots/010/lamp.mtlx")
    assert result_folder(scene) == Path("/shots/010/neural")
    assert result_folder(None) == Path.home() / "neural"
    choose_folder("../baked")
    assert chosen_folder() == "../baked"
    assert result_folder(scene) == Path("/shots/010/../baked")
    choose_folder("/bakes")
    assert result_folder(scene) == Path("/bakes") == find_result_folder(scene, "lamp")
    choose_folder("")
    assert result_folder(scene) == Path("/shots/010/neural")


def test_a_result_of_an_earlier_release_goes_on_where_it_is(tmp_path):
    scene, called = tmp_path / "doc" / "oak.mtlx", tmp_path / "called"
    new = scene.parent / "neural"
    assert find_result_folder(scene, "bark", others=(called,)) == new
    # of another document with a material of the same name
    note(called / "bark.vdg", "ash.mtlx")
    assert find_result_folder(scene, "bark", others=(called,)) == new
    note(scene.parent / "bark.vdg", "oak.mtlx")
    assert find_result_folder(scene, "bark", others=(called,)) == scene.parent
    assert find_result(scene) == scene.parent / "bark.vdg" == find_result(scene, "bark")
    # that of Blender
    note(scene.parent / "verdigris" / "bark.vdg", "")
    assert find_result_folder(scene, "bark") == scene.parent / "verdigris"
    # a new one counts
    note(new / "bark.vdg", "oak.mtlx")
    assert find_result_folder(scene, "bark", others=(called,)) == new
    assert find_result(scene) == new / "bark.vdg"


def test_the_command_bakes_into_that_folder(tmp_path, monkeypatch):
    source, called = tmp_path / "doc" / "chalk.mtlx", tmp_path / "called"
    source.parent.mkdir()
    called.mkdir()
    source.write_text(CHALK.format(name="chalk", colour="0.5, 0.5, 0.5"))
    monkeypatch.chdir(called)
    tiny = ("--set", "network=2x16", "--set", "batch=64", "--resolution", 8, "--iterations", 2)
    command = ("bake", source, *tiny, "--device", "software", "-q")
    code, printed, errors = run_command(command, *SMALL_ENDINGS)
    assert not code, errors
    assert [*map(Path, printed.split())] == [find_result(source)] != [None]
    assert find_result(source).parent == source.parent / "neural" and not [*called.iterdir()]
