"""Which checkpoint a bake resumes from, and why it cannot resume from others."""

import json
import re
import shutil
import zipfile
import zlib
from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeOptions, bake
from verdigris.core.baking.state import checkpoint
from verdigris.core.baking.state.checkpoint import live_facts, material_facts, source_digest
from verdigris.core.baking.state.resume import changed_source
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DocumentError
from verdigris.core.material.live_inputs.live_input import parse_all_wanted
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.load.provenance import source_facts
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import CheckpointError
from verdigris.core.pictures.picture_files import encode_png
from verdigris.core.progress import Started, Step

from .. import bakes
from ..bakes import TINY, assert_same, baked, chalk_teacher, run, stop_at, warnings_of

NAME = "clay.bake.npz"
BRIEF = replace(TINY, iterations=40)
REMEDY = ": use the same, or bake without resuming"
TEXTURED = """<materialx version="1.39"><image name="i" type="color3">
<input name="file" type="filename" value="tile.png"/></image>
<oren_nayar_diffuse_bsdf name="d" type="BSDF"><input name="color" type="color3" nodename="i"/>
</oren_nayar_diffuse_bsdf><surface name="s" type="surfaceshader">
<input name="bsdf" type="BSDF" nodename="d"/></surface><surfacematerial name="tile" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="s"/></surfacematerial></materialx>"""


@pytest.fixture(scope="module")
def chalk():
    return chalk_teacher()


@pytest.fixture(scope="module")
def cut(clay, tmp_path_factory):
    """The checkpoint of clay: to be copied."""
    folder = tmp_path_factory.mktemp("cut")
    cut_off([clay], folder)
    return folder / NAME


@pytest.fixture(scope="module")
def cut_of_both(clay, chalk, tmp_path_factory):
    """The checkpoint of clay and chalk: to be copied."""
    folder = tmp_path_factory.mktemp("cut_of_both")
    cut_off([clay, chalk], folder)
    return folder / NAME


def cut_off(teachers, folder, settings=TINY, **options):
    """Leaves a checkpoint; its step and the warnings before it."""
    last, warned = bakes.cut_off(teachers, folder, settings, **{"name": "clay", **options})
    return last.step, warned


def refusal(teachers, folder, settings=TINY, **options):
    """The reason why a checkpoint is refused."""
    with pytest.raises(CheckpointError) as caught:
        run(teachers, folder, settings, resume=True, **{"name": "clay", **options})
    message = str(caught.value)
    assert message.startswith(f"{folder / NAME}: ") and message.endswith(REMEDY)
    return message.removeprefix(f"{folder / NAME}: ").removesuffix(REMEDY)


def states(folder):
    return sorted(path.name for path in folder.glob("*.npz"))


def test_a_bake_of_several_resumes_after_another_bake_of_its_name(clay, chalk, tmp_path):
    both, (folder, whole) = [clay, chalk], (tmp_path / "cut", tmp_path / "whole")
    step, _ = cut_off(both, folder, BRIEF)
    source = checkpoint.load(folder / NAME).facts["source"]
    alone = run([clay], folder, BRIEF, name="clay")
    assert warnings_of(alone) == [
        f"{folder / NAME}: is the checkpoint of clay of clay, chalk of chalk: it was renamed to "
        f"clay.{source[:8]}.bake.npz, where a bake of those materials finds it to resume"
    ]
    assert states(folder) == [f"clay.{source[:8]}.bake.npz"]
    resumed = run(both, folder, BRIEF, name="clay", resume=True)
    assert resumed[0].step == step
    assert not warnings_of(resumed)
    assert states(folder) == []
    run(both, whole, BRIEF, name="clay")
    for name in ("clay", "chalk"):
        assert_same(baked(folder, name), baked(whole, name))


def test_two_bakes_of_one_name_keep_both_checkpoints(clay, chalk, tmp_path):
    first, _ = cut_off([clay, chalk], tmp_path, BRIEF)
    second, warned = cut_off([clay], tmp_path, BRIEF)
    assert len(warned) == 1 and len(states(tmp_path)) == 2
    resumed = run([clay, chalk], tmp_path, BRIEF, name="clay", resume=True)
    assert resumed[0].step == first
    # the other one was renamed in its turn
    assert len(states(tmp_path)) == 1
    assert run([clay], tmp_path, BRIEF, name="clay", resume=True)[0].step == second
    assert states(tmp_path) == []


