"""Which checkpoint a bake goes on from, and what it says of one that it cannot go on from."""

import re
from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.state import checkpoint
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DocumentError
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import CheckpointError
from verdigris.core.pictures.picture_files import encode_png
from verdigris.core.progress.events import Checkpointed, Started, Step, Warning

from .bakes import TINY, plain_teacher, run

NAME = "clay.bake.npz"
OTHERWISE = ": use the same, or bake without --resume"
TEXTURED = """<materialx version="1.39"><image name="i" type="color3">
<input name="file" type="filename" value="tile.png"/></image>
<standard_surface name="s" type="surfaceshader"><input name="base_color" type="color3"
nodename="i"/></standard_surface><surfacematerial name="tile" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="s"/></surfacematerial></materialx>"""


@pytest.fixture(scope="module")
def chalk():
    return plain_teacher("0.9, 0.9, 0.9", "chalk")


def cut_off(teachers, folder, settings=TINY, **options):
    """Leaves a checkpoint, and tells its step and what was warned of before."""
    options = {"name": "clay", "trainer": "numpy", "checkpoint_seconds": 0.0, **options}
    warned = []
    events = bake(teachers, settings, BakeOptions(folder=folder, **options))
    for event in events:
        if isinstance(event, Warning):
            warned.append(event.text)
        if isinstance(event, Checkpointed):
            break
    events.close()
    return event.step, warned


def refusal(teachers, folder, settings=TINY, **options):
    """What is said of the checkpoint, without its path and the way out."""
    with pytest.raises(CheckpointError) as caught:
        run(teachers, folder, settings, resume=True, **{"name": "clay", **options})
    told = str(caught.value)
    assert told.startswith(f"{folder / NAME}: ") and told.endswith(OTHERWISE)
    return told.removeprefix(f"{folder / NAME}: ").removesuffix(OTHERWISE)


def states(folder):
    return sorted(path.name for path in folder.glob("*.npz"))


def test_a_bake_of_several_is_gone_on_with_after_one_of_its_first_material(clay, chalk, tmp_path):
    """The one between has the same name, and begins afresh."""
    both, (folder, whole) = [clay, chalk], (tmp_path / "cut", tmp_path / "whole")
    step, _ = cut_off(both, folder)
    source = checkpoint.load(folder / NAME).facts["source"]
    alone = run([clay], folder, name="clay")
    warned = [event.text for event in alone if isinstance(event, Warning)]
    assert warned == [
        f"{folder / NAME}: is the checkpoint of clay of clay, chalk of chalk: it is kept as "
        f"clay.{source[:8]}.bake.npz, where a bake of the same with --resume finds it"
    ]
    assert states(folder) == [f"clay.{source[:8]}.bake.npz"]
    resumed = run(both, folder, name="clay", resume=True)
    assert resumed[0].step == step
    assert not [event for event in resumed if isinstance(event, Warning)]
    assert states(folder) == []
    run(both, whole, name="clay")
    for name in ("clay", "chalk"):
        found, wanted = (open_bundle(each / f"{name}.vdg").parameters() for each in (folder, whole))
        np.testing.assert_array_equal(found.latents, wanted.latents)


def test_two_bakes_of_one_name_that_are_cut_off_in_turn_keep_both_checkpoints(
    clay, chalk, tmp_path
):
    first, _ = cut_off([clay, chalk], tmp_path)
    second, warned = cut_off([clay], tmp_path)
    assert len(warned) == 1 and len(states(tmp_path)) == 2
    resumed = run([clay, chalk], tmp_path, name="clay", resume=True)
    assert resumed[0].step == first
    # the other one made room, and is found again
    assert len(states(tmp_path)) == 1
    assert run([clay], tmp_path, name="clay", resume=True)[0].step == second
    assert states(tmp_path) == []


