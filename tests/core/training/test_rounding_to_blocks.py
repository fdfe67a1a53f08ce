"""Training of blocks: as the oracle decodes them, the same on a device, and on to the bit."""

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.latents.block_lines import compressed_copy
from verdigris.core.network.latents.quantise import fit_ranges
from verdigris.core.network.numpy_mlp import loss_and_gradients
from verdigris.core.settings.schedule import BlockLines, Quantisation, Schedule, TrainingSettings
from verdigris.core.training.latent_rounding import move_to_blocks, rotate_latents
from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer

from .latent_gradients import latent_error
from .random_samples import LAYOUT, Samples
from .rounding_trainers import BATCH, SPEC, open_tensor, uneven_parameters

# Rotates at step 4, moves latents from then on and all the way from step 12, and rounds from 20.
PHASE = Quantisation(20, 30, BlockLines(4, 12, interval=5))


@pytest.fixture(params=["numpy", "portable"], scope="module")
def kind(request):
    return request.param


@pytest.fixture
def make(kind):
    trainers = []

    def open_trainer(quantisation, seed=0, kind=kind, decoder_rate=5e-3, latent_rate=1e-2):
        schedule = Schedule(50, decoder_rate=decoder_rate, latent_rate=latent_rate)
        settings = TrainingSettings(BATCH, schedule=schedule, quantisation=quantisation)
        parameters = uneven_parameters(seed)
        trainers.append(
            NumpyTrainer(parameters, Samples(), settings)
            if kind == "numpy"
            else open_tensor("software", False)(parameters, settings)
        )
        return trainers[-1]

    yield open_trainer
    for trainer in trainers:
        trainer.close()


def test_a_step_is_the_oracles_at_decoded_latents(make):
    trainer = make(Quantisation(0, 1, BlockLines(9, 9), is_straight=True))
    report = trainer.step_many(1)
    moved = uneven_parameters()
    ranges = fit_ranges(moved)
    move_to_blocks(LAYOUT, moved.latents, np.zeros_like(moved.latents), 1.0, ranges)
    decoded = compressed_copy(moved, ranges).astype("f8")
    expected = loss_and_gradients(SPEC, decoded, Samples().draw(0, BATCH))
    assert report.loss == pytest.approx(expected.loss, rel=1e-3)
    # a few texels lie halfway between two indices
    assert latent_error(moved, trainer, expected.latents) < 0.15


def test_the_device_moves_latents_to_the_same_blocks(make, kind):
    if kind == "numpy":
        pytest.skip("compares the device with it")
    here, there = make(PHASE, kind="numpy"), make(PHASE)
    for trainer in (here, there):
        trainer.step_many(21)
    ends = [trainer.state()["latent_ends"] for trainer in (here, there)]
    # a tie of two kinds, or of two roundings, may go the other way
    assert (ends[0] != ends[1]).mean() < 0.02
    found = there.parameters().latents - here.parameters().latents
    assert np.sqrt(np.mean(found**2)) < 0.01


def test_a_run_cut_anywhere_goes_on_to_the_same_bits(make, kind):
    whole, first, resumed = make(PHASE), make(PHASE), make(PHASE, seed=1)
    whole.step_many(28)
    for cut in (3, 4, 20, 23) if kind == "numpy" else (4, 23):
        first.step_many(cut - first.step)
        resumed.restore(first.parameters(), first.state())
        resumed.step_many(28 - cut)
        for name in ("decoder", "latents"):
            found, expected = (getattr(each.parameters(), name) for each in (resumed, whole))
            np.testing.assert_array_equal(found, expected)


def test_a_rotation_changes_no_response_and_no_step_of_the_decoder(make, kind):
    plain, rotated = (make(None, latent_rate=0) for _ in range(2))
    plain.step_many(30)
    before = plain.parameters()
    side = 32 if kind == "portable" else None
    after, state = rotate_latents(before, plain.state(), side)
    assert np.abs(after.latents - before.latents).max() > 0.1
    batch = Samples().draw(30, BATCH)
    losses = [loss_and_gradients(SPEC, each.astype("f8"), batch).loss for each in (before, after)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    rotated.restore(after, state)
    reports = [trainer.step_many(8) for trainer in (plain, rotated)]
    assert reports[1].loss == pytest.approx(reports[0].loss, rel=1e-4)
    # the rotation is undone by that of the latents, which no step has changed
    back = np.linalg.lstsq(after.latents, before.latents, rcond=None)[0]
    found, expected = (trainer.parameters().frames() for trainer in (rotated, plain))
    np.testing.assert_allclose(found @ back, expected, atol=2e-3)


def test_latents_move_ever_further_and_all_the_way_in_the_last_phase():
    settings = TrainingSettings(quantisation=PHASE)
    moves = {step: settings.line_strength(step) for step in range(31)}
    assert {step for step, strength in moves.items() if strength} == {5, 10, 15, 20, 25, 30}
    assert 0 < moves[5] < moves[10] < 1 == moves[15] == moves[20] == moves[30]
    assert [step for step in range(31) if settings.rotates(step)] == [4]
    with pytest.raises(SettingsError, match="lines of blocks begin at step 5"):
        BlockLines(5, 4)


def test_a_phase_that_begins_with_the_rotation_leaves_a_state_to_go_on_from(make):
    phase = Quantisation(0, 10, BlockLines(0, 0))
    whole, first, resumed = make(phase), make(phase), make(phase, seed=1)
    whole.step_many(4)
    first.step_many(1)
    resumed.restore(first.parameters(), first.state())
    resumed.step_many(3)
    np.testing.assert_array_equal(resumed.parameters().latents, whole.parameters().latents)
