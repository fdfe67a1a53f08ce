"""The bake as its callers meet it: events, files, and what happens when it is cut short."""

import json
import os
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.measure.measure import draw_held_out
from verdigris.core.baking.measure.memory import check_memory, needed_bytes
from verdigris.core.baking.phases import train
from verdigris.core.baking.state import checkpoint
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import BundleError, SettingsError, VerdigrisError
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.history import History
from verdigris.core.bundle.verify.verify import verify
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.progress import Checkpointed, Finished, Metrics, Phase, Started, Step, Warning
from verdigris.core.settings.bake_settings import BakeSettings

from ..brisk import BRISK_COMMAND
from ..in_process import run_command
from ..signals import hang_up
from .bakes import CHALK, EVEN, TINY, assert_same, baked, of_kind, run


@pytest.fixture
def chalk(tmp_path):
    path = tmp_path / "chalk.mtlx"
    path.write_text(CHALK.format(name="chalk"))
    return path


@pytest.fixture(scope="module")
def learnt(clay, tmp_path_factory):
    """The folder and the events of a bake that learns its material."""
    folder = tmp_path_factory.mktemp("learnt")
    return folder, run([clay], folder, replace(TINY, iterations=300), metrics_seconds=0.0, **EVEN)


def test_a_bake_tells_its_phases_learns_and_writes_its_result(learnt):
    folder, events = learnt
    assert isinstance(events[0], Started)
    names = [event.name for event in of_kind(events, Phase)]
    assert names == ["training", "rounding", "measuring"]
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert finished.stopped_by == "steps"
    assert finished.step == 300
    errors = [event.samples[0].log_mae for event in of_kind(events, Metrics)]
    assert errors[-1] < errors[0] / 2
    assert finished.samples[0].smape < 0.25
    assert [path.name for path in folder.iterdir()] == ["out.vdg"]


def test_the_result_holds_what_was_trained(clay, learnt):
    finished = learnt[1][-1]
    bundle = open_bundle(Path(finished.result))
    source = bundle.manifest.source
    assert (bundle.manifest.name, source["material"], source["step"]) == ("clay", "clay", 300)
    assert BakeSettings.from_json(source["settings"]).iterations == 300
    from verdigris.core.network.numpy_mlp import evaluate
    from verdigris.core.pictures.compare.metrics import measure_samples

    held_out = draw_held_out(clay, 1 << 14)
    values = evaluate(bundle.spec, bundle.parameters(), held_out.uv, 0, held_out.wi, held_out.wo)
    # the numpy oracle of the file agrees with what the device measured on other samples
    assert measure_samples(np.asarray(values), held_out.response).log_mae == pytest.approx(
        finished.samples[0].log_mae, rel=0.2
    )


def test_two_bakes_with_the_same_seed_are_equal_to_the_bit(clay, whole_clay, tmp_path):
    run([clay], tmp_path)
    first, second = (folder / "out.vdg" for folder in (tmp_path, whole_clay))
    for file in ("weights.bin", "latents.ktx2", "reference.json", "preview.png"):
        assert (first / file).read_bytes() == (second / file).read_bytes(), file


def test_a_resumed_bake_ends_as_an_uninterrupted_one(clay, tmp_path):
    """Cut while it trains, and while it rounds latents, which is from step 60 on."""
    settings = replace(TINY, starts=2, start_share=0.1, quantise_share=0.5)
    run([clay], tmp_path / "whole", settings)
    for after in (30, 61):
        folder = tmp_path / str(after)
        options = BakeOptions("out", folder, "numpy", checkpoint_seconds=0.0)
        events = bake([clay], settings, options)
        for event in events:
            if isinstance(event, Checkpointed) and after < event.step < settings.iterations:
                break
        events.close()
        assert (folder / "out.bake.npz").exists()
        resumed = run([clay], folder, settings, resume=True)
        assert resumed[0].step == event.step
        assert_same(baked(folder), baked(tmp_path / "whole"))
        assert not (folder / "out.bake.npz").exists()


def test_starts_are_tried_in_short_runs_that_a_request_to_stop_ends(clay, tmp_path):
    control, seen = BakeControl(), []
    control.watch = seen.append
    settings = replace(TINY, iterations=100_000, starts=3, start_share=0.2)
    for event in bake([clay], settings, BakeOptions("out", tmp_path, "numpy"), control):
        if isinstance(event, Step) and seen[0].learner.trainer.step:
            control.stop()
    # one of the first start's 20,000 steps, and nothing of the others
    assert 0 < event.step < 20_000
    assert event.stopped_by == "request"