def test_a_checkpoint_of_the_same_materials_is_replaced_without_a_word(clay, chalk, tmp_path):
    cut_off([clay, chalk], tmp_path)
    assert cut_off([clay, chalk], tmp_path, replace(TINY, seed=1))[1] == []
    cut_off([plain_teacher("0.1, 0.1, 0.9")], tmp_path)
    assert cut_off([clay], tmp_path)[1] == []
    # that of both, and that of the clay that is
    assert len(states(tmp_path)) == 2


def test_a_bake_that_begins_afresh_leaves_no_checkpoint_of_its_own_aside(clay, chalk, tmp_path):
    cut_off([clay, chalk], tmp_path)
    run([clay], tmp_path, name="clay")
    run([clay, chalk], tmp_path, name="clay")
    assert states(tmp_path) == []


def test_a_checkpoint_that_cannot_be_kept_aside_is_left_and_told(clay, chalk, tmp_path):
    cut_off([clay, chalk], tmp_path)
    before = (tmp_path / NAME).read_bytes()
    source = checkpoint.load(tmp_path / NAME).facts["source"]
    (tmp_path / f"clay.{source[:8]}.bake.npz").mkdir()
    told = re.escape(f"{NAME}: cannot be kept aside (Is a directory): choose another --name")
    with pytest.raises(CheckpointError, match=told):
        run([clay], tmp_path, name="clay")
    assert (tmp_path / NAME).read_bytes() == before


def test_a_scene_s_bake_whose_materials_have_changed_leaves_nothing_aside(clay, chalk, tmp_path):
    cut_off([clay, chalk], tmp_path, names=("a", "b"))
    assert cut_off([clay], tmp_path, names=("a",))[1] == []
    assert states(tmp_path) == [NAME]


def test_a_bake_in_another_order_names_the_checkpoint_and_its_order(clay, chalk, tmp_path):
    cut_off([clay, chalk], tmp_path)
    (tmp_path / "broken.bake.npz").write_bytes(b"PK, and nothing more")
    _, warned = cut_off([chalk, clay], tmp_path, name="chalk", resume=True)
    assert warned == [
        "there is no checkpoint to go on from: the bake starts afresh; "
        f"{tmp_path / NAME} is of the same materials: give them in its order to go on "
        "(clay of clay, chalk of chalk)"
    ]


def test_a_checkpoint_of_another_name_is_told_with_that_name(clay, tmp_path):
    cut_off([clay], tmp_path)
    _, warned = cut_off([clay], tmp_path, name="pot", resume=True)
    assert warned == [
        "there is no checkpoint to go on from: the bake starts afresh; "
        f"{tmp_path / NAME} is of the same materials: go on from it with --name clay"
    ]


def test_a_checkpoint_that_is_kept_aside_is_told_with_what_has_changed(clay, chalk, tmp_path):
    cut_off([clay, chalk], tmp_path)
    run([clay], tmp_path, name="clay")
    (kept,) = states(tmp_path)
    changed = plain_teacher("0.1, 0.1, 0.9", "chalk")
    _, warned = cut_off([clay, changed], tmp_path, resume=True)
    assert warned == [
        "there is no checkpoint to go on from: the bake starts afresh; "
        f"{tmp_path / kept} was begun with other sources: chalk has changed"
    ]


def test_a_checkpoint_of_other_materials_is_refused_by_their_names(clay, chalk, tmp_path):
    cut_off([clay, chalk], tmp_path)
    told = refusal([clay], tmp_path)
    assert told == "is of clay of clay, chalk of chalk, not of clay of clay"
    told = refusal([chalk, clay], tmp_path)
    assert told == (
        "is of clay of clay, chalk of chalk in this order, not of chalk of chalk, clay of clay"
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seed": 3}, "seed 0, not 3"),
        (
            {"seed": 3, "resolution": 8, "draw": replace(TINY.draw, pairs=2)},
            "resolution 16, not 8; seed 0, not 3; draw.pairs 1, not 2",
        ),
        (
            {
                "network": "2x32",
                "activation": "leaky_relu",
                "resolution": 8,
                "iterations": 10,
                "seed": 3,
                "candidates": 2,
            },
            "network 2x16, not 2x32; activation silu, not leaky_relu; resolution 16, not 8; "
            "iterations 120, not 10; and 2 more",
        ),
        (
            {"draw": replace(TINY.draw, direction_table=((0.25, 0.5),) * 8)},
            "another draw.direction_table",
        ),
    ],
)
def test_other_settings_are_refused_with_what_they_were_and_are(clay, tmp_path, changes, told):
    cut_off([clay], tmp_path)
    assert refusal([clay], tmp_path, replace(TINY, **changes)) == f"was begun with {told}"


