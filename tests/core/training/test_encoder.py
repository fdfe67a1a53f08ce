"""The encoder of large textures, alone and as a stage of a bake."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeOptions, bake
from verdigris.core.baking.phases import growth
from verdigris.core.baking.phases.encoder import FEATURES, PAIRS, Encoder, probe, probe_pairs
from verdigris.core.baking.phases.growth import below_the_small_one, handed_on, seconds_to_encode
from verdigris.core.baking.phases.stepping import open_start
from verdigris.core.baking.state import checkpoint
from verdigris.core.baking.state.options import BakeControl
from verdigris.core.baking.state.stages import stages_of
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import SettingsError, VerdigrisError
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.material.evaluator import Footprint
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.numpy_mlp import evaluate
from verdigris.core.network.parameters import CheckpointError, initialise
from verdigris.core.network.texels import texel_centres
from verdigris.core.progress.events import Checkpointed, Finished, Phase, Step, Warning

from .bakes import TINY, run

# a small texture of 16 x 16 for 60 steps, then 32 x 32 for 180
SETTINGS = replace(
    TINY,
    resolution=32,
    iterations=240,
    encode_from=32,
    small_resolution=16,
    carries_moments=True,
    latent_outliers=1e-3,
)
# grey that grows with u and, less, with v: Lambert's law tells every answer
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


def events_until(teacher, folder, kind, count, **options):
    """The last of so many events of a kind, of a bake that is cut off there."""
    options = {"trainer": "numpy", "checkpoint_seconds": 0.0, **options}
    events = bake([teacher], SETTINGS, BakeOptions("out", folder, **options))
    found = (event for event in events if isinstance(event, kind))
    for _ in range(count):
        last = next(found)
    events.close()
    return last


def test_probes_are_pairs_of_directions_above_the_surface_half_of_them_mirrored():
    pairs = probe_pairs().astype(np.float64)
    assert pairs.shape == (PAIRS, 2, 3)
    np.testing.assert_allclose(np.linalg.norm(pairs, axis=2), 1, atol=1e-6)
    assert pairs[..., 2].min() >= 0.3
    halfway = pairs[::2].sum(1)
    np.testing.assert_allclose(halfway[:, :2], 0, atol=1e-6)
    assert np.abs(pairs[1::2].sum(1)[:, :2]).max(1).min() > 0.05


def test_a_probe_sees_what_the_material_answers_at_the_middle_of_each_texel(ramp):
    (part, seen), *others = probe(ramp, 8, places=1)
    assert not others and part == slice(0, 64)
    # texel 11 lies in column 3 of row 1
    grey = 0.5 * (3.5 / 8) + 0.25 * (1.5 / 8)
    cosines = probe_pairs()[:, 0, 2]
    np.testing.assert_allclose(
        seen[11].reshape(PAIRS, 3), np.cbrt(grey * cosines / np.pi)[:, None].repeat(3, 1), rtol=1e-4
    )


def test_an_encoder_finds_latents_that_hang_on_what_is_seen_in_a_straight_or_bent_way():
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


def test_an_encoder_makes_no_latents_beyond_those_it_was_fitted_to():
    random = np.random.default_rng(1)
    seen = random.uniform(0, 1, (500, 3)).astype("f4")
    latents = seen[:, :2] * np.float32([2, -5])
    found = Encoder(seen, latents).encode(100 * seen - 50)
    np.testing.assert_array_equal(found.min(0), latents.min(0))
    np.testing.assert_array_equal(found.max(0), latents.max(0))


def test_what_is_the_same_everywhere_is_encoded_as_what_it_was_learnt_as():
    latents = np.tile(np.float32([0.5, -1.25]), (64, 1))
    found = Encoder(np.full((64, 3), 0.25, "f4"), latents).encode(np.full((5, 3), 0.25, "f4"))
    np.testing.assert_allclose(found, latents[:5], rtol=1e-6)
    assert FEATURES > 3


def test_the_small_texture_becomes_the_coarse_levels_of_the_large_one():
    small = initialise(SETTINGS.spec, replace(SETTINGS, resolution=16).layout(2), 3)
    grown = below_the_small_one(small, SETTINGS.layout(2))
    np.testing.assert_array_equal(grown.decoder, small.decoder)
    np.testing.assert_array_equal(grown.latents[2 * 32 * 32 :], small.latents)
    assert not grown.level(0).any()


def test_the_large_texture_is_handed_how_large_gradients_are():
    small = initialise(SETTINGS.spec, replace(SETTINGS, resolution=16).layout(2), 3)
    random = np.random.default_rng(0)
    state = {name: random.random(5) for name in ("decoder_m", "decoder_v", "decoder_bases")}
    squares = random.random(small.latents.shape, np.float32)
    layout = replace(SETTINGS, resolution=64).layout(2)
    found = handed_on(small, {"step": np.array(60), "latents_v": squares, **state}, layout)
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


@pytest.mark.parametrize(
    ("changes", "carries"),
    [
        ({}, True),
        ({"carries_moments": False}, False),
        # the ramp is a smooth one
        ({"carries_moments": False, "smooth_moments": True}, True),
    ],
    ids=["carried", "not carried", "of what is smooth"],
)
def test_moments_are_carried_where_a_bake_is_to_carry_them(ramp, tmp_path, changes, carries):
    settings, held = replace(SETTINGS, **changes), []
    options, control = BakeOptions("out", tmp_path, "numpy"), BakeControl(watch=held.append)
    events = bake([ramp], settings, options, control)
    for event in events:
        if isinstance(event, Phase) and event.name == "encoding":
            small = held[0].trainer.state()
        elif isinstance(event, Phase) and event.name == "training":
            large = held[0].trainer.state()
            break
    events.close()
    assert large["step"] == 0
    for name in ("decoder_m", "decoder_v", "decoder_bases"):
        assert np.array_equal(large[name], small[name]) == carries
    assert large["latents_v"].any() == carries


def test_stages_share_the_steps_and_round_in_the_last_tenth_as_a_single_one_does():
    settings = replace(SETTINGS, iterations=1000, candidates=3, candidate_share=0.1, most_places=4)
    small, large = stages_of(settings)
    assert (small.first_step, large.first_step) == (0, 250)
    assert (small.settings.iterations, large.settings.iterations) == (250, 750)
    assert (small.settings.resolution, large.settings.resolution) == (16, 32)
    # a tenth of the small one's steps for each start
    assert (small.settings.candidates, small.settings.candidate_steps) == (3, 25)
    assert large.settings.candidates == 1
    assert small.settings.training().quantisation is None
    assert small.settings.draw.finest_places == 4
    rounding = large.settings.training().quantisation
    assert (large.first_step + rounding.first_step, rounding.steps) == (900, 100)
    assert large.settings.training().schedule.latent_rate == settings.encoded_latent_rate


def test_the_horizon_waits_for_a_part_of_the_large_textures_steps():
    settings = replace(SETTINGS, iterations=1000, horizon_at=0.3)
    assert [stage.settings.horizon_step for stage in stages_of(settings)] == [250, 225]
    from_the_start = replace(settings, horizon_at=0.0)
    assert [stage.settings.horizon_step for stage in stages_of(from_the_start)] == [0, 0]
    in_one = replace(settings, encode_from=0)
    assert [stage.settings.horizon_step for stage in stages_of(in_one)] == [300]


def test_each_stage_draws_the_horizon_from_its_own_step_on(ramp):
    settings = replace(TINY, iterations=40, horizon_at=0.5)
    options = BakeOptions("out", Path())
    trainer, source = open_start([ramp], settings, options, "numpy", seed=0)
    trainer.close()
    assert source.horizon_from == 20


@pytest.mark.parametrize("changes", [{"encode_from": 0}, {"encode_from": 64}, {"iterations": 1}])
def test_a_texture_that_is_not_large_is_trained_in_one_stage(changes):
    settings = replace(SETTINGS, **changes)
    (stage,) = stages_of(settings)
    assert stage.settings == settings and stage.is_last


@pytest.mark.parametrize(
    "changes",
    [{"small_resolution": 48}, {"small_resolution": 2}, {"small_share": 1.0}, {"encode_from": 16}],
)
def test_sizes_and_shares_that_make_no_sense_are_refused(changes):
    (name, value) = next(iter(changes.items()))
    with pytest.raises(SettingsError, match=f"{name} is {value}"):
        replace(SETTINGS, **changes)


@pytest.fixture(scope="module")
def whole(ramp, tmp_path_factory):
    """A bake that was not cut off: its folder and its events."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, run([ramp], folder, SETTINGS)