def test_a_request_to_stop_keeps_what_there_is(clay, tmp_path):
    control = BakeControl()
    options = BakeOptions("out", tmp_path, "numpy")
    events = []
    for event in bake([clay], replace(TINY, iterations=100_000), options, control):
        events.append(event)
        if isinstance(event, Step) and event.step > 40:
            control.stop()
    assert events[-1].stopped_by == "request"
    assert (tmp_path / "out.vdg" / "manifest.json").exists()


@pytest.mark.parametrize("changes", [{}, {"starts": 2}, {"encode_from": 16}])
def test_a_request_to_stop_before_the_first_step_leaves_the_bundle_before(
    clay, whole_clay, tmp_path, changes
):
    settings = replace(TINY, small_resolution=8, encode_from=0)
    shutil.copytree(whole_clay, tmp_path, dirs_exist_ok=True)
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    control = BakeControl(stop_requested=True)
    with pytest.raises(VerdigrisError, match="before its first step"):
        run([clay], tmp_path, replace(settings, **changes), control)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == written


def test_a_target_error_ends_the_bake_when_it_is_reached(clay, tmp_path):
    settings = replace(TINY, iterations=2_000)
    finished = run([clay], tmp_path, settings, target_error=0.04)[-1]
    assert finished.step < 2_000
    assert finished.stopped_by == "target error"
    assert finished.samples[0].log_mae < 0.05


def test_a_time_limit_is_kept(clay, tmp_path):
    settings = replace(TINY, iterations=1_000_000)
    events = run([clay], tmp_path, settings, time_limit=0.2)
    last = of_kind(events, Step)[-1]
    assert last.step == last.steps < 1_000_000
    # on a fast machine it is good before
    assert events[-1].stopped_by in ("time limit", "quality")
    # of training alone
    assert events[-1].seconds < 12.0