def test_places_that_are_asked_for_are_not_those_that_a_bake_chose(clay, tmp_path):
    cut_off([clay], tmp_path)
    wanted = replace(TINY, draw=replace(TINY.draw, finest_places=3))
    assert refusal([clay], tmp_path, wanted) == "was begun with draw.finest_places 1, not 3"


REPAIRED = replace(TINY, mend_at=(0.5,), average_at=0.25)


@pytest.fixture(scope="module")
def repaired(clay, tmp_path_factory):
    folder = tmp_path_factory.mktemp("repaired")
    run([clay], folder, REPAIRED, name="clay")
    return open_bundle(folder / "clay.vdg").parameters()


# before levels are averaged, before texels are mended, before latents are rounded
@pytest.mark.parametrize("boundary", [30, 60, 108])
def test_a_stop_between_two_parts_of_a_bake_leaves_a_checkpoint_of_it(
    boundary, clay, repaired, tmp_path
):
    control, options = BakeControl(), BakeOptions("clay", tmp_path, "numpy", checkpoint_seconds=1e6)
    for event in bake([clay], REPAIRED, options, control):
        if isinstance(event, Step) and event.step == boundary:
            control.stop()
    assert (event.step, event.stopped_by) == (boundary, "request")
    assert checkpoint.load(tmp_path / NAME).facts["step"] == boundary
    run([clay], tmp_path, REPAIRED, name="clay", resume=True)
    resumed = open_bundle(tmp_path / "clay.vdg").parameters()
    np.testing.assert_array_equal(repaired.latents, resumed.latents)
    np.testing.assert_array_equal(repaired.decoder, resumed.decoder)


def test_another_trainer_is_refused_with_what_it_was_and_is(clay, tmp_path):
    cut_off([clay], tmp_path)
    path = tmp_path / NAME
    saved = checkpoint.load(path)
    checkpoint.save(path, saved.parameters, {**saved.facts, "trainer": "tensor"}, saved.state)
    assert refusal([clay], tmp_path) == "was begun with the trainer tensor, not numpy"


def test_steps_that_a_time_limit_has_chosen_are_told_with_it(clay, tmp_path):
    cut_off([clay], tmp_path, replace(TINY, iterations=10**7), time_limit=100.0)
    told = refusal([clay], tmp_path, replace(TINY, iterations=10**7))
    assert re.fullmatch(
        r"was begun with a time limit of 100\.0 s, not none; iterations \d+, not 10000000", told
    )


def test_other_steps_than_were_asked_for_are_refused_within_a_time_limit_too(clay, tmp_path):
    wanted = replace(TINY, iterations=10**6)
    cut_off([clay], tmp_path, wanted, time_limit=100.0)
    told = refusal([clay], tmp_path, replace(wanted, iterations=2 * 10**6), time_limit=100.0)
    assert re.fullmatch(r"was begun with iterations \d+, not 2000000", told)
    options = BakeOptions("clay", tmp_path, "numpy", resume=True, time_limit=100.0)
    events = bake([clay], wanted, options)
    started = next(each for each in events if isinstance(each, Started))
    assert started.step > 0
    events.close()


