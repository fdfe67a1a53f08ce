"""The CPU trainer: it learns, resumes to the bit, and survives samples that are no numbers."""

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.numpy_mlp import evaluate, loss_and_gradients
from verdigris.core.network.parameters import CheckpointError, initialise
from verdigris.core.network.spec import PRESETS, LatentLayout
from verdigris.core.pictures.compare.metrics import measure_samples
from verdigris.core.settings.schedule import Schedule, TrainingSettings
from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer
from verdigris.core.training.trainer import RATE

SPEC = PRESETS["2x16"]
LAYOUT = LatentLayout(16, 16)


class Spoilt:
    """A source whose batch of one step has a response that makes its loss infinite or no number."""

    def __init__(self, source, step, field, value):
        self.pairs = 1
        self._source, self._step, self._field, self._value = source, step, field, value

    def draw(self, step, count):
        batch = self._source.draw(step, count)
        if step == self._step:
            batch[self._field][3] = self._value
        return batch


@pytest.fixture
def make_trainer(analytic_source):
    trainers = []

    def make(source=None, seed=0, layout=LAYOUT, **settings):
        schedule = settings.pop("schedule", Schedule(40))
        settings = TrainingSettings(**{"batch": 64, "schedule": schedule} | settings)
        start = initialise(SPEC, layout, seed)
        trainers.append(NumpyTrainer(start, source or analytic_source(), settings))
        return trainers[-1]

    yield make
    for trainer in trainers:
        trainer.close()


def assert_same(a, b):
    np.testing.assert_array_equal(a.decoder, b.decoder)
    np.testing.assert_array_equal(a.latents, b.latents)


def test_it_learns_an_analytic_material(make_trainer, pool_source, draw_batch):
    layout = LatentLayout(32, 32)
    trainer = make_trainer(
        pool_source(1 << 17, pairs=2), layout=layout, batch=2048, schedule=Schedule(600)
    )
    held_out = draw_batch(np.random.default_rng(1), 20_000, mirror_share=0)

    def measure():
        parameters = trainer.parameters()
        prediction = evaluate(SPEC, parameters, held_out["uv"], 0, held_out["wi"], held_out["wo"])
        return measure_samples(prediction, held_out["response"])

    before = measure()
    first = trainer.step_many(20)
    trainer.step_many(560)
    last = trainer.step_many(20)
    after = measure()
    assert last.loss < 0.5 * first.loss
    assert after.log_mae < 0.5 * before.log_mae
    assert after.smape < 0.5 * before.smape


def test_the_first_step_moves_each_parameter_by_its_rate_against_the_gradient(
    make_trainer, analytic_source
):
    """Adam's first step is the sign of the gradient times the rate."""
    trainer = make_trainer(schedule=Schedule(40, decoder_rate=1e-3, latent_rate=1e-2))
    before = trainer.parameters()
    batch = analytic_source().draw(0, 64)
    expected = loss_and_gradients(SPEC, before.astype(np.float64), batch)
    report = trainer.step_many(1)
    after = trainer.parameters()
    assert report.loss == pytest.approx(expected.loss, rel=1e-5)
    for name, rate in (("decoder", 1e-3), ("latents", 1e-2)):
        gradient = getattr(expected, name)
        moved = getattr(after, name) - getattr(before, name)
        certain = np.abs(gradient) > 1e-4 * np.abs(gradient).max()
        np.testing.assert_allclose(
            moved[certain], -rate * np.sign(gradient[certain]), rtol=1e-3, atol=1e-6
        )


def test_texels_without_a_sample_keep_still(make_trainer):
    layout = LatentLayout(64, 64, levels=2)
    trainer = make_trainer(layout=layout)
    before = trainer.parameters()
    trainer.step_many(3)
    touched = (trainer.parameters().latents != before.latents).any(1)
    assert 0 < touched[: 64 * 64].sum() <= 3 * 4 * 64
    assert not touched[64 * 64 :].any()


def test_resuming_gives_the_bits_of_an_uninterrupted_run(make_trainer):
    whole = make_trainer()
    whole.step_many(30)

    first = make_trainer()
    first.step_many(11)
    parameters, state = first.parameters(), first.state()
    first.step_many(5)
    resumed = make_trainer(seed=7)
    resumed.restore(parameters, state)
    assert resumed.step == 11
    resumed.step_many(19)
    assert_same(resumed.parameters(), whole.parameters())


