"""`verdigris bake --if-changed`: bakes what is not up to date, and continues what was cut off."""

import json
import shutil

import pytest

from verdigris.core.baking.prepare import Prepared
from verdigris.core.baking.state.options import BakeOptions
from verdigris.core.base.errors import DeviceError
from verdigris.core.cli.commands import bake as command
from verdigris.core.progress import Started, Warning
from verdigris.core.settings.presets import Recipe

from ..baking.bakes import CHALK, TINY, chalk_teacher, cut_off
from ..in_process import run_command
from ..small_endings import SMALL_ENDINGS

SMALL = (
    *("--device", "software", "--resolution", 8, "--iterations", 4),
    *("--set", "network=2x16", "--set", "batch=64", "--set", "starts=1"),
)
TWO = CHALK.format(name="lime").replace('name="d"', 'name="e"').replace('name="s"', 'name="t"')


@pytest.fixture(scope="module")
def baked(tmp_path_factory):
    """A folder with a document and its bundle."""
    folder = tmp_path_factory.mktemp("baked")
    (folder / "chalk.mtlx").write_text(CHALK.format(name="chalk"))
    code, _, errors = bake(folder)
    assert code == 0, errors
    return folder


def bake(folder, *arguments, patches=SMALL_ENDINGS):
    given = ("bake", folder / "chalk.mtlx", *SMALL, "-o", folder, "--if-changed", *arguments)
    return run_command(given, *patches)


def bakes(folder, *arguments):
    """Whether the command would bake: it opens a device."""

    def open_device(_):
        raise DeviceError("it bakes")

    code, out, errors = bake(folder, *arguments, patches=[(command, "open_device", open_device)])
    assert (code, "is up to date" in out, "it bakes" in errors) in (
        (0, True, False),
        (1, False, True),
    ), errors
    return code == 1


def test_the_same_again_bakes_nothing_and_says_so(baked):
    before = (baked / "chalk.vdg" / "manifest.json").stat().st_mtime_ns
    code, out, _ = bake(baked, "--json", patches=())
    bundle = str(baked / "chalk.vdg")
    assert json.loads(out) == {"event": "up_to_date", "results": [bundle], "textures": [{}]}
    assert bake(baked, "--quiet", patches=()) == (0, f"{bundle}\n", "")
    assert (code, (baked / "chalk.vdg" / "manifest.json").stat().st_mtime_ns) == (0, before)


@pytest.mark.parametrize(
    "change",
    [
        ("--seed", 7),
        ("--resolution", 16),
        ("--preset", "standard"),
        ("--name", "other"),
        ("--time-limit", 3),
        ("--target-error", 0.1),
        ("--directions", "grazing"),
        ("--trainer", "tensor"),
        ("--viewport-textures",),
        ("--live", "d/roughness=0..1"),
    ],
    ids=lambda change: change[0],
)
def test_another_request_bakes(change, baked):
    assert bakes(baked, *change)


def test_another_document_or_importance_map_bakes(baked, tmp_path):
    assert not bakes(baked)
    weights = tmp_path / "weights.npy"
    import numpy as np

    np.save(weights, np.ones((4, 4), np.float32))
    assert bakes(baked, "--importance", weights)
    text = (baked / "chalk.mtlx").read_text()
    try:
        (baked / "chalk.mtlx").write_text(text.replace("0.8", "0.7"))
        assert bakes(baked)
    finally:
        (baked / "chalk.mtlx").write_text(text)


def test_other_live_inputs_bake(baked, tmp_path):
    for each in ("chalk.mtlx", "chalk.vdg"):
        copied = shutil.copytree if (baked / each).is_dir() else shutil.copy
        copied(baked / each, tmp_path / each)
    path = tmp_path / "chalk.vdg" / "manifest.json"
    manifest = json.loads(path.read_text())
    # what a bake with this live input records
    manifest["source"]["live"] = ["d/roughness=0..1@0"]
    manifest["source"]["settings"]["draw"]["live_inputs"] = 1
    path.write_text(json.dumps(manifest))
    # the document's value is the default
    for same in ("d/roughness=0..1", "d/roughness=0..1.0@0"):
        assert not bakes(tmp_path, "--live", same)
    for other in ("0..0.5", "0..1@0.5", "0..1:4"):
        assert bakes(tmp_path, "--live", f"d/roughness={other}")
    assert bakes(tmp_path)


def test_several_materials_are_wrong_usage(tmp_path):
    first, second = tmp_path / "chalk.mtlx", tmp_path / "lime.mtlx"
    first.write_text(CHALK.format(name="chalk"))
    second.write_text(TWO)
    code, _, errors = run_command(["bake", first, second, *SMALL, "--if-changed"])
    assert code == 2 and "needs one material, and 2 are chosen" in " ".join(errors.split())


@pytest.mark.usefixtures("small_endings")
def test_a_bake_that_was_cut_off_is_continued_and_a_bad_checkpoint_is_not(tmp_path):
    teachers = [chalk_teacher()]
    last, _ = cut_off(teachers, tmp_path)
    options = BakeOptions(name="out", folder=tmp_path, trainer="numpy")
    prepared = Prepared(teachers, Recipe.of(TINY), options)
    events = prepared.continued()
    (started,) = [each for each in take_until(events, Started) if isinstance(each, Started)]
    assert started.step == last.step > 0
    events.close()
    (tmp_path / "out.bake.npz").write_bytes(b"not a checkpoint")
    events = prepared.continued()
    *before, started = take_until(events, Started)
    assert started.step == 0
    assert any(each.text.startswith("starts again: ") for each in before if type(each) is Warning)
    events.close()


def take_until(events, kind):
    found = []
    for event in events:
        found.append(event)
        if isinstance(event, kind):
            return found
    raise AssertionError(found)