def test_a_bake_of_a_large_texture_tells_its_stages_and_counts_steps_through(whole):
    folder, events = whole
    phases = [event for event in events if isinstance(event, Phase)]
    assert [phase.name for phase in phases] == [
        "small texture",
        "encoding",
        "training",
        "rounding",
        "measuring",
    ]
    # behind the trial of starts, which this one does without
    assert [(phase.number, phase.count) for phase in phases] == [(k, 6) for k in range(2, 7)]
    steps = [event.step for event in events if isinstance(event, Step)]
    assert steps == sorted(steps) and steps[-1] == 240
    assert events[-1].step == 240 and events[-1].stopped_by == "steps"
    bundle = open_bundle(folder / "out.vdg")
    assert bundle.layout.width == 32
    assert bundle.manifest.source["settings"]["small_resolution"] == 16


def test_encoded_texels_are_closer_than_those_they_are_made_of(ramp, tmp_path):
    held = {}
    control = BakeControl(watch=lambda run: held.update(run=run))
    settings = replace(SETTINGS, small_resolution=4, iterations=600, small_share=0.5)
    errors = {}
    for event in bake([ramp], settings, BakeOptions("out", tmp_path, "numpy"), control):
        if isinstance(event, Phase) and event.name in ("encoding", "training"):
            errors[event.name] = held["run"].measure().samples[0].log_mae
    assert errors["training"] < 0.7 * errors["encoding"]


