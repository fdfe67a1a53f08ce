"""The public API: what docs/COMMAND.md shows works."""

import os
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from verdigris.core import api
from verdigris.core.base.errors import DocumentError, SettingsError, VerdigrisError
from verdigris.core.base.inputs import explain_missing_folder
from verdigris.core.progress import Finished, Preview
from verdigris.core.settings.presets import require_recipe

from .small_endings import SMALL_ENDINGS

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.usefixtures("small_endings")


@pytest.fixture(scope="module")
def baked(tmp_path_factory):
    """A document and the events of its bake, with changed settings."""
    document = api.load(EXAMPLES / "brushed_steel.mtlx")
    tiny = {"resolution": 16, "iterations": 60, "batch": 256, "draw": {"coarse_share": 0.5}}
    where = {"device": "software", "preset": "draft"}
    with pytest.MonkeyPatch.context() as patch:
        for each in SMALL_ENDINGS:
            patch.setattr(*each)
        return document, list(api.bake(document, tmp_path_factory.mktemp("baked"), **where, **tiny))


def test_a_document_is_baked_and_its_result_evaluated(baked):
    document, events = baked
    finished = events[-1]
    assert isinstance(finished, Finished)
    first = next(event for event in events if isinstance(event, Preview))
    assert first.picture.shape == (128, 128, 4)

    bundle = api.open_bundle(finished.result)
    assert api.verify(bundle, source=document, device="software").holds
    assert api.verify(finished.result, device="software").holds
    up = np.float32([[0.0, 0.6, 0.8]])
    value, same = (
        api.evaluate(each, device="software").response(np.float32([[0.5, 0.5]]), up, up)
        for each in (bundle, finished.result)
    )
    assert np.isfinite(value).all()
    assert np.array_equal(value, same)
    assert (value > 0).all()
    assert bundle.manifest.errors["samples"] == asdict(finished.samples[0])


def test_arrays_of_other_shapes_are_refused_by_name(baked):
    """Kernels read beyond the end of a short one."""
    folder = baked[1][-1].result
    material = api.evaluate(folder, device="software")
    uv, up = np.zeros((4, 2)), np.tile([0.0, 0.0, 1.0], (4, 1))
    for arguments, message in (
        ((uv, up[:2], up), "wi has the shape (2, 3): use (4, 3)"),
        ((uv, up, up[0]), "wo has the shape (3,): use (4, 3)"),
        ((up, up, up), "uv has the shape (4, 3): use (4, 2)"),
    ):
        with pytest.raises(SettingsError, match=f"^{re.escape(message)}$"):
            material.response(*arguments)
    with pytest.raises(
        SettingsError, match=r"^mine gave an array of shape \(3,\): use \(512, 3\)$"
    ):
        api.verify(folder, [("mine", lambda *_: np.zeros(3))], device="software")