def test_a_checkpoint_of_the_same_materials_is_replaced(clay, chalk, cut_of_both, tmp_path):
    shutil.copy(cut_of_both, tmp_path)
    assert cut_off([clay, chalk], tmp_path, replace(TINY, seed=1))[1] == []
    cut_off([chalk_teacher("clay")], tmp_path)
    assert cut_off([clay], tmp_path)[1] == []
    # of both, and of the present clay
    assert len(states(tmp_path)) == 2


def test_a_bake_from_the_beginning_removes_its_renamed_checkpoint(clay, chalk, tmp_path):
    cut_off([clay, chalk], tmp_path, BRIEF)
    run([clay], tmp_path, BRIEF, name="clay")
    run([clay, chalk], tmp_path, BRIEF, name="clay")
    assert states(tmp_path) == []


def test_a_checkpoint_that_cannot_be_renamed_is_an_error(clay, chalk, cut_of_both, tmp_path):
    shutil.copy(cut_of_both, tmp_path)
    before = (tmp_path / NAME).read_bytes()
    source = checkpoint.load(tmp_path / NAME).facts["source"]
    (tmp_path / f"clay.{source[:8]}.bake.npz").mkdir()
    message = re.escape(f"{NAME}: cannot be renamed (Is a directory): choose another name")
    with pytest.raises(CheckpointError, match=message):
        run([clay], tmp_path, name="clay")
    assert (tmp_path / NAME).read_bytes() == before


def test_a_scene_s_bake_with_other_materials_renames_nothing(clay, chalk, tmp_path):
    cut_off([clay, chalk], tmp_path, names=("a", "b"))
    assert cut_off([clay], tmp_path, names=("a",))[1] == []
    assert states(tmp_path) == [NAME]


def test_a_bake_in_another_order_warns_of_the_order(clay, chalk, cut_of_both, tmp_path):
    shutil.copy(cut_of_both, tmp_path)
    (tmp_path / "broken.bake.npz").write_bytes(b"PK, and nothing more")
    _, warned = cut_off([chalk, clay], tmp_path, name="chalk", resume=True)
    assert warned == [
        "there is no checkpoint to resume: the bake starts from the beginning; "
        f"{tmp_path / NAME} has the same materials: give them in its order to "
        "resume (clay of clay, chalk of chalk)"
    ]


def test_a_checkpoint_of_another_name_is_named(clay, cut, tmp_path):
    shutil.copy(cut, tmp_path)
    _, warned = cut_off([clay], tmp_path, name="pot", resume=True)
    assert warned == [
        "there is no checkpoint to resume: the bake starts from the beginning; "
        f"{tmp_path / NAME} has the same materials: resume it with the name clay"
    ]


def test_a_renamed_checkpoint_of_changed_materials_is_named(clay, chalk, cut_of_both, tmp_path):
    shutil.copy(cut_of_both, tmp_path)
    run([clay], tmp_path, BRIEF, name="clay")
    (kept,) = states(tmp_path)
    changed = chalk_teacher(colour="0.9, 0.9, 0.9")
    _, warned = cut_off([clay, changed], tmp_path, resume=True)
    assert warned == [
        "there is no checkpoint to resume: the bake starts from the beginning; "
        f"{tmp_path / kept} began with other sources: chalk has changed"
    ]


