"""Materials that are the same everywhere: several whole bakes, of which the best is kept."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.measure.measure import PICTURE_LIGHTING
from verdigris.core.baking.phases import candidates, picture_error
from verdigris.core.baking.phases.picture_error import PictureJudge, light_directions
from verdigris.core.baking.state import checkpoint
from verdigris.core.base.errors import SettingsError
from verdigris.core.batch.plan.estimate import Estimate, samples_of
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.precision.gptq_rounding import round_gptq
from verdigris.core.pictures.render import Lighting, draw, make_view
from verdigris.core.progress.events import (
    Checkpointed,
    Finished,
    Metrics,
    Phase,
    Preview,
    Started,
    Step,
)
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import require_settings

from .bakes import LIGHT, TINY, baked, run

STARTS = 3
SETTINGS = replace(
    TINY, resolution=256, uniform_resolution=4, uniform_starts=STARTS, uniform_share=0.5
)
BESIDE = replace(SETTINGS, batch=LIGHT.batch)
STEPS = TINY.iterations // 2


# Pixels a side of the pictures that a start is judged by.
SIZE = 16


@pytest.fixture(autouse=True)
def _small_judge(monkeypatch):
    monkeypatch.setattr(picture_error, "_SIZE", SIZE)


@pytest.fixture
def ends(monkeypatch):
    """What each start ended as, and the error that it was judged by."""
    found = []

    class Witness(PictureJudge):
        def error(self, bake_of):
            error = super().error(bake_of)
            found.append((error, bake_of.stored_parameters()))
            return error

    monkeypatch.setattr(candidates, "PictureJudge", Witness)
    return found


@pytest.fixture
def watched(clay, tmp_path):
    """A bake that has ended, with its student."""
    control, seen = BakeControl(), []
    control.watch = seen.append
    run([clay], tmp_path, replace(SETTINGS, uniform_starts=1), control)
    (bake_of,) = seen
    return bake_of


def sorted_bits(parameters):
    """As a bundle holds them, where units may stand in another order."""
    return np.sort(round_gptq(parameters))


def test_the_best_of_them_is_kept(clay, ends, tmp_path):
    events = run([clay], tmp_path, SETTINGS)
    errors = [error for error, _ in ends]
    assert len(set(errors)) == STARTS
    best = ends[int(np.argmin(errors))][1]
    result = baked(tmp_path)
    np.testing.assert_array_equal(sorted_bits(result), sorted_bits(best))
    np.testing.assert_array_equal(result.latents, best.latents)
    assert [event.name for event in events if isinstance(event, Phase)] == ["training", "measuring"]
    assert (events[-1].step, events[-1].stopped_by) == (STARTS * STEPS, "steps")
    source = open_bundle(tmp_path / "out.vdg").manifest.source
    assert (source["step"], source["settings"]["candidates"]) == (STEPS, STARTS)
    assert not (tmp_path / "out.bake.npz").exists()


def test_progress_counts_all_of_their_steps(clay, tmp_path):
    events = run([clay], tmp_path, SETTINGS)
    steps = [(event.step, event.steps) for event in events if isinstance(event, Step)]
    assert {total for _, total in steps} == {STARTS * STEPS}
    done = [step for step, _ in steps]
    assert done == sorted(done) and done[-1] == STARTS * STEPS
    # each is measured as it ends
    measured = [event.step for event in events if isinstance(event, Metrics)]
    assert measured == [number * STEPS for number in range(1, STARTS + 1)]


def test_the_error_is_that_of_pictures_of_what_a_bundle_would_hold(clay, watched):
    student = watched.current_student(watched.stored_parameters())
    view, errors = make_view("sphere", SIZE * 4), []
    for direction in light_directions():
        # a white surface that faces the light returns 1; x / (1 + x), then sRGB
        light = Lighting(direction, (np.pi,) * 3, environment=0.0, emission=0.0)
        shown = []
        for material in (clay, student):
            x = draw(material, view, light, 4, is_flat=True)[..., :3].astype(np.float64)
            x = x / (1 + x)
            shown.append(np.where(x > 0.0031308, 1.055 * x ** (1 / 2.4) - 0.055, 12.92 * x))
        errors.append(np.mean((shown[0] - shown[1]) ** 2))
    assert PictureJudge([clay]).error(watched) == pytest.approx(np.mean(errors), rel=1e-3)


def test_its_lights_are_even_over_the_half_of_all_directions_that_is_seen():
    directions = np.array(light_directions())
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1)
    assert directions[:, 2].min() > 0
    cosines = directions @ directions.T - 2 * np.eye(len(directions))
    nearest = np.degrees(np.arccos(cosines.max(axis=1)))
    assert nearest.min() > 20 and nearest.max() < 30
    # and none is that of the picture by which results are measured
    measured = np.array(PICTURE_LIGHTING.direction) / np.linalg.norm(PICTURE_LIGHTING.direction)
    assert (directions @ measured).max() < np.cos(np.radians(10))


def test_what_is_no_number_is_never_the_best(clay, watched):
    judge = PictureJudge([clay])
    error, spoilt = judge.error(watched), watched.stored_parameters()
    spoilt.decoder[:] = np.nan
    watched.stored_parameters = lambda: spoilt
    # black on this device, and no number on others
    assert judge.error(watched) > 100 * error


def test_a_bake_cut_off_between_them_ends_as_an_uninterrupted_one(clay, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run([clay], whole, SETTINGS)
    options = BakeOptions("out", parts, "numpy", checkpoint_seconds=0, run_seconds=1e-6)
    events = bake([clay], SETTINGS, options)
    for event in events:
        if isinstance(event, Checkpointed) and starts_kept(parts) == 1:
            break
    events.close()
    assert run([clay], parts, SETTINGS, resume=True)[-1].step == STARTS * STEPS
    np.testing.assert_array_equal(baked(whole).decoder, baked(parts).decoder)
    np.testing.assert_array_equal(baked(whole).latents, baked(parts).latents)


def starts_kept(folder):
    """Of a bake that tries them, those that have ended."""
    return checkpoint.load(folder / "out.bake.npz").facts["trial"]["number"]


def test_asked_to_stop_between_them_it_keeps_the_best_so_far_and_goes_on_with_the_others(
    clay, ends, tmp_path
):
    control = BakeControl()
    for event in bake([clay], SETTINGS, BakeOptions("out", tmp_path, "numpy"), control):
        if isinstance(event, Step) and event.step == STEPS:
            control.stop()
    assert (event.stopped_by, event.step) == ("request", STEPS)
    np.testing.assert_array_equal(baked(tmp_path).latents, ends[0][1].latents)
    run([clay], tmp_path, SETTINGS, resume=True)
    assert len(ends) == STARTS
    best = min(ends, key=lambda end: end[0])[1]
    np.testing.assert_array_equal(baked(tmp_path).latents, best.latents)


def test_no_other_is_tried_once_one_is_as_good_as_was_asked_for(clay, ends, tmp_path):
    events = run([clay], tmp_path, SETTINGS, target_error=1.0)
    assert len(ends) == 1
    assert (events[-1].stopped_by, events[-1].step) == ("target error", STEPS)


def test_a_time_limit_holds_all_of_them(clay, tmp_path):
    events = run([clay], tmp_path, replace(SETTINGS, iterations=10**6), time_limit=1.0)
    started = next(event for event in events if isinstance(event, Started))
    assert 1 < started.steps < 10**5
    assert isinstance(events[-1], Finished) and events[-1].stopped_by == "time limit"


def test_side_by_side_they_end_as_one_after_another(clay, abreast, ends, tmp_path):
    abreast(1)
    run([clay], tmp_path / "alone", BESIDE)
    alone, ends[:] = [*ends], []
    abreast(2)
    events = run([clay], tmp_path / "beside", BESIDE)
    assert len(ends) == STARTS
    for (error, parameters), (same_error, same) in zip(alone, ends, strict=True):
        assert error == same_error
        np.testing.assert_array_equal(parameters.latents, same.latents)
    results = [baked(tmp_path / name) for name in ("alone", "beside")]
    np.testing.assert_array_equal(*(each.decoder for each in results))
    # two, and what is left
    measured = [event.step for event in events if isinstance(event, Metrics)]
    assert measured == [2 * STEPS, STARTS * STEPS]
    steps = [(event.step, event.steps) for event in events if isinstance(event, Step)]
    assert steps == sorted(steps) and steps[-1] == (STARTS * STEPS, STARTS * STEPS)
    assert (events[-1].step, events[-1].stopped_by) == (STARTS * STEPS, "steps")


def test_a_picture_comes_before_those_that_train_side_by_side_have_ended(clay, abreast, tmp_path):
    abreast(STARTS)
    options = {"preview_seconds": 1000.0, "preview_size": 16, "run_seconds": 1e-6}
    events = run([clay], tmp_path, BESIDE, **options)
    pictures = [number for number, event in enumerate(events) if isinstance(event, Preview)]
    before = [event.step for event in events[: pictures[0]] if isinstance(event, Step)]
    assert STEPS // STARTS <= before[-1] // STARTS < STEPS
    early, best = (events[number].picture[..., :3] for number in pictures[:2])
    assert early.max() > 0.05 and (early != best).any()


def test_a_bake_cut_off_while_some_train_side_by_side_ends_as_an_uninterrupted_one(
    clay, abreast, tmp_path
):
    abreast(2)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run([clay], whole, BESIDE)
    options = BakeOptions("out", parts, "numpy", checkpoint_seconds=0, run_seconds=1e-6)
    events = bake([clay], BESIDE, options)
    kept = next(event for event in events if isinstance(event, Checkpointed))
    told = next(event for event in events if isinstance(event, Step))
    events.close()
    # of the two the checkpoint has the first
    assert 0 < kept.step < STEPS and told.step >= 2 * kept.step
    events = run([clay], parts, BESIDE, resume=True)
    assert (events[0].step, events[-1].step) == (kept.step, STARTS * STEPS)
    np.testing.assert_array_equal(baked(whole).decoder, baked(parts).decoder)
    np.testing.assert_array_equal(baked(whole).latents, baked(parts).latents)


def test_a_bake_that_is_stopped_while_the_first_train_keeps_one_and_goes_on(
    clay, abreast, tmp_path
):
    abreast(2)
    whole, parts, control = tmp_path / "whole", tmp_path / "parts", BakeControl()
    run([clay], whole, BESIDE)
    options = BakeOptions("out", parts, "numpy", run_seconds=1e-6)
    for event in bake([clay], BESIDE, options, control):
        if isinstance(event, Step):
            control.stop()
    assert event.stopped_by == "request" and 0 < event.step < 2 * STEPS
    assert np.isfinite(baked(parts).latents).all()
    run([clay], parts, BESIDE, resume=True)
    np.testing.assert_array_equal(baked(whole).latents, baked(parts).latents)


def test_they_are_for_such_a_material_alone_and_for_no_number_that_is_asked_for():
    standard = require_settings("standard", "tensor")
    few = standard.with_few_texels(4)
    assert few.has_whole_candidates and not standard.has_whole_candidates
    assert (few.candidates, few.iterations, few.batch) == (48, 6_000, 8_192)
    assert few.peak_rate == standard.uniform_rate < standard.decoder_rate
    assert samples_of(few) == pytest.approx(48 * 6_000 * 8_192)
    assert few.most_abreast == 8
    asked = standard.changed({"iterations": 500}).with_few_texels(4)
    assert (asked.iterations, asked.has_whole_candidates) == (500, False)
    one = standard.changed({"candidates": 1}).with_few_texels(4)
    assert (one.candidates, one.iterations) == (1, 6_000)
    assert standard.changed({"decoder_rate": 0.02}).with_few_texels(4).peak_rate == 0.02
    both = standard.changed({"candidates": 1, "uniform_starts": 2}).with_few_texels(4)
    assert both.candidates == 2
    assert standard.changed({"batch": 4_096}).with_few_texels(4).batch == 4_096


def test_wide_decoders_have_more_of_them_and_a_loss_of_their_own():
    final = require_settings("final", "tensor")
    few = final.with_few_texels(4)
    assert few.has_whole_candidates
    assert (few.candidates, few.iterations, few.batch) == (32, 6_000, 8_192)
    assert (few.loss, final.loss) == ("cbrt_bounded", "cbrt_log")
    assert final.changed({"loss": "cbrt_log"}).with_few_texels(4).loss == "cbrt_log"
    assert require_settings("standard", "tensor").with_few_texels(4).loss == "cbrt_bounded"


def test_short_bakes_of_wide_decoders_see_the_horizon_from_the_start():
    final = require_settings("final", "tensor")
    assert final.with_few_texels(4).horizon_step == 0 < final.horizon_step
    long = final.changed({"iterations": 500})
    assert long.with_few_texels(4).horizon_step == long.horizon_step == 350
    asked = final.changed({"horizon_at": 0.5}).with_few_texels(4)
    assert asked.horizon_step == asked.iterations // 2
    assert require_settings("standard", "tensor").with_few_texels(4).horizon_step == 0


def test_a_machine_is_no_slower_for_trying_them():
    settings = require_settings("standard", "tensor").with_few_texels(4)
    seconds, estimate = 7.0, Estimate()
    source = {"trainer": "tensor", "settings": settings.to_json(), "seconds": seconds}
    estimate.learn({**source, "step": settings.iterations})
    beside = Estimate().seconds(settings, "tensor", None) - samples_of(settings) / 3e8
    assert estimate.seconds(settings, "tensor", None) == pytest.approx(seconds + beside)
    # and tells nothing of textures, which are not trained side by side
    textured = require_settings("standard", "tensor")
    for each in (estimate, Estimate()):
        assert each.seconds(textured, "tensor", None) == pytest.approx(
            beside + samples_of(textured) / 3e8
        )


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"candidate_share": 0.7}, "candidate_share is 0.7: use 0 to 0.5, or 1"),
        ({"uniform_starts": -1}, "uniform_starts is -1: use 0 to 64"),
        ({"uniform_starts": 65}, "uniform_starts is 65: use 0 to 64"),
        ({"uniform_rate": 2.0}, "uniform_rate is 2.0: use 0 to 1"),
        ({"uniform_batch": -2}, "uniform_batch is -2: use a multiple of 1"),
        ({"uniform_horizon": -0.1}, "uniform_horizon is -0.1: use 0 to 1"),
    ],
)
def test_what_cannot_be_is_refused(wrong, told):
    with pytest.raises(SettingsError, match=told):
        BakeSettings(**wrong)