@pytest.mark.parametrize("kind", [str, Path])
def test_a_result_goes_to_the_folder_that_was_meant_when_the_bake_began(
    kind, tmp_path, monkeypatch
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    document = api.load(EXAMPLES / "brushed_steel.mtlx")
    tiny = {"resolution": 4, "iterations": 2, "batch": 64}
    documents = iter([document])
    events = api.bake(documents, kind("out"), device="software", preset="draft", **tiny)
    next(events)
    monkeypatch.chdir(elsewhere)
    *_, finished = events
    assert Path(finished.result) == tmp_path / "out" / "brushed_steel.vdg"
    assert api.open_bundle(finished.result).manifest.name == "brushed_steel"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["elsewhere", "out"]
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["brushed_steel.vdg"]


def test_one_folder_to_search_is_a_folder_and_not_its_letters(tmp_path):
    """A text is a sequence as well, and `/` would let everything in."""
    for folder in (str(tmp_path / "a" / "b"), tmp_path / "a" / "b"):
        text = (EXAMPLES / "brushed_steel.mtlx").read_text()
        for document in (
            api.load(EXAMPLES / "brushed_steel.mtlx", folder),
            api.parse(text, folder),
        ):
            assert Path(folder) in document.search.folders
            assert not document.search.for_includes().allows(Path("/elsewhere"))


def test_a_path_in_the_place_of_a_document_is_told_to_be_loaded(baked, tmp_path):
    path = EXAMPLES / "brushed_steel.mtlx"
    document, events = baked
    finished = events[-1]
    tiny = {"resolution": 4, "iterations": 2, "batch": 64, "device": "software"}
    message = rf"^{re.escape(str(path))}: is not an open document: load\(\) it first$"
    for wrong in (str(path), path):
        for several in (wrong, [document, wrong]):
            with pytest.raises(DocumentError, match=message):
                api.bake(several, tmp_path, preset="draft", **tiny)
        with pytest.raises(DocumentError, match=message):
            api.verify(finished.result, source=wrong, device="software")


def test_settings_are_changed_by_name_and_those_of_draws_one_by_one(baked, tmp_path):
    document, events = baked
    draw = api.open_bundle(events[-1].result).manifest.source["settings"]["draw"]
    expected = require_recipe("draft", "numpy").largest.draw
    assert draw["coarse_share"] == 0.5
    assert draw["coarse_places"] == expected.coarse_places
    for wrong, message in (
        ({"itterations": 3}, "settings itterations are not known: use activation, batch"),
        ({"draw": {"share": 1}}, "settings of draw share are not known: use"),
    ):
        with pytest.raises(SettingsError, match=message):
            api.bake(document, tmp_path, **wrong, device="software")


A_PATH, A_TEXT = "use a path, as a text or a pathlib.Path", "use a text"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"folder": None}, f"folder is None: {A_PATH}"),
        ({"name": Path("tray")}, f"name is {Path('tray')!r}: {A_TEXT}"),
        ({"preset": ["draft"]}, f"preset is ['draft']: {A_TEXT}"),
        ({"material": 3}, f"material is 3: {A_TEXT}"),
        ({"device": 3}, "device 3 is not known: choose one of auto, "),
        ({"control": "stop"}, "control is 'stop': use a BakeControl"),
        ({"live": 3}, f"live is 3: {A_TEXT}"),
        ({"live": "wetness"}, "live input 'wetness': use NAME=LOW..HIGH"),
        ({"draw": "x"}, "draw is 'x': use a table, such as {'pairs': 2}"),
        ({"documents": None}, "None: is not an open document: load() it first"),
        ({"documents": 3}, "3: is not an open document: load() it first"),
    ],
)
def test_what_is_of_another_kind_is_refused_by_name(wrong, told, tmp_path):
    arguments = {
        "documents": api.load(EXAMPLES / "brushed_steel.mtlx"),
        "folder": tmp_path,
        "device": "software",
        "preset": "draft",
        **wrong,
    }
    with pytest.raises(VerdigrisError, match=f"^{re.escape(told)}"):
        list(api.bake(**arguments))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("called", "told"),
    [
        (lambda: api.load(3), f"path is 3: {A_PATH}"),
        (lambda: api.load(b"tray.mtlx"), f"path is b'tray.mtlx': {A_PATH}"),
        (lambda: api.load("tray.mtlx", [3]), f"search_paths is 3: {A_PATH}"),
        (lambda: api.parse(b"<materialx/>"), f"text is b'<materialx/>': {A_TEXT}"),
        (lambda: api.open_bundle(None), f"path is None: {A_PATH}"),
        (lambda: api.open_scene(3), f"path is 3: {A_PATH}"),
        (lambda: api.verify(3), f"bundle is 3: {A_PATH}"),
        (lambda: api.verify("tray.vdg", source="tray.mtlx"), "tray.mtlx: is not an open document"),
        (lambda: api.evaluate(None), f"bundle is None: {A_PATH}"),
    ],
)
def test_so_it_is_in_the_other_calls(called, told):
    with pytest.raises(VerdigrisError, match=f"^{re.escape(told)}"):
        called()


def test_a_path_may_be_of_any_class_that_says_it_is_one(tmp_path):
    class Asset:
        def __fspath__(self):
            return str(EXAMPLES / "brushed_steel.mtlx")

    assert api.load(Asset()).require_material().name == "brushed_steel"
    assert api.load(Asset(), Path(EXAMPLES)).require_material().name == "brushed_steel"


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that a process stands in")
def test_a_working_folder_that_is_gone_is_told_and_needed_by_nothing_else(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    path = EXAMPLES / "brushed_steel.mtlx"
    document = api.load(path)
    tiny = {"resolution": 4, "iterations": 2, "batch": 64, "device": "software"}
    for wrong in (
        lambda: api.load(path, search_paths="textures"),
        lambda: api.parse(path.read_text(), search_paths=["textures"]),
        lambda: api.bake(document, ".", **tiny),
        lambda: api.load("tray.mtlx"),
        lambda: api.open_bundle("tray.vdg"),
        lambda: api.open_scene("set.vdg"),
        lambda: api.verify("tray.vdg"),
        lambda: api.evaluate("tray.vdg"),
    ):
        with pytest.raises(VerdigrisError, match=r"^the working folder was removed: change to"):
            wrong()
    *_, finished = api.bake(document, tmp_path, preset="draft", **tiny)
    assert api.open_bundle(finished.result).manifest.name == "brushed_steel"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DocumentError, match=r"^tray\.mtlx: there is no such file$"):
        api.load("tray.mtlx")
    # of something else the system's word is left
    with pytest.raises(FileNotFoundError), explain_missing_folder():
        (tmp_path / "nothing").read_text()