@pytest.mark.parametrize("checkpoints", [1, 3, 4, 6])
def test_a_bake_cut_off_in_either_stage_ends_as_an_uninterrupted_one(
    ramp, whole, tmp_path, checkpoints
):
    last = events_until(ramp, tmp_path, Checkpointed, checkpoints)
    stage = checkpoint.load(tmp_path / "out.bake.npz").facts["stage"]
    assert stage == int(last.step >= 60)
    events = run([ramp], tmp_path, SETTINGS, resume=True)
    assert events[0].step == last.step
    names = [event.name for event in events if isinstance(event, Phase)]
    assert ("small texture" in names) == (stage == 0)
    cut, uncut = (open_bundle(each / "out.vdg").parameters() for each in (tmp_path, whole[0]))
    np.testing.assert_array_equal(uncut.decoder, cut.decoder)
    np.testing.assert_array_equal(uncut.latents, cut.latents)


def test_a_bake_that_is_stopped_in_the_small_stage_has_the_size_that_was_asked_for(ramp, tmp_path):
    control = BakeControl()
    for event in bake([ramp], SETTINGS, BakeOptions("out", tmp_path, "numpy"), control):
        if isinstance(event, Step):
            control.stop()
    assert isinstance(event, Finished) and event.stopped_by == "request"
    assert event.step == 20
    bundle = open_bundle(tmp_path / "out.vdg")
    assert bundle.layout.width == 32
    latents = bundle.parameters().level(0)[0]
    # encoded, not left at nothing
    assert latents.std(axis=(0, 1)).max() > 1e-3
    # the rest of the small stage is still to be had
    assert checkpoint.load(tmp_path / "out.bake.npz").facts["stage"] == 0
    again = run([ramp], tmp_path, SETTINGS, resume=True)
    assert (again[0].step, again[-1].step) == (20, 240)


