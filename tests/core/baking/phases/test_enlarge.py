"""Two-stage training: the encoder alone, and bakes that enlarge a small texture with it."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.phases import enlarge
from verdigris.core.baking.phases.enlarge import (
    FEATURES,
    PAIRS,
    Encoder,
    carried_moments,
    probe,
    probe_pairs,
    seconds_to_encode,
    with_coarse_levels_of,
)
from verdigris.core.baking.state import checkpoint
from verdigris.core.baking.state.choices import Stage, stages_of
from verdigris.core.baking.state.trainers import open_trainer
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import SettingsError, VerdigrisError
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.material.evaluator import Footprint
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.sides import mirrored
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.latents.texels import texel_centres
from verdigris.core.network.numpy_mlp import evaluate
from verdigris.core.network.parameters import CheckpointError, initialise
from verdigris.core.progress import Checkpointed, Finished, Phase, Step

from ..bakes import TINY, assert_same, baked, cut_off, phases_of, run, stop_at, warnings_of

# a small texture of 16 x 16 for 30 steps, then 32 x 32 for 90
SETTINGS = replace(
    TINY, resolution=32, iterations=120, encode_from=32, small_resolution=16, latent_outliers=1e-3
)
STATE = "out.bake.npz"
# grey that grows with u and, less, with v: Lambert's law gives every response
RAMP = """<materialx version="1.39"><texcoord name="uv" type="vector2"/>
<separate2 name="part" type="multioutput">
<input name="in" type="vector2" nodename="uv"/></separate2>
<multiply name="less" type="float"><input name="in1" type="float" nodename="part" output="outy"/>
<input name="in2" type="float" value="0.25"/></multiply>
<multiply name="more" type="float"><input name="in1" type="float" nodename="part" output="outx"/>
<input name="in2" type="float" value="0.5"/></multiply>
<add name="both" type="float"><input name="in1" type="float" nodename="less"/>
<input name="in2" type="float" nodename="more"/></add>
<combine3 name="grey" type="color3"><input name="in1" type="float" nodename="both"/>
<input name="in2" type="float" nodename="both"/><input name="in3" type="float" nodename="both"/>
</combine3><oren_nayar_diffuse_bsdf name="b" type="BSDF">
<input name="color" type="color3" nodename="grey"/></oren_nayar_diffuse_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="b"/></surface>
<surfacematerial name="ramp" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""


@pytest.fixture(scope="module")
def ramp():
    return Teacher(parse_document(RAMP, name="ramp"), device=open_device("software"))


def test_probes_are_pairs_of_directions_above_the_surface_and_half_are_mirrored():
    pairs = probe_pairs().astype(np.float64)
    assert pairs.shape == (PAIRS, 2, 3)
    np.testing.assert_allclose(np.linalg.norm(pairs, axis=2), 1, atol=1e-6)
    assert pairs[..., 2].min() >= 0.3
    halfway = pairs[::2].sum(1)
    np.testing.assert_allclose(halfway[:, :2], 0, atol=1e-6)
    assert np.abs(pairs[1::2].sum(1)[:, :2]).max(1).min() > 0.05


def test_probes_of_a_surface_that_transmits_have_half_of_the_light_below():
    above, pairs = probe_pairs(), probe_pairs(1.5)
    is_below = pairs[:, 0, 2] < 0
    assert is_below.mean() == 0.5 and is_below[2::4].all() and is_below[3::4].all()
    np.testing.assert_array_equal(pairs[~is_below], above[~is_below])
    back = mirrored(*pairs[is_below].swapaxes(0, 1).transpose(0, 2, 1), 1.5)
    np.testing.assert_allclose(back, above[is_below, 0].T, atol=1e-5)


def test_a_probe_returns_the_response_at_the_centre_of_each_texel(ramp):
    (part, seen), *others = probe(ramp, 8, places=1)
    assert not others and part == slice(0, 64)
    # texel 11 lies in column 3 of row 1
    grey = 0.5 * (3.5 / 8) + 0.25 * (1.5 / 8)
    cosines = probe_pairs()[:, 0, 2]
    np.testing.assert_allclose(
        seen[11].reshape(PAIRS, 3), np.cbrt(grey * cosines / np.pi)[:, None].repeat(3, 1), rtol=1e-4
    )