def test_a_checkpoint_of_other_materials_is_refused_with_their_names(
    clay, chalk, cut_of_both, tmp_path
):
    shutil.copy(cut_of_both, tmp_path)
    reason = refusal([clay], tmp_path)
    assert reason == "has clay of clay, chalk of chalk, not clay of clay"
    reason = refusal([chalk, clay], tmp_path)
    assert reason == (
        "has clay of clay, chalk of chalk in this order, not chalk of chalk, clay of clay"
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
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
                "starts": 2,
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
def test_other_settings_are_refused_with_old_and_new_values(clay, cut, tmp_path, changes, reason):
    shutil.copy(cut, tmp_path)
    assert refusal([clay], tmp_path, replace(TINY, **changes)) == f"began with {reason}"


def test_a_bake_that_is_stopped_between_two_phases_resumes_exactly(clay, whole_clay, tmp_path):
    boundary = 108

    def is_before_rounding(event):
        return isinstance(event, Step) and event.step == boundary

    options = {"name": "clay", "checkpoint_seconds": 1e6}
    *_, finished = stop_at(is_before_rounding, [clay], tmp_path, **options)
    assert (finished.step, finished.stopped_by) == (boundary, "request")
    assert checkpoint.load(tmp_path / NAME).facts["step"] == boundary
    run([clay], tmp_path, name="clay", resume=True)
    assert_same(baked(tmp_path, "clay"), baked(whole_clay))


def test_another_trainer_is_refused(clay, cut, tmp_path):
    shutil.copy(cut, tmp_path)
    path = tmp_path / NAME
    saved = checkpoint.load(path)
    checkpoint.save(path, saved.parameters, {**saved.facts, "trainer": "tensor"}, saved.state)
    assert refusal([clay], tmp_path) == "began with the trainer tensor, not numpy"


def test_steps_that_a_time_limit_chose_are_refused_with_the_limit(clay, tmp_path):
    cut_off([clay], tmp_path, replace(TINY, iterations=10**7), time_limit=100.0)
    reason = refusal([clay], tmp_path, replace(TINY, iterations=10**7))
    assert re.fullmatch(
        r"began with a time limit of 100\.0 s, not none; iterations \d+, not 10000000", reason
    )


def test_other_requested_steps_are_refused_with_a_time_limit_too(clay, tmp_path):
    wanted = replace(TINY, iterations=10**6)
    cut_off([clay], tmp_path, wanted, time_limit=100.0)
    reason = refusal([clay], tmp_path, replace(wanted, iterations=2 * 10**6), time_limit=100.0)
    assert re.fullmatch(r"began with iterations \d+, not 2000000", reason)
    options = BakeOptions("clay", tmp_path, "numpy", resume=True, time_limit=100.0)
    events = bake([clay], wanted, options)
    started = next(each for each in events if isinstance(each, Started))
    assert started.step > 0
    events.close()


def test_a_changed_material_is_refused_with_its_document(clay, cut, tmp_path):
    shutil.copy(cut, tmp_path)
    reason = refusal([chalk_teacher("clay")], tmp_path)
    assert reason == "began with other sources: clay has changed"


def painted(folder, value):
    """A material whose texture has this value."""
    (folder / "tile.mtlx").write_text(TEXTURED)
    (folder / "tile.png").write_bytes(encode_png(np.full((4, 4, 3), value, np.float32)))
    return Teacher(load_document(folder / "tile.mtlx"), device=open_device("software"))


def test_a_changed_texture_is_refused_with_its_name(tmp_path):
    cut_off([painted(tmp_path, 0.2)], tmp_path)
    changed = painted(tmp_path, 0.7)
    assert refusal([changed], tmp_path) == "began with other sources: tile.png has changed"
    reason = refusal([changed], tmp_path, importance=np.eye(4))
    assert reason == ("began with other sources: tile.png has changed; it had no importance map")


def test_a_changed_importance_map_is_refused(clay, tmp_path):
    cut_off([clay], tmp_path, importance=np.eye(4))
    for importance, reason in (
        (np.eye(8), "the importance map has changed"),
        (None, "it had an importance map"),
    ):
        found = refusal([clay], tmp_path, importance=importance)
        assert found == f"began with other sources: {reason}"


@pytest.mark.parametrize(
    ("left_out", "reason"),
    [
        ((), "began with the same files, in a version that generates other code from them"),
        (("made_of", "importance"), "began with another material, texture or importance map"),
    ],
)
def test_a_source_that_differs_for_an_unknown_reason_is_refused(
    clay, cut, tmp_path, left_out, reason
):
    """As from a checkpoint of an older version."""
    shutil.copy(cut, tmp_path)
    path = tmp_path / NAME
    saved = checkpoint.load(path)
    facts = {name: value for name, value in saved.facts.items() if name not in left_out}
    checkpoint.save(path, saved.parameters, {**facts, "source": "0" * 64}, saved.state)
    assert refusal([clay], tmp_path) == reason


def test_a_texture_that_changes_before_the_bake_begins_is_an_error(tmp_path):
    before, now = painted(tmp_path, 0.2), painted(tmp_path, 0.7)
    with pytest.raises(DocumentError, match="has changed since it was read") as failure:
        run([before], tmp_path)
    assert str(failure.value).startswith(f"{tmp_path / 'tile.png'}: ")
    assert not [*tmp_path.glob("*.vdg")]
    run([now], tmp_path, BRIEF)


def test_other_live_inputs_are_another_source(tmp_path):
    options = BakeOptions(name="clay", folder=tmp_path)
    before = living_chalk("d/roughness=0..1")
    facts = {**material_facts([before]), "live": [live_facts(before)]}
    facts["made_of"] = [source_facts(before.document, before.material)]
    digests = {source_digest([before], None)}
    for number, now in enumerate(("0..0.5", "0..1@0.25", "0..1:4"), 2):
        after = living_chalk(f"d/roughness={now}")
        digests.add(source_digest([after], None))
        assert len(digests) == number
        *_, shown = live_facts(after)
        assert changed_source(facts, [after], options) == (
            "began with other sources: its live inputs were d/roughness=0..1@0, and are now "
            + shown
        )
    # a still material has the digest that it had before there were live inputs
    assert live_facts(chalk_teacher()) == []


def living_chalk(*live):
    """Chalk with these live inputs."""
    document = chalk_teacher().document
    return Teacher(document, device=open_device("software"), live=parse_all_wanted(live))


def test_facts_that_inflate_or_are_too_long_are_not_read(tmp_path, monkeypatch):
    path = tmp_path / NAME
    text = json.dumps({"version": checkpoint.VERSION, "padding": " " * (1 << 20)})
    facts = {"facts": np.frombuffer(text.encode(), np.uint8)}
    np.savez(path, **facts)
    assert checkpoint.find_facts(path)
    np.savez_compressed(path, **facts)
    assert checkpoint.find_facts(path) is None
    np.savez(path, **facts)
    monkeypatch.setattr(checkpoint, "_LARGEST_FACTS", 1 << 20)
    assert checkpoint.find_facts(path) is None


@pytest.mark.parametrize("name", ["facts.npy", "facts"])
def test_an_entry_that_is_no_array_is_not_read(tmp_path, name):
    path = tmp_path / NAME
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, b'{"version": 3}')
    assert checkpoint.find_facts(path) is None
    with pytest.raises(CheckpointError, match=r"facts cannot be read .it is not an array"):
        checkpoint.load(path)