def test_a_stop_ends_encoding_with_the_coarser_level_enlarged(ramp, tmp_path, monkeypatch):
    monkeypatch.setattr("verdigris.core.baking.phases.growth.SECONDS_AFTER_STOP", -1.0)
    settings = replace(SETTINGS, resolution=64, latent_bits=0)
    control = BakeControl()
    told = []
    for event in bake([ramp], settings, BakeOptions("out", tmp_path, "numpy"), control):
        told.append(event)
        if isinstance(event, Step) and event.step == 60 and is_encoding(told):
            control.stop()
    assert told[-1].stopped_by == "request"
    assert any("coarser than it was meant" in getattr(event, "text", "") for event in told)
    parameters = open_bundle(tmp_path / "out.vdg").parameters()
    # the level of 32 was the one that was encoded before the stop
    encoded = parameters.level(1)[0]
    assert (encoded[0, ::2] != encoded[0, 1::2]).any()
    doubled = encoded.repeat(2, axis=0).repeat(2, axis=1)
    np.testing.assert_array_equal(parameters.level(0)[0], doubled)


def test_coarse_levels_that_few_samples_have_taught_are_encoded_too(ramp, tmp_path):
    held, errors = {}, {}
    control = BakeControl(watch=lambda run: held.update(run=run))
    for event in bake([ramp], SETTINGS, BakeOptions("out", tmp_path, "numpy"), control):
        if isinstance(event, Phase) and event.name in ("encoding", "training"):
            parameters = held["run"].trainer.parameters()
            # of the same 8 x 8 and 4 x 4 texels, which were the small texture's second and third
            first = 1 if event.name == "encoding" else 2
            errors[event.name] = [error_of(ramp, parameters, first + each) for each in (0, 1)]
            if event.name == "training":
                break
    (finer, coarser), (finer_now, coarser_now) = errors["encoding"], errors["training"]
    assert finer_now < 0.75 * finer and coarser_now < coarser


def error_of(teacher, parameters, level):
    """At the texels' own middles, beside means over twice their width."""
    size = parameters.layout.level_size(level)[0]
    uv = texel_centres(np.arange(size * size), size).repeat(PAIRS, 0)
    wi, wo = (np.tile(each, (size * size, 1)) for each in probe_pairs().swapaxes(0, 1))
    found = np.asarray(evaluate(parameters.spec, parameters, uv, level, wi, wo))
    wanted = teacher.response(uv, wi, wo, footprint=Footprint(2 / size, 256))
    return np.abs(found - wanted).mean()


def is_encoding(events):
    return [event.name for event in events if isinstance(event, Phase)][-1] == "encoding"


def test_a_target_that_the_small_texture_reaches_is_followed_by_the_large_one(ramp, tmp_path):
    settings = replace(SETTINGS, iterations=100_000)
    options = {"target_error": 0.05, "metrics_seconds": 0.0, "checkpoint_seconds": 1e9}
    events = run([ramp], tmp_path, settings, **options)
    assert events[-1].stopped_by == "target error"
    # not the quarter of all steps that the small stage has
    assert events[-1].step < 25_000
    assert open_bundle(tmp_path / "out.vdg").layout.width == 32
    names = [event.name for event in events if isinstance(event, Phase)]
    assert names == ["small texture", "encoding", "training", "measuring"]


def test_starts_that_were_not_tried_before_a_stop_are_tried_on_resume(ramp, tmp_path):
    settings = replace(SETTINGS, candidates=3, candidate_share=0.4)
    uncut, cut = tmp_path / "uncut", tmp_path / "cut"
    run([ramp], uncut, settings)
    control = BakeControl()
    options = BakeOptions("out", cut, "numpy", checkpoint_seconds=0.0, run_seconds=0.0)
    steps = 0
    for event in bake([ramp], settings, options, control):
        steps += isinstance(event, Step)
        # in the second start
        if steps == 3:
            control.stop()
    assert "trial" in checkpoint.load(cut / "out.bake.npz").facts
    run([ramp], cut, settings, resume=True)
    found, wanted = (open_bundle(each / "out.vdg").parameters() for each in (cut, uncut))
    np.testing.assert_array_equal(found.latents, wanted.latents)