def test_several_materials_share_one_decoder(clay, chalk, tmp_path):
    both = [clay, Teacher(load_document(chalk), device=clay.device)]
    finished = run(both, tmp_path, replace(TINY, iterations=300))[-1]
    bundles = [open_bundle(Path(result)) for result in finished.results]
    assert [bundle.folder.name for bundle in bundles] == ["out-clay.vdg", "out-chalk.vdg"]
    assert bundles[0].weights_bytes() == bundles[1].weights_bytes()
    assert bundles[0].parameters().latents.max() != bundles[1].parameters().latents.max()
    assert all(found.smape < 0.35 for found in finished.samples)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"resolution": 300}, "resolution is 300: use a power of two"),
        ({"network": "9x9"}, "'9x9'"),
        ({"iterations": 0}, "iterations is 0"),
        ({"activation": "square"}, "'square'"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(changes, message):
    with pytest.raises(SettingsError, match=message):
        replace(TINY, **changes).spec  # noqa: B018 - the activation is checked by the network


def test_what_does_not_fit_is_refused_with_the_largest_that_does(clay):
    settings = replace(TINY, resolution=1024)
    fits = needed_bytes(replace(settings, resolution=256), 1, "numpy")
    with pytest.raises(SettingsError, match="the largest that fits is 256"):
        check_memory(clay.device, settings, 1, "numpy", available=int(fits / 0.8) + 1)


def _endless(chalk, folder):
    return [
        *("bake", str(chalk), "--device", "software", "--resolution", "16", "--set", "batch=64"),
        *("--out", str(folder), "--iterations", "1000000", "--checkpoint-seconds", "0"),
    ]


def test_killing_a_bake_leaves_a_checkpoint_that_goes_on(chalk, tmp_path):
    command = [*BRISK_COMMAND, *_endless(chalk, tmp_path), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    next(line for line in process.stdout if '"checkpointed"' in line)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    path = tmp_path / "chalk.bake.npz"
    step = checkpoint.load(path).facts["step"]
    assert step > 0
    document = load_document(chalk)
    teacher = Teacher(document, device=open_device("software"))
    settings = BakeSettings.from_json(checkpoint.load(path).facts["settings"])
    options = BakeOptions("chalk", tmp_path, "numpy", resume=True)
    started = next(bake([teacher], settings, options))
    assert started.step == step


def _interrupt(chalk, folder, act, steps=1):
    """Runs the command for ever in this process, and acts on it as it is about to report so many
    runs of steps; its exit code, its last event and its errors."""
    reported = []

    def report(*values):
        reported.append(values)
        if len(reported) == steps:
            act()
        return Step(*values)

    code, out, told = run_command([*_endless(chalk, folder), "--json"], (train, "Step", report))
    return code, json.loads(out.splitlines()[-1]), told


def send(*signals):
    for each in signals:
        os.kill(os.getpid(), each)


def test_ctrl_c_ends_the_command_with_a_result(chalk, tmp_path):
    code, last, told = _interrupt(chalk, tmp_path, lambda: send(signal.SIGINT))
    assert (code, last["stopped_by"], told) == (0, "request", "")
    assert (tmp_path / "chalk.vdg" / "manifest.json").exists()


def test_a_request_to_stop_leaves_a_checkpoint_of_the_step_that_it_ended_at(
    clay, whole_clay, tmp_path
):
    control = BakeControl()
    options = BakeOptions("out", tmp_path, "numpy", run_seconds=0.0)
    for event in bake([clay], TINY, options, control):
        if isinstance(event, Step):
            control.stop()
    assert event.stopped_by == "request"
    events = run([clay], tmp_path, resume=True)
    assert events[0].step == event.step > 0
    assert events[-1].stopped_by == "steps"
    assert_same(baked(tmp_path), baked(whole_clay))
    assert not (tmp_path / "out.bake.npz").exists()


def test_a_refined_result_removes_no_earlier_bundle_that_could_not_be_kept_yet(clay, tmp_path):
    run([clay], tmp_path, replace(TINY, iterations=20))
    earlier = History(tmp_path / "out.vdg").versions()
    (tmp_path / "out.versions").write_text("in the way")
    control = BakeControl()
    options = BakeOptions("out", tmp_path, "numpy", run_seconds=0.0, writes_first=True)
    for event in bake([clay], TINY, options, control):
        if isinstance(event, Step):
            control.stop()
    (tmp_path / "out.versions").unlink()
    history = History(tmp_path / "out.vdg")
    history.recover()
    _, kept = history.versions()
    assert kept.key == earlier[0].key


def test_a_request_to_end_keeps_a_result_and_a_checkpoint_and_is_no_success(chalk, tmp_path):
    code, last, told = _interrupt(chalk, tmp_path, lambda: send(signal.SIGTERM, signal.SIGTERM))
    assert (code, last["stopped_by"]) == (128 + signal.SIGTERM, "request")
    assert open_bundle(tmp_path / "chalk.vdg").manifest.source["step"] == last["step"]
    saved = checkpoint.load(tmp_path / "chalk.bake.npz")
    assert saved.facts["step"] == last["step"] > 0
    assert told == (
        f"verdigris: SIGTERM ended the bake at step {last['step']}: {tmp_path / 'chalk.vdg'} was "
        "written as trained until then; run again with --resume to continue from there\n"
    )


def test_nobody_is_sent_to_a_checkpoint_that_was_taken_away(chalk, tmp_path):
    folder = tmp_path / "out"

    def take_away():
        assert (folder / "chalk.bake.npz").exists()
        shutil.rmtree(folder)
        send(signal.SIGTERM)

    code, _, told = _interrupt(chalk, folder, take_away, steps=2)
    assert code == 128 + signal.SIGTERM
    assert [path.name for path in folder.iterdir()] == ["chalk.vdg"]
    assert told.endswith(f"{folder / 'chalk.vdg'} was written as trained until then\n")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no terminal hangs up there")
def test_a_bake_outlives_its_terminal_if_it_is_to_and_a_lost_reader_ends_it(chalk, tmp_path):
    """It keeps a result and a checkpoint."""
    deaf = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *BRISK_COMMAND]
    pipe = subprocess.PIPE
    command = [*deaf, *_endless(chalk, tmp_path), "--json"]
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
    next(line for line in process.stdout if '"event": "step"' in line)
    process.send_signal(signal.SIGHUP)
    next(line for line in process.stdout if '"event": "step"' in line)
    assert process.poll() is None
    process.stdout.close()
    told = process.stderr.read()
    assert process.wait(timeout=60) == 128 + 13
    saved = checkpoint.load(tmp_path / "chalk.bake.npz")
    assert open_bundle(tmp_path / "chalk.vdg").manifest.source["step"] == saved.facts["step"] > 0
    assert told == (
        "verdigris: the output was lost (Broken pipe), so the bake was ended at step "
        f"{saved.facts['step']}: {tmp_path / 'chalk.vdg'} was written as trained until then; run "
        "again with --resume to continue from there\n"
    )


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no terminal hangs up there")
@pytest.mark.usefixtures("heard")
def test_a_terminal_that_is_closed_keeps_a_result_and_a_checkpoint(chalk, tmp_path):
    process = hang_up([*BRISK_COMMAND, *_endless(chalk, tmp_path)], until=b"loss")
    assert process.wait(60) == 128 + signal.SIGHUP
    step = open_bundle(tmp_path / "chalk.vdg").manifest.source["step"]
    assert checkpoint.load(tmp_path / "chalk.bake.npz").facts["step"] == step > 0


def test_a_full_disk_leaves_the_checkpoint_before_whole(clay, tmp_path, monkeypatch):
    path = tmp_path / "state.npz"
    from verdigris.core.network.parameters import initialise

    parameters = initialise(TINY.spec, TINY.layout(), 1)
    checkpoint.save(path, parameters, {"materials": ["clay"]})
    before = path.read_bytes()

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(VerdigrisError, match="the disk is full"):
        checkpoint.save(path, parameters, {"materials": ["slate"]})
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["state.npz"]


@pytest.fixture
def disk(monkeypatch):
    """One that is full while it is told so."""

    class Disk:
        is_full = False

    def fsync(_descriptor, sync=os.fsync):
        if Disk.is_full:
            raise OSError(28, "No space left on device")
        sync(_descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    return Disk


def test_a_disk_that_is_full_for_a_while_costs_checkpoints_and_not_the_bake(clay, tmp_path, disk):
    path, heard = tmp_path / "out.bake.npz", []
    settings = replace(TINY, iterations=60)
    kept = b""
    options = BakeOptions("out", tmp_path, checkpoint_seconds=0.0, run_seconds=0.0)
    for event in bake([clay], settings, options):
        heard.append(type(event))
        if isinstance(event, Warning):
            told, at = event.text, len(heard)
        elif isinstance(event, Step) and disk.is_full:
            assert path.read_bytes() == kept
            disk.is_full = heard.count(Step) < 6
        elif isinstance(event, Checkpointed) and not kept:
            kept, disk.is_full, step = path.read_bytes(), True, event.step
    assert heard.count(Warning) == 1 and heard[-1] is Finished
    assert heard.count(Step) > 8 and Checkpointed in heard[at:]
    assert told.startswith(
        f"{path}: cannot be written (the disk is full): free space or choose another folder; "
    )
    assert told.endswith(f"but a resumed bake continues from step {step}")
    assert [file.name for file in tmp_path.iterdir()] == ["out.vdg"]


def test_a_disk_that_stays_full_is_told_once_and_then_by_the_result(clay, tmp_path, disk):
    heard = []
    settings = replace(TINY, starts=2, start_share=0.5)
    told = r"out\.vdg: cannot be written \(the disk is full.*; there is no checkpoint of this bake$"
    with pytest.raises(BundleError, match=told):
        for event in bake([clay], settings, BakeOptions("out", tmp_path, checkpoint_seconds=0.0)):
            heard.append(event)
            disk.is_full = True
    (told,) = of_kind(heard, Warning)
    assert told.text.endswith("but a resumed bake starts again")
    assert of_kind(heard, Phase)[-1].name == "measuring"
    assert not [*tmp_path.iterdir()]


def test_a_result_that_cannot_be_written_is_told_with_the_checkpoint_that_is_there(
    clay, tmp_path, disk
):
    kept = -1
    with pytest.raises(BundleError) as caught:
        for event in bake([clay], TINY, BakeOptions("out", tmp_path, checkpoint_seconds=0.0)):
            if isinstance(event, Checkpointed):
                kept = event.step
            disk.is_full = isinstance(event, Phase) and event.name == "measuring"
    assert str(caught.value).endswith(
        f"; {tmp_path / 'out.bake.npz'} is its checkpoint of step {kept}: resume the bake to "
        "continue from it"
    )
    assert checkpoint.load(tmp_path / "out.bake.npz").facts["step"] == kept


def test_a_folder_that_goes_while_a_bake_runs_is_told_and_made_again_for_the_result(clay, tmp_path):
    folder, heard = tmp_path / "out", []
    for event in bake([clay], TINY, BakeOptions("out", folder, checkpoint_seconds=0.0)):
        heard.append(event)
        if folder.exists() and isinstance(event, Checkpointed):
            shutil.rmtree(folder)
    # of checkpoints that could not be written
    (told,) = of_kind(heard, Warning)
    assert told.text.endswith("but a resumed bake starts again")
    assert verify(open_bundle(folder / "out.vdg")).holds


def test_the_trainer_for_graphics_cards_is_refused_on_the_processor(clay, tmp_path):
    with pytest.raises(SettingsError, match=r"'tensor' needs a GPU.*use numpy"):
        run([clay], tmp_path, trainer="tensor")


def test_what_killed_bakes_have_half_written_is_cleared(clay, tmp_path):
    ours, other = (tmp_path / f".{name}.bake.npz.123.tmp" for name in ("out", "other"))
    for path in (ours, other):
        path.write_bytes(b"half")
    run([clay], tmp_path)
    assert other.exists() and not ours.exists()