def test_an_encoder_fits_linear_and_nonlinear_latents():
    random = np.random.default_rng(0)
    seen = random.uniform(0, 1, (6000, 6)).astype("f4")
    straight = 3 * seen[:, 0] - seen[:, 4]
    bent = np.maximum(seen[:, 1] + seen[:, 2] - 1, 0)
    latents = np.stack([straight, bent], 1)
    encoder = Encoder(seen[:4000], latents[:4000])
    found = encoder.encode(seen[4000:])
    error = np.abs(found - latents[4000:]).mean(0)
    flat = np.concatenate([seen, np.ones((6000, 1), "f4")], 1)
    fit = np.linalg.lstsq(flat[:4000], latents[:4000], rcond=None)[0]
    error_of_straight_fit = np.abs(flat[4000:] @ fit - latents[4000:]).mean(0)
    assert error[0] < 0.01 * latents[:, 0].std()
    assert error[1] < 0.4 * error_of_straight_fit[1]


def test_an_encoder_clips_latents_to_the_range_of_its_fit():
    random = np.random.default_rng(1)
    seen = random.uniform(0, 1, (500, 3)).astype("f4")
    latents = seen[:, :2] * np.float32([2, -5])
    found = Encoder(seen, latents).encode(100 * seen - 50)
    np.testing.assert_array_equal(found.min(0), latents.min(0))
    np.testing.assert_array_equal(found.max(0), latents.max(0))


def test_a_constant_material_is_encoded_as_its_trained_latents():
    latents = np.tile(np.float32([0.5, -1.25]), (64, 1))
    found = Encoder(np.full((64, 3), 0.25, "f4"), latents).encode(np.full((5, 3), 0.25, "f4"))
    np.testing.assert_allclose(found, latents[:5], rtol=1e-6)
    assert FEATURES > 3


def test_the_small_texture_becomes_the_coarse_levels_of_the_large_one():
    small = initialise(SETTINGS.spec, replace(SETTINGS, resolution=16).layout(2), 3)
    large = with_coarse_levels_of(small, SETTINGS.layout(2))
    np.testing.assert_array_equal(large.decoder, small.decoder)
    np.testing.assert_array_equal(large.latents[2 * 32 * 32 :], small.latents)
    assert not large.level(0).any()


