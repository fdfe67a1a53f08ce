"""How far a bake is, and what its loss and its errors are, as the worker tells of it."""

import pytest

from verdigris.ui.history import History


def hear_plan(bench, parts):
    """Names of phases, each with its first and last step."""
    said = [{"name": name, "first": first, "last": last} for name, first, last in parts]
    bench.hear("plan", parts=said)


def test_the_bar_leaves_room_for_textures_that_are_fitted_after_measuring(bench):
    model = bench.ready()
    model.start()
    bench.hear("started", step=0, steps=100)
    parts = [("training", 0, 90), ("rounding", 90, 100), ("flattening", 0, 60)]
    bench.hear(
        "plan", parts=[{"name": name, "first": low, "last": high} for name, low, high in parts]
    )
    seen = []
    for name, step, steps in (
        ("training", 45, 100),
        ("rounding", 100, 100),
        ("measuring", 100, 100),
        ("flattening", 30, 60),
        ("flattening", 60, 60),
    ):
        bench.hear("phase", name=name)
        bench.hear("step", step=step, steps=steps, loss=0.5)
        seen.append(model.bake.progress.share)
    assert seen == pytest.approx([45 / 160, 100 / 160, 100 / 160, 130 / 160, 1.0])


def test_the_bar_of_the_whole_bake_never_goes_back_when_a_phase_begins(bench):
    model = bench.ready()
    model.start()
    bench.hear("started", step=0, steps=100)
    parts = [("candidates", 0, 20), ("training", 10, 90), ("rounding", 90, 100)]
    hear_plan(bench, parts)
    seen = []
    for name, first, last in parts:
        bench.hear("phase", name=name)
        for step in range(first + 5, last + 1, 5):
            bench.hear("step", step=step, steps=100, loss=0.5)
            progress = model.bake.progress
            seen.append((progress.number, progress.phase_share, progress.share))
    shares = [share for _, _, share in seen]
    assert shares == sorted(shares) and shares[-1] == 1.0
    # 20 steps of candidates, then 40 of 80
    assert (2, 0.5, 60 / 110) in seen
    bench.hear("phase", name="measuring")
    assert model.bake.progress.number is None


def test_the_loss_of_a_small_texture_is_shown_and_the_bar_waits_while_it_is_encoded(bench):
    model = bench.ready()
    model.start()
    bench.hear("started", step=0, steps=100)
    parts = [("small texture", 0, 25), ("encoding", 25, 25), ("training", 25, 100)]
    hear_plan(bench, parts)
    shares = []
    for name, step in (("small texture", 25), ("encoding", 25), ("training", 25)):
        bench.hear("phase", name=name)
        bench.hear("step", step=step, steps=100, loss=0.5)
        shares.append((model.bake.progress.number, model.bake.progress.share))
    assert shares == [(1, 0.25), (2, 0.25), (3, 0.25)]
    assert len(model.bake.history.losses()[0]) == 2


def test_the_loss_of_the_steps_that_round_is_shown_to_the_last(bench):
    model = bench.ready()
    model.start()
    bench.hear("started", step=0, steps=100)
    hear_plan(bench, [("training", 0, 90), ("rounding", 90, 100)])
    for name, step in (("training", 90), ("rounding", 100)):
        bench.hear("phase", name=name)
        bench.hear("step", step=step, steps=100, loss=0.5, seconds_left=2.0)
    bench.hear("phase", name="rounding")
    assert list(model.bake.history.losses()[0]) == [90, 100]
    assert model.bake.progress.seconds_left == 2.0


def test_error_figures_are_those_that_were_told_last(bench):
    model = bench.training()
    bench.hear("metrics", step=1, samples=[{"log_mae": 0.5, "smape": 0.9, "relative_l1": 0.4}])
    bench.hear("errors", step=2, log_mae=0.25, smape=0.8, relative_l1=0.3)
    assert model.bake.errors == {"log_mae": 0.25, "smape": 0.8, "relative_l1": 0.3}
    # dots of the plot are measured at once, or not at all
    assert model.bake.history.errors()[1][-1] == 0.5


def test_the_smoothed_loss_follows_the_raw_one_without_its_spikes():
    history = History()
    for step in range(200):
        history.add_loss(step, 1.0 if step != 100 else 1000.0)
    history.add_loss(300, None)
    _, raw, smooth = history.losses()
    assert raw.max() == 1000 and smooth.max() < 10
    assert smooth[-1] == pytest.approx(1.0, rel=0.01)
    for step in range(10_000):
        history.add_loss(400 + step, 0.5)
    assert len(history.losses()[0]) <= 2001
