"""What a bake says of its materials, and how it fails."""

import itertools
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.finish.notices import cut_glow, notices, notices_of_relief
from verdigris.core.baking.state import checkpoint, trainers
from verdigris.core.baking.state.outputs import make_folder, unique_names
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DeviceError, DocumentError, SettingsError
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.geometry.teacher_relief import find_relief
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import CheckpointError
from verdigris.core.progress import Checkpointed, Phase, Started, Step, Warning
from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer

from .bakes import TINY, assert_same, baked, cut_off

TEXT = """<materialx version="1.39"><standard_surface name="s" type="surfaceshader">{inputs}
</standard_surface><surfacematerial name="{name}" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="s"/></surfacematerial></materialx>"""
BRIEF = replace(TINY, iterations=20)
# Little to compile.
CHALK = """<materialx version="1.39"><oren_nayar_diffuse_bsdf name="d" type="BSDF">
<input name="color" type="color3" value="0.1, 0.2, 0.8"/></oren_nayar_diffuse_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>
<surfacematerial name="clay" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""
POWDER = """<materialx version="1.39"><oren_nayar_diffuse_bsdf name="d" type="BSDF">
<input name="color" type="color3" value="{colour}"/></oren_nayar_diffuse_bsdf>
<uniform_edf name="e" type="EDF"><input name="color" type="color3" value="{emission}"/>
</uniform_edf><surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/>
<input name="edf" type="EDF" nodename="e"/><input name="opacity" type="float" value="{opacity}"/>
</surface><surfacematerial name="{name}" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="s"/></surfacematerial></materialx>"""


def make_teacher(name, **inputs):
    lines = [
        f'<input name="{key}" type="{"color3" if "," in value else "float"}" value="{value}"/>'
        for key, value in inputs.items()
    ]
    document = parse_document(TEXT.format(inputs="".join(lines), name=name), name=name)
    return Teacher(document, device=open_device("software"))


def powder(name, colour="0.7, 0.3, 0.1", emission="0, 0, 0", opacity="1"):
    """Diffuse and luminous, with less to compile."""
    text = POWDER.format(name=name, colour=colour, emission=emission, opacity=opacity)
    return Teacher(parse_document(text, name=name), device=open_device("software"))


def run(teachers, folder, settings=TINY, **options):
    return list(
        bake(teachers, settings, BakeOptions(**{"name": "out", "folder": folder, **options}))
    )


@pytest.fixture(scope="module")
def cut(clay, tmp_path_factory):
    """The checkpoint of a bake that was cut off."""
    folder = tmp_path_factory.mktemp("cut")
    cut_off([clay], folder)
    return folder / "out.bake.npz"


def resume_changed(teacher, cut, folder, change):
    """Goes on from a checkpoint that is not as the bake that was cut off has left it."""
    saved = checkpoint.load(cut)
    change(saved)
    checkpoint.save(folder / cut.name, saved.parameters, saved.facts, saved.state)
    run([teacher], folder, trainer="numpy", resume=True)


def warnings(events):
    return [event.text for event in events if isinstance(event, Warning)]


def test_a_material_that_is_kept_whole_is_baked_without_a_warning(clay, tmp_path):
    assert warnings(run([clay], tmp_path)) == []


def test_materials_that_share_a_decoder_share_the_index_of_light_from_below():
    glass, clay = make_teacher("glass", transmission="1"), make_teacher("clay", base="1")
    dense = make_teacher("dense", transmission="1", specular_IOR="1.8")
    assert trainers.index_of_students([clay, glass]) == 1.5
    with pytest.raises(SettingsError, match=r"glass has 1.5, dense has 1.8: bake them one by one"):
        trainers.index_of_students([glass, dense])


def test_every_part_that_is_dropped_or_approximated_is_named_before_the_first_step(tmp_path):
    skin = make_teacher(
        "skin",
        base_color="0.5, 0.2, 0.1",
        subsurface="0.4",
        transmission="0.2",
        transmission_dispersion="1",
    )
    baking = bake([skin], BRIEF, BakeOptions("out", tmp_path))
    events = [*itertools.takewhile(lambda event: not isinstance(event, Phase), baking)]
    baking.close()
    assert isinstance(events[0], Started)
    told = [event.text for event in events[1:3]]
    assert told[0].startswith("skin: subsurface is approximated: as diffuse light")
    assert told[1].startswith("skin: dispersion is dropped: all colours are refracted alike")
    assert warnings(events) == told


def test_a_material_that_reflects_nothing_is_told_so(clay, tmp_path):
    soot = powder("soot", colour="0, 0, 0")
    told = warnings(run([clay, soot], tmp_path, BRIEF))
    assert len(told) == 1
    assert re.match(r"soot: reflects only 0% of the light", told[0])
    assert told[0].endswith(
        "the result is black. A result that is not a number, as after a division by 0, counts as "
        "black."
    )


def test_what_is_cut_away_everywhere_is_told_so():
    told = warnings(notices(powder("hole", opacity="0"), "hole"))
    assert any(
        "reflects only" in text and "Its opacity is 0 everywhere in the unit square" in text
        for text in told
    )


def test_a_displacement_without_its_image_is_told_once():
    text = """<materialx version="1.39">
