"""Trainers round latents in the last part of a run, as the oracle does, and go on to the bit."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.latents.quantise import fit_ranges, soft_round, soft_round_derivative
from verdigris.core.network.numpy_mlp import loss_and_gradients
from verdigris.core.network.parameters import CheckpointError
from verdigris.core.settings.schedule import HARD, Quantisation, Schedule, TrainingSettings
from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer

from .latent_gradients import latent_error
from .random_samples import LAYOUT, Samples
from .rounding_trainers import BATCH, SPEC, open_tensor, uneven_parameters

PHASE = Quantisation(20, 30)


@pytest.fixture(
    params=["numpy", "portable", pytest.param("tensor", marks=pytest.mark.gpu)], scope="module"
)
def kind(request):
    return request.param


@pytest.fixture
def make(kind):
    trainers = []
    tensor = (
        None
        if kind == "numpy"
        else open_tensor("software" if kind == "portable" else "auto", kind == "tensor")
    )

    def open_trainer(quantisation, seed=0, rate=1e-2, steps=50):
        schedule = Schedule(steps, decoder_rate=rate / 2, latent_rate=rate)
        settings = TrainingSettings(BATCH, schedule=schedule, quantisation=quantisation)
        parameters = uneven_parameters(seed)
        trainers.append(
            tensor(parameters, settings)
            if tensor
            else NumpyTrainer(parameters, Samples(), settings)
        )
        return trainers[-1]

    yield open_trainer
    for trainer in trainers:
        trainer.close()


def by_material(parameters):
    """A view of each material's latents on each level, with the material's number."""
    for level in range(LAYOUT.levels):
        for material in range(LAYOUT.materials):
            yield material, parameters.level(level)[material]


def bytes_by_hand(parameters):
    """Offset, width of a byte and places on the grid of every latent, all like the latents."""
    offset, unit = parameters.copy(), parameters.copy()
    ends = [[], []]
    for material, values in by_material(parameters):
        ends[material].append(values.reshape(-1, 8))
    low, high = ([end(np.concatenate(e), 0) for e in ends] for end in (np.min, np.max))
    for (material, a), (_, b) in zip(by_material(offset), by_material(unit), strict=True):
        a[:], b[:] = low[material], (high[material] - low[material]) / 255
    return offset.latents, unit.latents, (parameters.latents - offset.latents) / unit.latents


@pytest.mark.parametrize("sharpness", [6.0, 1.0])
def test_a_steps_gradients_are_the_oracles_at_soft_rounded_latents(make, kind, sharpness):
    trainer = make(Quantisation(0, 1, None, sharpness, sharpness))
    report, state = trainer.step_many(1), trainer.state()
    rounded = uneven_parameters().astype("f8")
    offset, unit, places = bytes_by_hand(rounded)
    rounded.latents[:] = offset + unit * soft_round(places, sharpness)
    expected = loss_and_gradients(SPEC, rounded, Samples().draw(0, BATCH))
    latents = expected.latents * soft_round_derivative(places, sharpness)
    assert report.loss == pytest.approx(expected.loss, rel=2e-3 if kind == "tensor" else 1e-4)
    assert latent_error(uneven_parameters(), trainer, latents) < (
        1e-2 if kind == "tensor" else 1e-3
    )
    if kind != "numpy":
        # the first step leaves a tenth of the gradient in the first moment
        moments = state["decoder_m"] * 10
        error = np.linalg.norm(moments - expected.decoder) / np.linalg.norm(expected.decoder)
        assert error < (1e-2 if kind == "tensor" else 1e-3)


def test_straight_through_gradients_are_those_at_hard_rounded_latents(make, kind):
    trainer = make(Quantisation(0, 1, is_straight=True))
    trainer.step_many(1)
    rounded = uneven_parameters().astype("f8")
    offset, unit, places = bytes_by_hand(rounded)
    # hard, but for what is nearly a tie
    hard = soft_round(places, HARD.sharpness)
    is_tie = np.abs(places % 1 - 0.5) < 0.005
    np.testing.assert_allclose(hard[~is_tie], np.rint(places)[~is_tie], atol=1e-4)
    rounded.latents[:] = offset + unit * hard
    expected = loss_and_gradients(SPEC, rounded, Samples().draw(0, BATCH)).latents
    error = latent_error(uneven_parameters(), trainer, expected)
    assert error < (1e-2 if kind == "tensor" else 1e-3)


def test_until_the_phase_begins_a_run_is_the_one_without_it(make):
    with_phase, without = make(PHASE), make(None)
    for trainer in (with_phase, without):
        trainer.step_many(20)
    assert with_phase.latent_ranges() is None
    assert_same(with_phase.parameters(), without.parameters())
    before = with_phase.parameters()
    for trainer in (with_phase, without):
        trainer.step_many(1)
    assert (with_phase.parameters().latents != without.parameters().latents).any()
    offset, unit, _ = bytes_by_hand(before)
    packed = {0: [], 1: []}
    for (material, low), (_, step) in zip(
        by_material(replace(before, latents=offset)),
        by_material(replace(before, latents=unit)),
        strict=True,
    ):
        packed[material].append((low.reshape(-1, 8)[0], step.reshape(-1, 8)[0]))
    for material, found in enumerate(with_phase.latent_ranges()):
        np.testing.assert_array_equal(found.offset, packed[material][0][0])
        np.testing.assert_allclose(found.scale, 255 * packed[material][0][1], rtol=1e-6)


def test_latents_stay_within_their_ranges(make):
    trainer, free = make(replace(PHASE, first_step=0), rate=0.1), make(None, rate=0.1)
    for each in (trainer, free):
        each.step_many(20)
    left = 0
    for (material, values), (_, others) in zip(
        by_material(trainer.parameters()), by_material(free.parameters()), strict=True
    ):
        low, scale = (getattr(trainer.latent_ranges()[material], n) for n in ("offset", "scale"))
        high = low + scale * (1 + 1e-6)
        assert ((values >= low) & (values <= high)).all()
        left += ((others < low) | (others > high)).sum()
    assert left > 5


def test_outliers_are_brought_to_the_border_and_train_on(make):
    trainer = make(Quantisation(0, 50, outliers=0.05), rate=0)
    trainer.step_many(20)
    before, after = uneven_parameters(), trainer.parameters()
    brought = 0
    for (material, values), (_, others) in zip(
        by_material(after), by_material(before), strict=True
    ):
        low, scale = (getattr(trainer.latent_ranges()[material], n) for n in ("offset", "scale"))
        high = low + scale * (1 + 1e-6)
        is_out = (others < low) | (others > high)
        # but for the last bit at the border
        np.testing.assert_allclose(values[~is_out], others[~is_out], rtol=1e-6)
        brought += ((values >= low) & (values <= high))[is_out].sum()
    # a tenth of the texels that samples meet
    assert brought > 100
    fitted = fit_ranges(before, 0.05)
    for found, wanted in zip(trainer.latent_ranges(), fitted, strict=True):
        np.testing.assert_array_equal(found.offset, wanted.offset)


def test_a_run_cut_anywhere_goes_on_to_the_same_bits(make):
    """Before the phase, as it begins, and within it."""
    whole, first, resumed = make(PHASE), make(PHASE), make(PHASE, seed=1)
    end = PHASE.first_step + 20
    whole.step_many(end)
    for cut in (13, 20, end - 4):
        first.step_many(cut - first.step)
        resumed.restore(first.parameters(), first.state())
        resumed.step_many(end - cut)
        assert_same(resumed.parameters(), whole.parameters())
        for found, expected in zip(resumed.latent_ranges(), whole.latent_ranges(), strict=True):
            np.testing.assert_array_equal(found.scale, expected.scale)


def test_a_state_within_the_phase_needs_its_ranges(make):
    trainer = make(PHASE)
    trainer.step_many(25)
    parameters, state = trainer.parameters(), trainer.state()
    ranges = state.pop("latent_ranges")
    with pytest.raises(CheckpointError, match="latent_ranges is missing"):
        trainer.restore(parameters, state)
    with pytest.raises(CheckpointError, match="latent_ranges has shape"):
        trainer.restore(parameters, {**state, "latent_ranges": ranges[:1]})


def test_the_rounding_grows_harder_from_its_first_step_to_its_last():
    phase = Quantisation(100, 11, None, 2.0, 32.0)
    assert phase.rounding(99) is None
    assert phase.rounding(100).sharpness == 2.0
    assert phase.rounding(105).sharpness == pytest.approx(8.0)
    assert phase.rounding(110).sharpness == phase.rounding(500).sharpness == pytest.approx(32.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"first_step": -1}, "begins at step -1"),
        ({"steps": 0}, "takes 0"),
        ({"softest": 9.0, "hardest": 3.0}, "from 9.0 to 3.0"),
    ],
)
def test_a_phase_that_cannot_be_is_refused(values, message):
    with pytest.raises(SettingsError, match=message):
        replace(PHASE, **values)


def assert_same(a, b):
    np.testing.assert_array_equal(a.decoder, b.decoder)
    np.testing.assert_array_equal(a.latents, b.latents)