def test_an_array_alone_is_no_checkpoint(tmp_path):
    path = tmp_path / NAME
    with path.open("wb") as file:
        np.save(file, np.zeros(3))
    assert checkpoint.find_facts(path) is None


def test_a_bake_goes_on_with_the_weights_of_its_checkpoint_and_says_so(clay, chalk, tmp_path):
    painted = np.full((24, 40), 1, np.float32)
    painted[3:9, 5:20] = 4
    folder, whole = tmp_path / "cut", tmp_path / "whole"
    step, _ = cut_off([clay], folder, BRIEF, importance=painted)
    np.testing.assert_array_equal(checkpoint.load(folder / NAME).importance, painted)
    run([clay], whole, BRIEF, name="clay", importance=painted)
    for number, since in enumerate((None, np.eye(8, dtype=np.float32))):
        again = tmp_path / str(number)
        shutil.copytree(folder, again)
        resumed = run(
            [clay], again, BRIEF, name="clay", resume=True, importance=since, keeps_weights=True
        )
        assert resumed[0].step == step
        (told,) = warnings_of(resumed)
        assert told.startswith("the bake continues with the weights that it had when it stopped")
        assert ("painted since then" in told) == (since is not None)
        assert_same(baked(again, "clay"), baked(whole, "clay"))

    # also after another bake has used its name
    cut_off([chalk], folder, BRIEF)
    assert run([clay], folder, BRIEF, name="clay", resume=True, keeps_weights=True)[0].step == step

    # a bake that began without weights has none; with equal ones nothing is reported
    cut_off([clay], tmp_path / "plain", BRIEF)
    shutil.copytree(tmp_path / "plain", tmp_path / "equal")
    options = {"name": "clay", "resume": True, "keeps_weights": True}
    resumed = run([clay], tmp_path / "plain", BRIEF, **options, importance=painted)
    assert resumed[0].step == step and len(warnings_of(resumed)) == 1
    assert not warnings_of(run([clay], tmp_path / "equal", BRIEF, **options))


def test_weights_that_an_older_checkpoint_does_not_store_and_damaged_ones_are_named(clay, tmp_path):
    cut_off([clay], tmp_path, importance=np.eye(4))
    path = tmp_path / NAME
    saved = checkpoint.load(path)
    shape = saved.facts.pop(checkpoint.MAP_SHAPE)
    checkpoint.save(path, saved.parameters, saved.facts, saved.state)
    reason = refusal([clay], tmp_path, keeps_weights=True)
    assert reason.endswith("did not store in its checkpoint")
    # with the same weights it goes on
    options = BakeOptions(
        "clay", tmp_path, trainer="numpy", resume=True, importance=np.eye(4), keeps_weights=True
    )
    events = bake([clay], TINY, options)
    assert next(events).step > 0
    events.close()
    for packed in (b"no map", zlib.compress(bytes(64)), zlib.compress(bytes(8))):
        damaged = checkpoint.PackedMap(tuple(shape), packed)
        checkpoint.save(path, saved.parameters, saved.facts, saved.state, damaged)
        with pytest.raises(CheckpointError, match="importance cannot be read"):
            checkpoint.load(path)