<image name="h" type="float"><input name="file" type="filename" value="lost.png"/></image>
<displacement name="d" type="displacementshader">
<input name="displacement" type="float" nodename="h"/></displacement>
<standard_surface name="s" type="surfaceshader"/>
<surfacematerial name="rock" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="s"/>
<input name="displacementshader" type="displacementshader" nodename="d"/>
</surfacematerial></materialx>"""
    lost = Teacher(parse_document(text))
    relief = find_relief(lost, 32)
    [told] = warnings([*notices(lost, "rock"), *notices_of_relief(lost, relief.notes, "rock")])
    assert relief.is_lost and relief.heights is None
    assert told.startswith("rock: displacement is dropped: ") and "'lost.png'" in told
    [told] = warnings(notices_of_relief(powder("flat"), ["the displacement is .5"], "flat"))
    assert told == "flat: the displacement is .5"


def test_a_displacement_that_is_the_same_everywhere_is_ignored_and_says_so(tmp_path):
    text = CHALK.replace(
        "</surfacematerial>",
        '<input name="displacementshader" type="displacementshader" nodename="b"/>'
        '</surfacematerial><displacement name="b" type="displacementshader">'
        '<input name="displacement" type="float" value="0.25"/></displacement>',
    )
    raised = Teacher(parse_document(text), device=open_device("software"))
    told = warnings(bake([raised], BRIEF, BakeOptions("raised", tmp_path)))
    how = "the displacement is 0.25 everywhere and left out: move the mesh instead"
    assert told == [f"clay: {how}"]
    manifest = open_bundle(tmp_path / "raised.vdg").manifest
    assert manifest.report["ignored"] == [{"name": "displacement", "how": how}]
    assert manifest.relief is None and not manifest.report["dropped"]


def test_a_lamp_that_reflects_nothing_is_not_called_black():
    lamp = powder("lamp", colour="0, 0, 0", emission="1, 1, 1")
    [told] = warnings(notices(lamp, "lamp"))
    assert told.endswith("the result is black but for its emission")


def test_a_material_that_reflects_more_than_it_receives_is_told_so():
    told = warnings(notices(powder("snow", colour="3, 3, 3"), "snow"))
    found = re.fullmatch(
        r"snow: reflects (\d+)% of the light, more than it receives: check for colours above 1 "
        "and inputs out of range",
        told[0],
    )
    assert len(told) == 1
    assert int(found[1]) == pytest.approx(300, abs=3)


@pytest.mark.parametrize(("left_out", "percent"), [(24, None), (48, "75"), (4096 - 1, "99.9")])
def test_a_mask_that_leaves_most_of_the_surface_out_is_told(left_out, percent, clay, tmp_path):
    side = 64 if left_out > 64 else 8
    mask = np.ones((side, side), np.float32)
    mask.flat[:left_out] = 0
    told = (
        f"the importance map is 0 (black) on {percent}% of the surface, which is not trained: "
        "paint weights above 0 there, unless nobody sees those places"
    )
    found = warnings(run([clay], tmp_path, BRIEF, importance=mask))
    assert [each for each in found if "not trained" in each] == ([told] if percent else [])


def test_a_mirror_that_was_baked_black_is_told_so(tmp_path):
    mirror = make_teacher(
        "mirror", base_color="0.9, 0.9, 0.9", metalness="1", specular_roughness="0.03"
    )
    told = warnings(run([mirror], tmp_path, replace(TINY, iterations=60)))
    # beside it, what rounding costs may be told
    (dark,) = (text for text in told if "reflects" in text)
    assert re.match(r"mirror: the result reflects \S+% of the light, and the material \d+%", dark)


def forget_at(step, events, held):
    """The events of a bake whose decoder forgets all that it has learnt from a step on."""
    for event in events:
        if isinstance(event, Step) and event.step >= step and not held[1:]:
            parameters, state = (
                held[0].learner.trainer.parameters(),
                held[0].learner.trainer.state(),
            )
            parameters.decoder[:] = 0
            held[0].learner.trainer.restore(parameters, state)
            held.append("forgotten")
        yield event


@pytest.mark.parametrize(("step", "is_told"), [(200, True), (10_000, False)])
def test_a_loss_that_rises_again_is_told(step, is_told, clay, tmp_path):
    held = []
    options = BakeOptions(name="out", folder=tmp_path, trainer="numpy", run_seconds=0.0)
    events = bake([clay], replace(TINY, iterations=400), options, BakeControl(watch=held.append))
    told = " ".join(warnings(forget_at(step, events, held)))
    assert bool(re.match(r"the loss rose to \S+ times its lowest value", told)) == is_told


def test_emission_that_is_cut_off_is_told(tmp_path):
    told = warnings(run([powder("lamp", emission="70000, 29000, 1")], tmp_path, BRIEF))
    found = open_bundle(tmp_path / "out.vdg").emission()[0].astype("f4")
    # blocks of BC6H have 10 bits, between two ends
    for channel, value in enumerate((30000, 29000)):
        np.testing.assert_allclose(found[..., channel], value, rtol=2e-3)
    assert told == [
        "lamp: emission was clipped at 30,000: reduce it in the material, and scale the map up "
        "where it is used"
    ]
    assert not [*cut_glow(np.full((2, 2, 4), 29000, np.float16), "lamp")]


def test_steps_that_are_skipped_are_told_now_and_then_and_summed_up(clay, tmp_path, monkeypatch):
    step_many = NumpyTrainer.step_many

    def every_second_is_skipped(trainer, steps):
        report = step_many(trainer, steps)
        done = range(trainer.step - steps, trainer.step)
        return replace(report, skipped=sum(step % 2 for step in done))

    monkeypatch.setattr(NumpyTrainer, "step_many", every_second_is_skipped)
    events = run([clay], tmp_path, replace(TINY, iterations=100), run_seconds=1e-9)
    *meanwhile, end = [text for text in warnings(events) if "finite" in text]
    # the first twenty steps run at once, then one by one, and later from one check to the next
    assert [int(text.split()[0]) for text in meanwhile] == [10, 16, 33]
    assert end.startswith("50 of 100 steps were skipped") and "another seed" in end


def test_resuming_where_there_is_nothing_to_resume_starts_afresh_and_says_so(
    clay, whole_clay, tmp_path
):
    events = run([clay], tmp_path / "resumed", resume=True)
    assert events[0].step == 0
    assert warnings(events) == [
        "there is no checkpoint to resume: the bake starts from the beginning"
    ]
    assert_same(baked(tmp_path / "resumed"), baked(whole_clay))


def test_resuming_from_a_damaged_checkpoint_is_refused_with_the_way_out(clay, tmp_path):
    path = tmp_path / "out.bake.npz"
    path.write_bytes(b"PK, and nothing more")
    options = BakeOptions("out", tmp_path, trainer="numpy", resume=True)
    with pytest.raises(CheckpointError, match=r"out\.bake\.npz: .*: bake without resuming$"):
        next(bake([clay], TINY, options))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda facts: facts["settings"]["draw"].update(zeal=1), "settings of draw zeal are not"),
        (lambda facts: facts["settings"].update(zeal=1), "settings zeal are not known: use"),
        (lambda facts: facts.update(settings=None), "settings are None: use an object"),
        (lambda facts: facts.pop("settings"), "settings"),
        (lambda facts: facts.update(seconds=None), "NoneType"),
        (lambda facts: facts.update(seconds="x"), "could not convert"),
    ],
)
def test_resuming_from_a_checkpoint_of_another_version_is_refused_with_the_way_out(
    change, told, clay, cut, tmp_path
):
    message = rf"out\.bake\.npz: another version wrote its settings .*{told}.*without resuming$"
    with pytest.raises(CheckpointError, match=message):
        resume_changed(clay, cut, tmp_path, lambda saved: change(saved.facts))


def test_resuming_from_moments_of_another_network_is_refused_with_the_way_out(clay, cut, tmp_path):
    def shorten(saved):
        saved.state["latents_v"] = saved.state["latents_v"][:-1]

    message = r"out\.bake\.npz: trainer state: latents_v has shape .*: bake without resuming$"
    with pytest.raises(CheckpointError, match=message):
        resume_changed(clay, cut, tmp_path, shorten)


def test_a_folder_in_the_place_of_the_checkpoint_is_refused_before_training(clay, tmp_path):
    (tmp_path / "out.bake.npz").mkdir()
    with pytest.raises(
        SettingsError, match=r"out\.bake\.npz: is a folder where the checkpoint goes"
    ):
        next(bake([clay], TINY, BakeOptions("out", tmp_path)))
    assert [path.name for path in tmp_path.iterdir()] == ["out.bake.npz"]


def test_a_bake_does_not_hang_on_how_numpy_takes_errors(clay, tmp_path):
    with np.errstate(all="raise"):
        assert run([clay], tmp_path, BRIEF)[-1].results


def test_while_a_bake_runs_another_of_its_name_is_refused(clay, tmp_path):
    first = bake([clay], TINY, BakeOptions("out", tmp_path))
    next(first)
    with pytest.raises(SettingsError, match="'out' is being baked here by another process"):
        run([clay], tmp_path)
    run([clay], tmp_path, BRIEF, name="other")
    first.close()
    run([clay], tmp_path, BRIEF)
    assert {path.name for path in tmp_path.iterdir()} == {"out.vdg", "other.vdg"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "../out"}, "'../out' is not a file name"),
        ({"name": ""}, "'' is not a file name"),
        ({"name": ".."}, "'..' is not a file name"),
        ({"name": "a\0b"}, "is not a file name"),
        ({"name": "a\nb"}, "leave out folders and unprintable characters"),
        ({"importance": np.full((2, 2), 1e300)}, "map: 4 weights are above 3.4e+38"),
        ({"importance": np.ones(3)}, "map: has shape (3,): use rows and columns of weights"),
        ({"importance": -np.ones((2, 2))}, "importance map: 4 texels are negative"),
        ({"importance": np.full((2, 2), np.nan)}, "map: 4 texels are not finite"),
        ({"importance": np.ones((9000, 2))}, "map: is 2 x 9000: scale it down to"),
        ({"importance": [["much"]]}, "the importance map: is an array of <U4: use numbers"),
        ({"importance": np.ones((2, 2), object)}, "map: is an array of object: use numbers"),
        ({"importance": np.ones((2, 2), complex)}, "map: is an array of complex128: use numb"),
        ({"time_limit": 0.0}, "time_limit is 0.0: use a finite number above 0"),
        ({"time_limit": float("nan")}, "time_limit is nan"),
        ({"target_error": -1.0}, "target_error is -1.0: use a finite number above 0"),
        ({"checkpoint_seconds": -1.0}, "checkpoint_seconds is -1.0: use 0 or more"),
        ({"metrics_seconds": float("nan")}, "metrics_seconds is nan: use 0 or more"),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(options, message, tmp_path):
    with pytest.raises(SettingsError, match=re.escape(message)):
        BakeOptions(**{"name": "out", "folder": tmp_path, **options})


def test_numbers_of_numpy_are_told_by_bundles_and_checkpoints(clay, tmp_path):
    limits = {"time_limit": np.float32(2), "target_error": np.float32(1e-9)}
    run([clay], tmp_path, BRIEF, checkpoint_seconds=0.0, **limits)
    source = open_bundle(tmp_path / "out.vdg").manifest.source
    assert (source["time_limit"], source["target_error"]) == (2, pytest.approx(1e-9))


def test_a_map_in_single_floats_stays_the_array_that_it_is(tmp_path):
    single = np.ones((2, 2), np.float32)
    options = BakeOptions("out", tmp_path, importance=single)
    assert options.importance is single and replace(options, name="b").importance is single
    assert BakeOptions("out", tmp_path, importance=[[1, 2]]).importance.dtype == np.float32


def test_a_name_that_is_too_long_for_files_is_refused_before_training(clay, tmp_path):
    longest = "ä" * 100
    with pytest.raises(SettingsError, match=f"the name '{longest}b' has 201 bytes: .* at most 200"):
        next(bake([clay], TINY, BakeOptions(f"{longest}b", tmp_path / "out")))
    assert not (tmp_path / "out").exists()
    run([clay], tmp_path, BRIEF, name=longest)
    assert [path.name for path in tmp_path.iterdir()] == [f"{longest}.vdg"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tab\tin_it", r"chalk: the material 'tab\\tin_it' .* cannot be printed: rename it"),
        ("other\u202eway", "cannot be printed: rename it"),
        (" ", "the material ' ' has a name that is blank"),
    ],
)
def test_a_name_that_no_bundle_could_hold_is_refused_before_training(name, message, tmp_path):
    text = CHALK.replace('name="clay"', f'name="{name}"'.replace("\t", "&#9;"))
    teacher = Teacher(parse_document(text, name="chalk"), device=open_device("software"))
    with pytest.raises(DocumentError, match=message):
        next(bake([teacher], TINY, BakeOptions("out", tmp_path, "numpy")))
    assert not [*tmp_path.iterdir()]


def test_a_document_whose_name_is_no_unicode_is_refused_before_training(tmp_path):
    name = "chalk\udcff.mtlx"
    teacher = Teacher(parse_document(CHALK, name=name), device=open_device("software"))
    with pytest.raises(DocumentError, match="the file name is not Unicode: rename it"):
        next(bake([teacher], TINY, BakeOptions("out", tmp_path, "numpy")))


def test_a_folder_that_cannot_be_made_is_refused_before_training(clay, tmp_path):
    file = tmp_path / "file"
    file.write_text("not a folder")
    with pytest.raises(SettingsError, match=r"file: is a file: choose a folder"):
        next(bake([clay], TINY, BakeOptions("out", file)))
    with pytest.raises(SettingsError, match=r"below: the folder cannot be made \(Not a directory"):
        next(bake([clay], TINY, BakeOptions("out", file / "below")))


@pytest.mark.skipif(sys.platform == "win32", reason="lets not everybody link")
def test_a_folder_that_is_a_link_to_nothing_is_told_as_such(clay, tmp_path):
    (tmp_path / "link").symlink_to("gone")
    with pytest.raises(SettingsError, match=r"link: is a broken link: choose a folder"):
        next(bake([clay], TINY, BakeOptions("out", tmp_path / "link")))


def test_names_that_are_there_already_get_a_number():
    assert unique_names(["clay", "slate", "clay"]) == ("clay", "slate", "clay-2")
    assert unique_names(["clay", "clay", "clay-2", "clay"]) == (
        "clay",
        "clay-3",
        "clay-2",
        "clay-4",
    )


def test_materials_of_one_name_can_be_told_apart_in_the_result(clay, tmp_path):
    blue = Teacher(parse_document(CHALK, name="clay"), device=clay.device)
    events = run([clay, blue], tmp_path, replace(TINY, iterations=240))
    assert events[0].materials == ("clay", "clay-2")
    bundles = [open_bundle(Path(result)) for result in events[-1].results]
    assert [bundle.folder.name for bundle in bundles] == ["out-clay.vdg", "out-clay-2.vdg"]
    assert [bundle.manifest.name for bundle in bundles] == ["clay", "clay-2"]
    assert [bundle.source_name for bundle in bundles] == ["clay", "clay"]
    from verdigris.core.network.student import Student

    random = np.random.default_rng(1)
    uv = random.random((512, 2)).astype("f4")
    up = np.tile(np.array([0, 0.6, 0.8], "f4"), (512, 1))
    for bundle, brightest in zip(bundles, (0, 2), strict=True):
        student = Student(bundle.parameters(), clay.device)
        assert student.response(uv, up, up * [1, -1, 1]).mean(0).argmax() == brightest


class FailingTrainer:
    """A trainer whose device is lost after some steps. Implements Trainer."""

    def __init__(self, trainer: NumpyTrainer, lost_after: int) -> None:
        self._trainer, self._lost_after = trainer, lost_after

    @property
    def step(self) -> int:
        return self._trainer.step

    def step_many(self, steps: int):
        left = self._lost_after - self._trainer.step
        report = self._trainer.step_many(min(steps, max(left, 0)))
        if steps > left:
            raise RuntimeError("Call failed: device lost")
        return report

    def parameters(self):
        self._require_device()
        return self._trainer.parameters()

    def state(self):
        self._require_device()
        return self._trainer.state()

    def latent_ranges(self):
        return self._trainer.latent_ranges()

    def restore(self, parameters, state) -> None:
        self._trainer.restore(parameters, state)

    def close(self) -> None:
        self._trainer.close()
        self._require_device()

    def _require_device(self) -> None:
        if self._trainer.step >= self._lost_after:
            raise RuntimeError("Call failed: device lost")


def lose_device_after(steps, monkeypatch, kind=FailingTrainer):
    make_trainer = trainers.make_trainer

    def failing(*arguments):
        return kind(make_trainer(*arguments), steps)

    monkeypatch.setattr(trainers, "make_trainer", failing)


def test_a_lost_device_leaves_a_checkpoint_that_goes_on_to_the_same_result(
    clay, whole_clay, tmp_path, monkeypatch
):
    written = []
    with monkeypatch.context() as patched, pytest.raises(DeviceError) as failure:
        lose_device_after(110, patched)
        for event in bake(
            [clay], TINY, BakeOptions("out", tmp_path / "lost", checkpoint_seconds=0.0)
        ):
            written += [event.step] if isinstance(event, Checkpointed) else []
    assert written and 0 < written[-1] < 110
    message = str(failure.value)
    assert "device lost" in message
    assert f"the checkpoint of step {written[-1]} is complete" in message
    assert "resume the bake" in message
    resumed = run([clay], tmp_path / "lost", resume=True)
    assert resumed[0].step == written[-1]
    assert_same(baked(tmp_path / "lost"), baked(whole_clay))


class FailingKernels(FailingTrainer):
    """The same, told as of a kernel that is run on the device."""

    def _require_device(self) -> None:
        try:
            super()._require_device()
        except RuntimeError as failure:
            raise DeviceError("Card failed: device lost: try another") from failure


@pytest.mark.parametrize("steps", [110, 1])
def test_a_device_lost_by_a_kernel_is_told_with_the_checkpoint_if_there_is_one(
    steps, clay, tmp_path, monkeypatch
):
    lose_device_after(steps, monkeypatch, FailingKernels)
    options = BakeOptions("out", tmp_path, checkpoint_seconds=0.0)
    written = []
    with pytest.raises(DeviceError) as failure:
        for event in bake([clay], replace(TINY, iterations=steps), options):
            written += [event.step] if isinstance(event, Checkpointed) else []
    told = str(failure.value)
    if written:
        assert (
            f"(Call failed: device lost); the checkpoint of step {written[-1]} is complete" in told
        )
    else:
        assert told == "Card failed: device lost: try another"
    assert bool(written) == (steps > 1)


@pytest.mark.parametrize("kind", [RuntimeError, KeyboardInterrupt])
def test_what_a_caller_throws_into_a_bake_ends_it_as_it_is(clay, tmp_path, kind):
    thrown = kind("out of patience")
    baking = bake([clay], TINY, BakeOptions("out", tmp_path))
    while not isinstance(next(baking), Step):
        pass
    with pytest.raises(kind) as failure:
        baking.throw(thrown)
    assert failure.value is thrown
    # all that it held is let go of
    run([clay], tmp_path, BRIEF)


@pytest.mark.parametrize("kind", [RecursionError, NotImplementedError])
def test_a_fault_of_ours_is_no_lost_device(clay, tmp_path, monkeypatch, kind):
    def fail(self, steps):
        raise kind("too deep")

    monkeypatch.setattr(NumpyTrainer, "step_many", fail)
    with pytest.raises(kind, match="too deep"):
        run([clay], tmp_path)


def test_a_device_that_is_lost_before_a_checkpoint_is_told_so(clay, tmp_path, monkeypatch):
    lose_device_after(30, monkeypatch)
    with pytest.raises(DeviceError, match="there is no checkpoint yet: start the bake again"):
        run([clay], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_folders_that_were_made_for_a_bake_that_leaves_nothing_go_again(clay, tmp_path):
    (tmp_path / "there").mkdir()
    events = bake([clay], TINY, BakeOptions("out", tmp_path / "there" / "new" / "deep", "numpy"))
    assert isinstance(next(events), Started)
    assert (tmp_path / "there" / "new" / "deep").is_dir()
    events.close()
    assert list(tmp_path.rglob("*")) == [tmp_path / "there"]
    run([clay], tmp_path / "there" / "new" / "deep", BRIEF)
    assert (tmp_path / "there" / "new" / "deep" / "out.vdg").is_dir()


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that a process stands in")
def test_a_folder_that_has_vanished_under_the_command_is_told(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(SettingsError, match=re.escape("baked: the folder cannot be made (No such")):
        make_folder(Path("baked"))
