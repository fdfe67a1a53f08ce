"""Progress, losses and errors of a bake."""

import pytest

from verdigris.ui.model.parts.bake_log import History


def send_plan(session, parts):
    """Sends a plan of phases, each with its first and last step."""
    plan = [{"name": name, "first": first, "last": last} for name, first, last in parts]
    session.receive("plan", parts=plan)


def test_progress_reserves_a_share_for_viewport_textures(session):
    model = session.ready()
    model.start()
    session.receive("started", step=0, steps=100)
    parts = [("training", 0, 90), ("rounding", 90, 100), ("flattening", 0, 60)]
    session.receive(
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
        session.receive("phase", name=name)
        session.receive("step", step=step, steps=steps, loss=0.5)
        seen.append(model.state.bake.progress.share)
    assert seen == pytest.approx([45 / 160, 100 / 160, 100 / 160, 130 / 160, 1.0])


def test_progress_never_decreases_when_a_phase_begins(session):
    model = session.ready()
    model.start()
    session.receive("started", step=0, steps=100)
    parts = [("candidates", 0, 20), ("training", 10, 90), ("rounding", 90, 100)]
    send_plan(session, parts)
    seen = []
    for name, first, last in parts:
        session.receive("phase", name=name)
        for step in range(first + 5, last + 1, 5):
            session.receive("step", step=step, steps=100, loss=0.5)
            progress = model.state.bake.progress
            seen.append((progress.number, progress.phase_share, progress.share))
    shares = [share for _, _, share in seen]
    assert shares == sorted(shares) and shares[-1] == 1.0
    # 20 steps of candidates, then 40 of 80
    assert (2, 0.5, 60 / 110) in seen
    session.receive("phase", name="measuring")
    assert model.state.bake.progress.number is None


def test_the_loss_of_a_small_texture_is_plotted_and_progress_waits_for_the_encoding(session):
    model = session.ready()
    model.start()
    session.receive("started", step=0, steps=100)
    parts = [("small texture", 0, 25), ("encoding", 25, 25), ("training", 25, 100)]
    send_plan(session, parts)
    shares = []
    for name, step in (("small texture", 25), ("encoding", 25), ("training", 25)):
        session.receive("phase", name=name)
        session.receive("step", step=step, steps=100, loss=0.5)
        shares.append((model.state.bake.progress.number, model.state.bake.progress.share))
    assert shares == [(1, 0.25), (2, 0.25), (3, 0.25)]
    assert len(model.state.bake.history.losses()[0]) == 2


def test_the_loss_is_plotted_through_rounding_aware_training(session):
    model = session.ready()
    model.start()
    session.receive("started", step=0, steps=100)
    send_plan(session, [("training", 0, 90), ("rounding", 90, 100)])
    for name, step in (("training", 90), ("rounding", 100)):
        session.receive("phase", name=name)
        session.receive("step", step=step, steps=100, loss=0.5, seconds_left=2.0)
    session.receive("phase", name="rounding")
    assert list(model.state.bake.history.losses()[0]) == [90, 100]
    assert model.state.bake.progress.seconds_left == 2.0


def test_errors_are_the_last_reported_ones(session):
    model = session.training()
    session.receive("metrics", step=1, samples=[{"log_mae": 0.5, "smape": 0.9, "relative_l1": 0.4}])
    session.receive("errors", step=2, log_mae=0.25, smape=0.8, relative_l1=0.3)
    assert model.state.bake.errors == {"log_mae": 0.25, "smape": 0.8, "relative_l1": 0.3}
    # the dots of the plot are complete measurements only
    assert model.state.bake.history.errors()[1][-1] == 0.5


def test_the_smoothed_loss_ignores_spikes_and_long_histories_are_thinned():
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