def test_the_large_texture_gets_the_moments_of_the_small_one():
    small = initialise(SETTINGS.spec, replace(SETTINGS, resolution=16).layout(2), 3)
    random = np.random.default_rng(0)
    sides = itertools.product(("decoder", "transmitted"), ("m", "v", "bases"))
    state = {f"{side}_{part}": random.random(5) for side, part in sides}
    squares = random.random(small.latents.shape, np.float32)
    layout = replace(SETTINGS, resolution=64).layout(2)
    found = carried_moments(small, {"step": np.array(60), "latents_v": squares, **state}, layout)
    assert found.keys() == {"step", "latents_v", *state} and found["step"] == 0
    assert all(found[name] is values for name, values in state.items())
    large = replace(initialise(SETTINGS.spec, layout, 0), latents=found["latents_v"])
    before = replace(small, latents=squares)
    for level in range(small.layout.levels):
        np.testing.assert_array_equal(large.level(2 + level), before.level(level))
    for level, times in ((0, 4), (1, 2)):
        for row, column in ((0, 0), (9, 30), (31, 31)):
            np.testing.assert_array_equal(
                large.level(level)[1, row, column],
                before.level(0)[1, row // times, column // times],
            )


def test_a_bake_carries_moments_to_the_large_texture(ramp, tmp_path):
    held = []
    options, control = BakeOptions("out", tmp_path, "numpy"), BakeControl(watch=held.append)
    events = bake([ramp], SETTINGS, options, control)
    for event in events:
        if isinstance(event, Phase) and event.name == "encoding":
            small = held[0].learner.trainer.state()
        elif isinstance(event, Phase) and event.name == "training":
            large = held[0].learner.trainer.state()
            break
    events.close()
    assert large["step"] == 0
    for name in ("decoder_m", "decoder_v", "decoder_bases"):
        np.testing.assert_array_equal(large[name], small[name])
    assert large["latents_v"].any()


def test_stages_share_the_steps_and_round_in_the_last_tenth_of_all():
    settings = replace(SETTINGS, iterations=1000, starts=3, start_share=0.1)
    small, large = stages_of(settings)
    assert (small.first_step, large.first_step) == (0, 250)
    assert (small.settings.iterations, large.settings.iterations) == (250, 750)
    assert (small.settings.resolution, large.settings.resolution) == (16, 32)
    # a tenth of the small one's steps for each start
    assert (small.settings.starts, small.settings.start_steps) == (3, 25)
    assert large.settings.starts == 1
    assert small.settings.training().quantisation is None
    assert small.settings.draw.finest_places == 4
    rounding = large.settings.training().quantisation
    assert (large.first_step + rounding.first_step, rounding.steps) == (900, 100)
    assert large.settings.training().schedule.latent_rate == settings.encoded_latent_rate


def test_light_counts_in_the_last_fifth_of_the_last_stage(ramp):
    small, large = stages_of(replace(SETTINGS, iterations=1000))
    assert (small.training().light_step, large.training().light_step) == (None, 600)
    assert [large.training().light_share(step) for step in (0, 599, 600, 800)] == [0, 0, 0.5, 0.5]
    # the trainer of a stage has it
    last = Stage(replace(SETTINGS, iterations=5, encode_from=0))
    results = []
    for stage in (last, replace(last, is_last=False)):
        trainer, _ = open_trainer([ramp], stage, None, "numpy")
        trainer.step_many(4)
        before = trainer.parameters().decoder
        trainer.step_many(1)
        results.append((before, trainer.parameters().decoder))
        trainer.close()
    (before, with_light), (equal, without) = results
    np.testing.assert_array_equal(before, equal)
    assert np.abs(with_light - without).max() > 0


@pytest.mark.parametrize("changes", [{"encode_from": 0}, {"encode_from": 64}, {"iterations": 1}])
def test_a_small_texture_is_trained_in_one_stage(changes):
    settings = replace(SETTINGS, **changes)
    (stage,) = stages_of(settings)
    assert stage.settings == settings and stage.is_last


@pytest.mark.parametrize(
    "changes",
    [{"small_resolution": 48}, {"small_resolution": 2}, {"small_share": 1.0}, {"encode_from": 16}],
)
def test_impossible_sizes_and_shares_are_refused(changes):
    (name, value) = next(iter(changes.items()))
    with pytest.raises(SettingsError, match=f"{name} is {value}"):
        replace(SETTINGS, **changes)


@pytest.fixture(scope="module")
def whole(ramp, tmp_path_factory):
    """A bake without interruption: its folder and its events."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, run([ramp], folder, SETTINGS)


def test_a_bake_in_two_stages_reports_each_and_counts_all_steps(whole):
    folder, events = whole
    phases = [event for event in events if isinstance(event, Phase)]
    assert [phase.name for phase in phases] == [
        "small texture",
        "encoding",
        "training",
        "rounding",
        "measuring",
    ]
    # number 1 is the comparison of starts, which this bake has none of
    assert [(phase.number, phase.count) for phase in phases] == [(k, 6) for k in range(2, 7)]
    steps = [event.step for event in events if isinstance(event, Step)]
    assert steps == sorted(steps) and steps[-1] == 120
    assert events[-1].step == 120 and events[-1].stopped_by == "steps"
    bundle = open_bundle(folder / "out.vdg")
    assert bundle.layout.width == 32
    assert bundle.manifest.source["settings"]["small_resolution"] == 16


def test_encoded_texels_are_better_than_those_of_the_small_texture(ramp, tmp_path):
    runs, errors = [], {}
    settings = replace(SETTINGS, small_resolution=4, iterations=600, small_share=0.5)
    events = bake(
        [ramp], settings, BakeOptions("out", tmp_path, "numpy"), BakeControl(watch=runs.append)
    )
    for event in events:
        if isinstance(event, Phase) and event.name in ("encoding", "training"):
            errors[event.name] = runs[0].measure().samples[0].log_mae
            if event.name == "training":
                break
    events.close()
    assert errors["training"] < 0.7 * errors["encoding"]


@pytest.mark.parametrize("checkpoints", [1, 3, 6])
def test_a_bake_that_is_killed_in_either_stage_resumes_exactly(ramp, whole, tmp_path, checkpoints):
    last, _ = cut_off([ramp], tmp_path, SETTINGS, checkpoints)
    stage = checkpoint.load(tmp_path / STATE).facts["stage"]
    assert stage == int(checkpoints > 2)
    events = run([ramp], tmp_path, SETTINGS, resume=True)
    assert events[0].step == last.step
    assert ("small texture" in phases_of(events)) == (stage == 0)
    assert_same(baked(tmp_path), baked(whole[0]))


def test_a_bake_that_is_stopped_in_the_small_stage_has_its_full_resolution(ramp, tmp_path):
    *_, finished = stop_at(is_step, [ramp], tmp_path, SETTINGS)
    assert isinstance(finished, Finished) and finished.stopped_by == "request"
    assert finished.step == 20
    bundle = open_bundle(tmp_path / "out.vdg")
    assert bundle.layout.width == 32
    # encoded, not left at zero
    assert bundle.parameters().level(0)[0].std(axis=(0, 1)).max() > 1e-3
    # a resumed bake trains the rest of the small stage
    assert checkpoint.load(tmp_path / STATE).facts["stage"] == 0
    again = run([ramp], tmp_path, SETTINGS, resume=True)
    assert (again[0].step, again[-1].step) == (20, 120)


def is_step(event):
    return isinstance(event, Step)


def test_levels_that_a_stopped_bake_does_not_encode_are_enlarged(ramp, tmp_path, monkeypatch):
    monkeypatch.setattr(enlarge, "SECONDS_AFTER_STOP", -1.0)
    settings = replace(SETTINGS, resolution=64, latent_format="half")
    phases = []

    def encodes_a_level(event):
        if isinstance(event, Phase):
            phases.append(event.name)
        return isinstance(event, Step) and phases[-1] == "encoding"

    events = stop_at(encodes_a_level, [ramp], tmp_path, settings)
    assert events[-1].stopped_by == "request"
    assert any("the texture is coarser than requested" in text for text in warnings_of(events))
    parameters = baked(tmp_path)
    # the level of 32 was encoded before the stop
    encoded = parameters.level(1)[0]
    assert (encoded[0, ::2] != encoded[0, 1::2]).any()
    doubled = encoded.repeat(2, axis=0).repeat(2, axis=1)
    np.testing.assert_array_equal(parameters.level(0)[0], doubled)


def test_the_first_coarse_levels_are_encoded_too(ramp, tmp_path):
    runs, errors = [], {}
    settings = replace(SETTINGS, iterations=240)
    events = bake(
        [ramp], settings, BakeOptions("out", tmp_path, "numpy"), BakeControl(watch=runs.append)
    )
    for event in events:
        if isinstance(event, Phase) and event.name in ("encoding", "training"):
            parameters = runs[0].learner.trainer.parameters()
            # the same 8 x 8 and 4 x 4 texels: the second and third level of the small texture
            first = 1 if event.name == "encoding" else 2
            errors[event.name] = [error_of(ramp, parameters, first + each) for each in (0, 1)]
            if event.name == "training":
                break
    events.close()
    (finer, coarser), (finer_now, coarser_now) = errors["encoding"], errors["training"]
    assert finer_now < 0.75 * finer and coarser_now < coarser


def error_of(teacher, parameters, level):
    """At the centres of texels, against means over twice their width."""
    size = parameters.layout.level_size(level)[0]
    uv = texel_centres(np.arange(size * size), size).repeat(PAIRS, 0)
    wi, wo = (np.tile(each, (size * size, 1)) for each in probe_pairs().swapaxes(0, 1))
    found = np.asarray(evaluate(parameters.spec, parameters, uv, level, wi, wo))
    wanted = teacher.response(uv, wi, wo, footprint=Footprint(2 / size, 256))
    return np.abs(found - wanted).mean()


def test_a_target_error_ends_the_large_stage_only(ramp, tmp_path):
    events = run([ramp], tmp_path, SETTINGS, target_error=10.0)
    assert phases_of(events) == ["small texture", "encoding", "training", "rounding", "measuring"]
    # 30 steps of the small texture, two checks 6 steps apart, 12 steps of rounding
    assert (events[-1].step, events[-1].stopped_by) == (30 + 12 + 12, "target error")
    assert open_bundle(tmp_path / "out.vdg").layout.width == 32


def test_starts_that_were_not_compared_before_a_stop_are_compared_on_resume(ramp, tmp_path):
    settings = replace(SETTINGS, starts=3, start_share=0.4)
    uncut, cut = tmp_path / "uncut", tmp_path / "cut"
    run([ramp], uncut, settings)
    steps = []

    def is_in_the_second_start(event):
        steps.extend([event] if isinstance(event, Step) else [])
        return len(steps) == 3

    often = {"checkpoint_seconds": 0.0, "run_seconds": 0.0}
    stop_at(is_in_the_second_start, [ramp], cut, settings, **often)
    assert checkpoint.load(cut / STATE).facts["start_choice"]["number"] == 1
    run([ramp], cut, settings, resume=True)
    assert_same(baked(cut), baked(uncut))


def test_a_short_bake_needs_no_space_for_a_checkpoint(ramp, tmp_path, monkeypatch):
    def full(path, *_):
        raise CheckpointError(f"{path}: cannot be written (no space)")

    monkeypatch.setattr(checkpoint, "save", full)
    events = run([ramp], tmp_path / "short", SETTINGS, checkpoint_seconds=1e9)
    assert events[-1].stopped_by == "steps" and not warnings_of(events)
    # one that is stopped would keep the small texture, and warns that it cannot
    events = stop_at(is_step, [ramp], tmp_path / "cut", SETTINGS, checkpoint_seconds=1e9)
    assert events[-1].stopped_by == "request"
    assert any("cannot be written (no space)" in text for text in warnings_of(events))


def test_masked_places_keep_their_encoded_latents(ramp, tmp_path):
    weights = np.zeros((16, 16), np.float32)
    weights[:, :8] = 1
    events = run([ramp], tmp_path, SETTINGS, importance=weights)
    # grey also grows with u there; copies of the nearest texel, that of column 16, would not
    left_out = baked(tmp_path).level(0)[0][:, 18:23]
    assert (left_out.std(axis=1).max(axis=1) > 0).all()
    # errors before and after rounding are of the same latents
    assert not [text for text in warnings_of(events) if "rounding latents" in text]


def test_masked_texels_are_not_fitted_by_the_encoder(ramp, tmp_path):
    weights = np.ones((16, 16), np.float32)
    weights[:, 8:] = 0
    runs = []
    options = BakeOptions("out", tmp_path, "numpy", importance=weights)
    events = bake([ramp], SETTINGS, options, BakeControl(watch=runs.append))
    for event in events:
        trainer = runs[0].learner.trainer
        if isinstance(event, Phase) and event.name == "encoding":
            small = trainer.parameters()
            # values that would dominate the fit
            trainer.restore(with_outliers(small), trainer.state())
        if isinstance(event, Phase) and event.name == "training":
            latents = trainer.parameters().level(0)[0]
            break
    events.close()
    trained = small.level(0)[0][:, :8]
    assert np.abs(latents).max() <= np.abs(trained).max() + 0.2


def with_outliers(parameters):
    parameters = parameters.copy()
    parameters.level(0)[0][:, 9:15] = 1e4
    return parameters


class Slow:
    """A material that takes a hundredth of a millisecond per place, by its own clock."""

    now, live = 0.0, ()

    index_below = 0.0

    def monotonic(self):
        return self.now

    device = SimpleNamespace(new_buffer=lambda values: values)

    def response_on_device(self, count, uv, wi, wo, footprint):
        assert uv.shape == (count, 2) and wi.shape == wo.shape >= (count, 3)
        self.now += count * footprint.places * 1e-5
        found = np.ones((count, 3), np.float32)
        return SimpleNamespace(to_numpy=lambda: found.view(np.uint8))


def test_the_duration_of_encoding_is_estimated_from_a_part(monkeypatch):
    slow = Slow()
    monkeypatch.setattr(enlarge, "time", slow)
    settings = replace(SETTINGS, resolution=64, small_resolution=32, encode_from=64)
    # four places of each small texel for the fit, then a level of 64 texels a side
    wanted = PAIRS * (4 * 32 * 32 + 64 * 64) * 1e-5
    assert seconds_to_encode([slow], settings) == pytest.approx(wanted)
    assert seconds_to_encode([slow], replace(settings, encode_from=0)) == 0


@pytest.mark.parametrize(("seconds", "resolution"), [(1.0, 32), (1e9, 0)])
def test_a_time_limit_includes_encoding_or_leaves_it_out(
    ramp, tmp_path, monkeypatch, seconds, resolution
):
    monkeypatch.setattr(
        "verdigris.core.baking.phases.time_limit.seconds_to_encode", lambda *_: seconds
    )
    settings = replace(SETTINGS, iterations=10**7)
    limits = {"time_limit": 2.0, "checkpoint_seconds": 0.0}
    stop_at(lambda event: isinstance(event, Checkpointed), [ramp], tmp_path, settings, **limits)
    source = open_bundle(tmp_path / "out.vdg").manifest.source
    assert source["settings"]["encode_from"] == resolution
    # a resumed bake keeps that
    stopped = BakeControl(stop_requested=True)
    again = run([ramp], tmp_path, settings, stopped, resume=True, **limits)
    assert again[0].step == source["step"]


def test_a_bake_resumes_with_the_time_limit_and_the_encoder_of_its_start(ramp, tmp_path):
    cut_off([ramp], tmp_path, SETTINGS)
    for changes, limit, message in (
        ({}, 3.0, "began with no time limit, .* is now 3.0 s"),
        ({"encode_from": 0}, None, "began with encode_from 32, not 0: use"),
    ):
        with pytest.raises(CheckpointError, match=message):
            run([ramp], tmp_path, replace(SETTINGS, **changes), resume=True, time_limit=limit)
    limited = tmp_path / "limited"
    cut_off([ramp], limited, SETTINGS, time_limit=1000.0)
    with pytest.raises(CheckpointError, match="began with a time limit of 1000"):
        run([ramp], limited, SETTINGS, resume=True, time_limit=3.0)
    with pytest.raises(CheckpointError, match="began with encode_from 32, not 0: use"):
        wanted = replace(SETTINGS, encode_from=0)
        run([ramp], limited, wanted, resume=True, time_limit=1000.0)
    # this limit is long enough for all requested steps
    events = run([ramp], limited, SETTINGS, resume=True, time_limit=1000.0)
    assert (events[-1].step, events[-1].stopped_by) == (120, "steps")


def test_a_resumed_large_stage_counts_the_steps_that_the_small_one_had(ramp, tmp_path):
    last, _ = cut_off([ramp], tmp_path, SETTINGS, 8)
    path = tmp_path / STATE
    saved = checkpoint.load(path)
    assert (saved.facts["stage"], saved.facts["stage_begun"]) == (1, SETTINGS.small_steps)
    sooner = {**saved.facts, "stage_begun": SETTINGS.small_steps - 7}
    checkpoint.save(path, saved.parameters, sooner, saved.state)
    assert run([ramp], tmp_path, SETTINGS, resume=True)[0].step == last.step - 7


def test_a_checkpoint_with_an_impossible_stage_is_refused(ramp, tmp_path):
    cut_off([ramp], tmp_path, SETTINGS)
    path = tmp_path / STATE
    saved = checkpoint.load(path)
    for damage, message in (
        ({"stage": 2}, "stage is 2"),
        ({"stage": True}, "stage is True"),
        ({"stage": 1}, "its latents have 16 x 16 texels"),
        ({"stage_begun": 1}, "stage_begun is 1: use 0 to 0"),
        ({"stage_begun": "0"}, "stage_begun is '0'"),
    ):
        checkpoint.save(path, saved.parameters, {**saved.facts, **damage}, saved.state)
        with pytest.raises(VerdigrisError, match=message) as caught:
            run([ramp], tmp_path, SETTINGS, resume=True)
        assert str(path) in str(caught.value)


@pytest.mark.gpu
def test_a_bake_on_a_graphics_card_that_is_killed_in_either_stage_resumes_exactly(tmp_path):
    device = open_device("auto")
    if device.is_software:
        pytest.skip("needs a graphics card")
    teacher = Teacher(parse_document(RAMP, name="ramp"), device=device)
    found = []
    for checkpoints in (0, 1, 4):
        folder = tmp_path / str(checkpoints)
        folder.mkdir()
        if checkpoints:
            cut_off([teacher], folder, SETTINGS, checkpoints, trainer="tensor")
        run([teacher], folder, SETTINGS, resume=bool(checkpoints), trainer="tensor")
        found.append(baked(folder))
    for cut in found[1:]:
        assert_same(cut, found[0])