def test_a_smooth_texture_is_gone_on_with_to_the_steps_that_it_gets(clay, tmp_path):
    settings = replace(TINY, smooth_share=0.5, mend_at=(0.5,))
    folder, whole = tmp_path / "cut", tmp_path / "whole"
    started, *_, finished = run([clay], whole, settings, name="clay")
    assert (started.steps, finished.step, finished.stopped_by) == (60, 60, "steps")
    cut_off([clay], folder, settings)
    started, *_, finished = run([clay], folder, settings, name="clay", resume=True)
    assert 0 < started.step < started.steps == 60 and finished.stopped_by == "steps"
    found, wanted = (open_bundle(each / "clay.vdg").parameters() for each in (folder, whole))
    np.testing.assert_array_equal(found.latents, wanted.latents)
    np.testing.assert_array_equal(found.decoder, wanted.decoder)


def test_within_a_time_limit_too(clay, tmp_path):
    wanted = replace(TINY, iterations=10**7, smooth_share=0.5)
    cut_off([clay], tmp_path, wanted, time_limit=100.0)
    facts = checkpoint.load(tmp_path / NAME).facts
    assert facts["settings"]["iterations"] < facts["wanted_steps"] == 5 * 10**6
    told = refusal([clay], tmp_path, replace(wanted, smooth_share=0.25), time_limit=100.0)
    assert re.fullmatch(
        r"was begun with iterations \d+, not 2500000; smooth_share 0\.5, not 0\.25", told
    )
    options = BakeOptions("clay", tmp_path, "numpy", resume=True, time_limit=100.0)
    events = bake([clay], wanted, options)
    assert next(each for each in events if isinstance(each, Started)).step > 0
    events.close()


def test_a_material_that_has_changed_is_refused_by_its_document(clay, tmp_path):
    cut_off([clay], tmp_path)
    told = refusal([plain_teacher("0.1, 0.1, 0.9")], tmp_path)
    assert told == "was begun with other sources: clay has changed"


def painted(folder, value):
    """The material after its texture was painted."""
    (folder / "tile.mtlx").write_text(TEXTURED)
    (folder / "tile.png").write_bytes(encode_png(np.full((4, 4, 3), value, np.float32)))
    return Teacher(load_document(folder / "tile.mtlx"), device=open_device("software"))


def test_a_texture_that_has_changed_is_refused_by_its_name(tmp_path):
    cut_off([painted(tmp_path, 0.2)], tmp_path)
    changed = painted(tmp_path, 0.7)
    assert refusal([changed], tmp_path) == "was begun with other sources: tile.png has changed"
    told = refusal([changed], tmp_path, importance=np.eye(4))
    assert told == ("was begun with other sources: tile.png has changed; it had no importance map")


def test_an_importance_map_that_has_changed_is_told(clay, tmp_path):
    cut_off([clay], tmp_path, importance=np.eye(4))
    for importance, told in (
        (np.eye(8), "the importance map has changed"),
        (None, "it had an importance map"),
    ):
        found = refusal([clay], tmp_path, importance=importance)
        assert found == f"was begun with other sources: {told}"


@pytest.mark.parametrize(
    ("left_out", "told"),
    [
        ((), "was begun with the same files by a version that compiles them otherwise"),
        (
            ("made_of", "importance"),
            "is of another material, texture or importance map than it is now",
        ),
    ],
)
def test_a_source_that_differs_for_no_reason_that_is_stored_is_told_so(
    clay, tmp_path, left_out, told
):
    """As of a checkpoint of a version before this one."""
    cut_off([clay], tmp_path)
    path = tmp_path / NAME
    saved = checkpoint.load(path)
    facts = {name: value for name, value in saved.facts.items() if name not in left_out}
    checkpoint.save(path, saved.parameters, {**facts, "source": "0" * 64}, saved.state)
    assert refusal([clay], tmp_path) == told


def test_a_texture_that_changes_before_a_bake_has_begun_is_not_passed_off_as_read(tmp_path):
    before, now = painted(tmp_path, 0.2), painted(tmp_path, 0.7)
    with pytest.raises(DocumentError, match="has changed since it was read") as failure:
        run([before], tmp_path)
    assert str(failure.value).startswith(f"{tmp_path / 'tile.png'}: ")
    assert not [*tmp_path.glob("*.vdg")]
    run([now], tmp_path)
