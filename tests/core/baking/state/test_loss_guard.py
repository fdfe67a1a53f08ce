"""Bakes whose loss rises in the middle, and that return to an earlier state."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeControl
from verdigris.core.baking.state import checkpoint, loss_guard, trainers
from verdigris.core.baking.state.choices import Stage
from verdigris.core.baking.state.loss_guard import LossGuard
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.network.parameters import CheckpointError, initialise
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.schedule import Schedule
from verdigris.core.training.trainer import RATE

from ..bakes import TINY, assert_same, baked, cut_off, run, warnings_of

# Windows of 35 steps; a state is kept from step 105 on.
LONG = replace(TINY, iterations=1400)
STATE = "out.bake.npz"
# From the first of these steps to the second, rates are 30 times as large: decoders forget all.
WILD, RISEN = (600, 700), 665


@pytest.fixture
def wild_rates(monkeypatch):
    factor = Schedule.factor
    wild = range(*WILD)
    monkeypatch.setattr(
        Schedule, "factor", lambda self, step: factor(self, step) * (30 if step in wild else 1)
    )


@pytest.fixture(scope="module")
def good(clay, tmp_path_factory):
    """A bake whose loss does not rise, its events and its folder."""
    folder = tmp_path_factory.mktemp("good")
    return run([clay], folder, LONG), folder


def log_mae(events):
    return events[-1].samples[0].log_mae


@pytest.mark.usefixtures("wild_rates")
def test_a_bake_that_diverges_returns_to_its_least_loss_and_ends_well(
    clay, good, tmp_path, monkeypatch
):
    seen = []
    events = run([clay], tmp_path, LONG, BakeControl(watch=seen.append))
    told = warnings_of(events)
    # rates are still wild after the first return
    assert len(told) == 2
    assert told[0].startswith(f"step {RISEN}: the loss rose to ")
    assert told[0].endswith(
        "training continues from its state of step 525, with 0.5 of the learning rate"
    )
    assert told[1].endswith("state of step 525, with 0.25 of the learning rate")
    assert float(seen[0].learner.trainer.state()[RATE]) == 0.25
    assert log_mae(events) < 5 * log_mae(good[0])
    returns = open_bundle(tmp_path / "out.vdg").manifest.source["returns"]
    assert [(each["step"], each["to"]) for each in returns] == [(RISEN, 525), (RISEN + 70, 525)]
    assert min(each["factor"] for each in returns) > 1.5
    # the steps that a return loses are not done again
    assert seen[0].learner.trainer.step == LONG.iterations

    monkeypatch.setattr(loss_guard, "_MOST_RETURNS", 0)
    lost = run([clay], tmp_path, LONG)
    assert log_mae(lost) > 100 * log_mae(events)
    assert warnings_of(lost)[0].startswith("the loss rose to ")


def test_a_bake_that_does_not_diverge_keeps_its_bits(clay, good, tmp_path, monkeypatch):
    events, folder = good
    assert not warnings_of(events)
    assert "returns" not in open_bundle(folder / "out.vdg").manifest.source
    monkeypatch.setattr(loss_guard, "_LEAST_STEPS", LONG.iterations)
    seen = []
    run([clay], tmp_path, LONG, BakeControl(watch=seen.append))
    assert RATE not in seen[0].learner.trainer.state() and not seen[0].guard.arrays()
    assert_same(baked(folder), baked(tmp_path))


@pytest.mark.usefixtures("wild_rates")
def test_a_bake_that_returns_resumes_exactly(clay, tmp_path, monkeypatch):
    whole, folder = tmp_path / "whole", tmp_path / "cut"
    told = warnings_of(run([clay], whole, LONG))
    # a state is kept; one high window was seen; inside the next window; just returned; later
    monkeypatch.setattr(trainers, "FIRST_RUN", 1)
    for after in (595, 630, 640, RISEN, 800):
        # resumes each time from the checkpoint before
        last, _ = cut_off([clay], folder, LONG, after=after, resume=after > 595)
        assert after <= last.step < after + 35
        facts = checkpoint.load(folder / STATE).facts["guard"]
        assert len(facts["returns"]) == (last.step >= RISEN) + (last.step >= RISEN + 70)
    events = run([clay], folder, LONG, resume=True)
    assert len(told) == 2 and not warnings_of(events)
    assert_same(baked(folder), baked(whole))
    returns = [open_bundle(each / "out.vdg").manifest.source["returns"] for each in (whole, folder)]
    assert [each["step"] for each in returns[0]] == [each["step"] for each in returns[1]]


def test_a_damaged_state_of_the_loss_is_refused(clay, tmp_path):
    cut_off([clay], tmp_path, LONG, after=560)
    path = tmp_path / STATE
    saved = checkpoint.load(path)
    assert "kept_step" in saved.state
    for name, value in (("sum", "much"), ("returns", [3]), ("high", 1e400)):
        facts = {**saved.facts, "guard": {**saved.facts["guard"], name: value}}
        checkpoint.save(path, saved.parameters, facts, saved.state)
        with pytest.raises(CheckpointError, match="the state of the loss is damaged"):
            run([clay], tmp_path, LONG, resume=True)
    state = {name: each for name, each in saved.state.items() if name != "kept_latents"}
    checkpoint.save(path, saved.parameters, saved.facts, state)
    with pytest.raises(CheckpointError, match="the kept state is damaged"):
        run([clay], tmp_path, LONG, resume=True)


class Recorded:
    """A trainer that only counts, for losses that were recorded on a GPU."""

    def __init__(self, settings):
        self.step = 0
        self.kept = []
        self.restored = []
        self._parameters = initialise(settings.spec, settings.layout(), 0)

    def parameters(self):
        return self._parameters

    def state(self):
        self.kept.append(self.step)
        return {"step": np.array(self.step)}

    def restore(self, parameters, state):
        self.restored.append((int(state["step"]), float(state[RATE])))


def replay(losses, steps=55_800, resolution=16):
    """What the guard does with the losses of a stage, as (part of the steps, loss) with lines
    between."""
    settings = BakeSettings(network="2x16", resolution=resolution, iterations=steps)
    guard, trainer = LossGuard("tensor", Stage(settings)), Recorded(settings)
    random, parts = np.random.default_rng(0), list(zip(*losses, strict=True))
    while window := guard.window_at(trainer.step):
        trainer.step += window
        loss = np.interp(trainer.step / steps, *parts) * random.normal(1, 0.02)
        guard.watch(trainer, float(loss), window)
    return trainer


def test_recorded_losses_of_good_bakes_do_not_return():
    # car_paint, and a pawn that rises to 1.05 times its lowest loss
    car = replay([(0, 0.039), (0.02, 0.021), (0.2, 0.0148), (0.5, 0.0129), (1, 0.0127)])
    pawn = replay([(0, 0.05), (0.1, 0.03), (0.8, 0.0268), (0.85, 0.0281), (1, 0.028)])
    assert not car.restored and not pawn.restored
    # at a small absolute loss, means are noisy
    assert not replay([(0, 0.01), (0.3, 0.0005), (0.4, 0.0015), (1, 0.0012)]).restored


def test_a_recorded_loss_that_fails_returns_once_it_has_risen():
    failed = [(0, 0.04), (0.02, 0.022), (0.373, 0.0145), (0.42, 0.0286), (0.8, 0.051), (1, 0.073)]
    trainer = replay(failed)
    # the loss was recorded without a return, so that it stays high
    assert [rate for _, rate in trainer.restored] == [0.5, 0.25, 0.125]
    assert 0.39 < trainer.restored[0][0] / 55_800 < 0.46


def test_a_recorded_loss_that_fails_early_returns():
    # worn_chrome by `final`, two seeds, before the first state that was kept at a quarter
    early = [(0, 0.014), (0.025, 0.0123), (0.074, 0.0099), (0.1, 0.0102), (0.148, 0.027), (1, 0.02)]
    late = [(0, 0.014), (0.025, 0.0124), (0.22, 0.0085), (0.25, 0.0108), (0.3, 0.022), (1, 0.02)]
    for losses, low, high in ((early, 0.12, 0.19), (late, 0.27, 0.33)):
        trainer = replay(losses, steps=81_000, resolution=1024)
        assert low < trainer.restored[0][0] / 81_000 < high


def test_large_textures_are_copied_less_often():
    falling = [(0, 0.04), (1, 0.01)]
    assert len(replay(falling).kept) > 8
    assert len(replay(falling, resolution=1024).kept) == 2