def test_a_trainer_that_begins_again_is_as_good_as_a_new_one(make_trainer):
    whole = make_trainer(seed=7)
    whole.step_many(30)

    again = make_trainer()
    again.step_many(25)
    again.restart(initialise(SPEC, LAYOUT, 7))
    assert again.step == 0
    again.step_many(30)
    assert_same(again.parameters(), whole.parameters())


def test_a_state_with_slower_rates_steps_as_with_lower_rates(make_trainer):
    schedule = Schedule(40)
    halves = Schedule(
        40, decoder_rate=schedule.decoder_rate / 2, latent_rate=schedule.latent_rate / 2
    )
    before = make_trainer()
    before.step_many(9)
    parameters, state = before.parameters(), before.state()
    found, wanted = make_trainer(), make_trainer(schedule=halves)
    found.restore(parameters, state | {RATE: np.array(0.5)})
    wanted.restore(parameters, state)
    for trainer in (found, wanted):
        trainer.step_many(8)
    assert_same(found.parameters(), wanted.parameters())
    assert found.state()[RATE] == 0.5 and RATE not in wanted.state()
    found.restart(parameters)
    assert RATE not in found.state()


def test_the_same_seed_gives_the_same_bits(make_trainer, analytic_source):
    a, b, c = make_trainer(), make_trainer(), make_trainer(analytic_source(seed=1))
    for trainer in (a, b, c):
        trainer.step_many(10)
    assert_same(a.parameters(), b.parameters())
    assert (a.parameters().decoder != c.parameters().decoder).any()


def test_a_step_with_a_gradient_that_is_not_finite_is_skipped_and_counted(
    make_trainer, analytic_source
):
    trainer = make_trainer(Spoilt(analytic_source(), 2, "weight", np.nan))
    trainer.step_many(2)
    before, state = trainer.parameters(), trainer.state()
    report = trainer.step_many(1)
    assert (report.skipped, report.samples) == (1, 64)
    assert np.isnan(report.loss)
    assert_same(trainer.parameters(), before)
    np.testing.assert_array_equal(trainer.state()["latents_v"], state["latents_v"])
    assert trainer.step == 3
    assert trainer.step_many(4).skipped == 0


def test_a_response_that_is_no_number_is_left_out_and_counted(make_trainer, analytic_source):
    trainer = make_trainer(Spoilt(analytic_source(), 2, "response", np.nan))
    report = trainer.step_many(5)
    assert (report.skipped, report.rejected) == (0, 1)
    assert np.isfinite(trainer.parameters().latents).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("decoder_m", np.zeros(3, np.float32)),
        ("latents_v", np.full((256, 8), np.nan, np.float32)),
        ("step", None),
    ],
)
def test_a_damaged_state_is_refused_by_name(make_trainer, name, value):
    trainer = make_trainer()
    state = trainer.state()
    del state[name]
    if value is not None:
        state[name] = value
    with pytest.raises(CheckpointError, match=name):
        trainer.restore(trainer.parameters(), state)


def test_parameters_of_another_network_are_refused(make_trainer):
    trainer = make_trainer()
    other = initialise(PRESETS["2x32"], LAYOUT, 0)
    with pytest.raises(CheckpointError, match="another network"):
        trainer.restore(other, trainer.state())


def test_a_batch_that_splits_a_point_is_refused(make_trainer, analytic_source):
    with pytest.raises(SettingsError, match="batch is 63: use a multiple of 2"):
        make_trainer(analytic_source(pairs=2), batch=63)


class Recording:
    """A source that keeps the steps it was asked for, and fails at one of them."""

    pairs = 1

    def __init__(self, source, fails_at=None):
        self.steps = []
        self._source, self._fails_at = source, fails_at

    def draw(self, step, count):
        self.steps.append(step)
        if step == self._fails_at:
            raise RuntimeError("device lost")
        return self._source.draw(step, count)


def test_nothing_is_drawn_ahead_of_the_last_step(make_trainer, analytic_source):
    source = Recording(analytic_source())
    trainer = make_trainer(source)
    trainer.step_many(3)
    assert source.steps == [0, 1, 2]
    trainer.step_many(0)
    trainer.step_many(2)
    assert source.steps == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("step", [0, 1, 3, 9, 12])
def test_a_source_that_fails_leaves_the_steps_before_it(make_trainer, analytic_source, step):
    trainer = make_trainer(Recording(analytic_source(), fails_at=step))
    with pytest.raises(RuntimeError, match="device lost"):
        trainer.step_many(15)
    whole = make_trainer()
    whole.step_many(step)
    assert trainer.step == step
    assert_same(trainer.parameters(), whole.parameters())