def test_a_short_bake_needs_no_room_for_a_checkpoint(ramp, tmp_path, monkeypatch):
    def full(path, *_):
        raise CheckpointError(f"{path}: cannot be written (no space)")

    monkeypatch.setattr("verdigris.core.baking.state.checkpoint.save", full)
    events = run([ramp], tmp_path / "short", SETTINGS, checkpoint_seconds=1e9)
    assert events[-1].stopped_by == "steps" and not warnings_of(events)
    # one that is stopped would have kept the small texture, and says that it could not
    control = BakeControl()
    options = BakeOptions("out", tmp_path / "cut", "numpy", checkpoint_seconds=1e9)
    told = []
    for event in bake([ramp], SETTINGS, options, control):
        told.append(event)
        if isinstance(event, Step):
            control.stop()
    assert told[-1].stopped_by == "request"
    assert any("cannot be written (no space)" in text for text in warnings_of(told))


def warnings_of(events):
    return [event.text for event in events if isinstance(event, Warning)]


def test_places_that_a_map_leaves_out_keep_what_the_encoder_made_of_them(ramp, tmp_path):
    weights = np.zeros((16, 16), np.float32)
    weights[:, :8] = 1
    events = run([ramp], tmp_path, SETTINGS, importance=weights)
    parameters = open_bundle(tmp_path / "out.vdg").parameters()
    # grey grows on with u there; copies of the nearest texel, that of column 16, would not
    left_out = parameters.level(0)[0][:, 18:23]
    assert (left_out.std(axis=1).max(axis=1) > 0).all()
    # as measured before latents were rounded and after, they are the same but for that
    assert not [text for text in warnings_of(events) if "bits a latent channel" in text]


def test_what_a_map_leaves_out_does_not_teach_the_encoder(ramp, tmp_path):
    weights = np.ones((16, 16), np.float32)
    weights[:, 8:] = 0
    held = {}
    control = BakeControl(watch=lambda run: held.update(run=run))
    options = BakeOptions("out", tmp_path, "numpy", importance=weights)
    for event in bake([ramp], SETTINGS, options, control):
        if isinstance(event, Phase) and event.name == "encoding":
            small = held["run"].trainer.parameters()
            # would carry the whole fit away
            held["run"].trainer.restore(spoilt(small), held["run"].trainer.state())
        if isinstance(event, Phase) and event.name == "training":
            latents = held["run"].trainer.parameters().level(0)[0]
            break
    trained = small.level(0)[0][:, :8]
    assert np.abs(latents).max() <= np.abs(trained).max() + 0.2


def spoilt(parameters):
    parameters = parameters.copy()
    parameters.level(0)[0][:, 9:15] = 1e4
    return parameters


class Slow:
    """A material that takes a hundredth of a millisecond a place, by a clock of its own."""

    now = 0.0

    def monotonic(self):
        return self.now

    def buffer(self, count, data):
        assert data.size == count
        return data

    def response_on_device(self, count, uv, wi, wo, footprint):
        assert uv.shape == (count, 2) and wi.shape == wo.shape >= (count, 3)
        self.now += count * footprint.places * 1e-5
        found = np.ones((count, 3), np.float32)
        return SimpleNamespace(to_numpy=lambda: found.view(np.uint8))


def test_how_long_encoding_takes_is_told_from_a_part_of_it(monkeypatch):
    slow = Slow()
    monkeypatch.setattr(growth, "time", slow)
    settings = replace(SETTINGS, resolution=64, small_resolution=32, encode_from=64)
    # four places of each small texel for the fit, then a level of 64 texels a side
    wanted = PAIRS * (4 * 32 * 32 + 64 * 64) * 1e-5
    assert seconds_to_encode([slow], settings) == pytest.approx(wanted)
    assert seconds_to_encode([slow], replace(settings, encode_from=0)) == 0


@pytest.mark.parametrize(("seconds", "resolution"), [(1.0, 32), (1e9, 0)])
def test_a_time_limit_counts_the_encoding_or_does_without(
    ramp, tmp_path, monkeypatch, seconds, resolution
):
    monkeypatch.setattr("verdigris.core.baking.bake.seconds_to_encode", lambda *_: seconds)
    settings = replace(SETTINGS, iterations=10**7)
    control = BakeControl()
    limits = {"time_limit": 4.0, "checkpoint_seconds": 0.0}
    for event in bake([ramp], settings, BakeOptions("out", tmp_path, "numpy", **limits), control):
        if isinstance(event, Checkpointed):
            control.stop()
    source = open_bundle(tmp_path / "out.vdg").manifest.source
    assert source["settings"]["encode_from"] == resolution
    # what was left out then is left out again
    stopped = BakeControl(stop_requested=True)
    again = run([ramp], tmp_path, settings, stopped, resume=True, **limits)
    assert again[0].step == source["step"]


def test_a_bake_goes_on_with_the_time_limit_and_the_encoder_that_it_began_with(ramp, tmp_path):
    events_until(ramp, tmp_path, Checkpointed, 1)
    for changes, limit, told in (
        ({}, 3.0, "was begun with no time limit, .* not with 3.0 s"),
        ({"encode_from": 0}, None, "was begun with encode_from 32, not 0: use"),
    ):
        with pytest.raises(CheckpointError, match=told):
            run([ramp], tmp_path, replace(SETTINGS, **changes), resume=True, time_limit=limit)
    limited = tmp_path / "limited"
    events_until(ramp, limited, Checkpointed, 1, time_limit=1000.0)
    with pytest.raises(CheckpointError, match="was begun with a time limit of 1000"):
        run([ramp], limited, SETTINGS, resume=True, time_limit=3.0)
    with pytest.raises(CheckpointError, match="was begun with encode_from 32, not 0: use"):
        wanted = replace(SETTINGS, encode_from=0)
        run([ramp], limited, wanted, resume=True, time_limit=1000.0)
    # it has taken nothing of what was asked for
    events = run([ramp], limited, SETTINGS, resume=True, time_limit=1000.0)
    assert (events[-1].step, events[-1].stopped_by) == (240, "steps")


def test_steps_count_on_from_where_a_small_texture_was_good_enough(ramp, tmp_path):
    last = events_until(ramp, tmp_path, Checkpointed, 8)
    path = tmp_path / "out.bake.npz"
    saved = checkpoint.load(path)
    assert (saved.facts["stage"], saved.facts["stage_begun"]) == (1, SETTINGS.small_steps)
    sooner = {**saved.facts, "stage_begun": SETTINGS.small_steps - 7}
    checkpoint.save(path, saved.parameters, sooner, saved.state)
    assert run([ramp], tmp_path, SETTINGS, resume=True)[0].step == last.step - 7


def test_a_checkpoint_of_a_stage_that_there_is_not_is_refused_by_name(ramp, tmp_path):
    events_until(ramp, tmp_path, Checkpointed, 1)
    path = tmp_path / "out.bake.npz"
    saved = checkpoint.load(path)
    for damage, told in (
        ({"stage": 2}, "stage is 2"),
        ({"stage": True}, "stage is True"),
        ({"stage": 1}, "latents are 16 x 16"),
        ({"stage_begun": 1}, "stage_begun is 1: use 0 to 0"),
        ({"stage_begun": "0"}, "stage_begun is '0'"),
    ):
        checkpoint.save(path, saved.parameters, {**saved.facts, **damage}, saved.state)
        with pytest.raises(VerdigrisError, match=told) as caught:
            run([ramp], tmp_path, SETTINGS, resume=True)
        assert str(path) in str(caught.value)


@pytest.mark.gpu
def test_on_a_graphics_card_a_bake_cut_off_in_either_stage_ends_as_an_uninterrupted_one(tmp_path):
    device = open_device("auto")
    if device.is_software:
        pytest.skip("needs a graphics card")
    teacher = Teacher(parse_document(RAMP, name="ramp"), device=device)
    found = []
    for checkpoints in (0, 1, 4):
        folder = tmp_path / str(checkpoints)
        folder.mkdir()
        if checkpoints:
            events_until(teacher, folder, Checkpointed, checkpoints, trainer="tensor")
        run([teacher], folder, SETTINGS, resume=bool(checkpoints), trainer="tensor")
        found.append(open_bundle(folder / "out.vdg").parameters())
    for cut in found[1:]:
        np.testing.assert_array_equal(found[0].decoder, cut.decoder)
        np.testing.assert_array_equal(found[0].latents, cut.latents)
