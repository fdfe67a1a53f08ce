"""The device's trainer learns light from below as from above."""

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.material.sides import mirrored
from verdigris.core.network.numpy_mlp import evaluate, loss_and_gradients
from verdigris.core.network.parameters import TransmittedSide
from verdigris.core.network.student import Student
from verdigris.core.settings.schedule import Schedule, TrainingSettings
from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer
from verdigris.core.training.optimiser import BASIS_STEPS

from ..latent_gradients import latent_error
from ..random_samples import random_batch, random_parameters
from .trainers import FP16, FP32, SMALL, frozen, open_trainer, relative_error, without_kinks

PAIRS = 4
# no group of a side is full with it
BATCH = 232
OF_POINTS = ("uv", "level", "material", "live")


class BothSides:
    """Points with two samples of each side; not all light below reaches the viewer."""

    pairs = PAIRS

    def __init__(self, parameters, is_half=False):
        self.parameters, self.is_half = parameters, is_half

    def draw(self, step, count):
        batch = random_batch(count, step).reshape(-1, PAIRS)
        for name in OF_POINTS:
            batch[name] = batch[name][:, :1]
        batch["wi"][:, PAIRS // 2 :, 2] *= -1
        if self.is_half:
            for number, samples in enumerate(self.sides(batch)):
                without_kinks(SMALL, self.parameters.sides[number])(samples)
                own = np.s_[:, PAIRS // 2 * number : PAIRS // 2 * (number + 1)]
                batch["weight"][own] = samples["weight"].reshape(len(batch), -1)
        return batch.reshape(-1)

    def sides(self, batch):
        """The samples of each side, as its decoder learns them."""
        points = batch.reshape(-1, PAIRS)
        above, below = (part.reshape(-1).copy() for part in np.split(points, 2, 1))
        below["wi"] = mirrored(below["wi"].T, below["wo"].T, self.parameters.index_below).T
        dark = below["wi"][:, 2] <= 0
        below["wi"][dark], below["weight"][dark] = [0, 0, 1], 0
        return above, below


def transmitting(index, seed=0):
    parameters = random_parameters(SMALL, seed)
    below = random_parameters(SMALL, seed + 10).decoder
    parameters.transmitted = TransmittedSide(below, index)
    return parameters


@pytest.mark.parametrize("index", [1.0, 1.5])
def test_given_light_from_both_sides_when_a_step_is_done_then_gradients_are_the_oracles(
    device, uses_tensor, index
):
    parameters = transmitting(index)
    source = BothSides(parameters, uses_tensor)
    settings = frozen(BATCH, latent_rate=1e-2)
    trainer = open_trainer(device, parameters, source, settings, uses_tensor)
    report, state = trainer.step_many(1), trainer.state()
    sides = source.sides(source.draw(0, BATCH))
    assert np.isclose(sides[1]["wi"], [0, 0, 1]).all(1).any() == (index > 1)
    expected = [
        loss_and_gradients(SMALL, side.astype("f8"), samples)
        for side, samples in zip(parameters.sides, sides, strict=True)
    ]
    tolerance = FP16 if uses_tensor else FP32
    loss = np.mean([each.loss for each in expected])
    assert report.loss == pytest.approx(loss, rel=2e-3 if uses_tensor else 1e-4)
    for name, each in zip(("decoder", "transmitted"), expected, strict=True):
        # each side has half of the batch, and the step leaves a tenth of the gradient
        assert relative_error(20 * state[f"{name}_m"], each.decoder) < tolerance
    latents = (expected[0].latents + expected[1].latents) / 2
    assert latent_error(parameters, trainer, latents) < tolerance
    trainer.close()


def test_given_the_same_batches_when_both_trainers_step_then_they_agree_on_both_sides(device):
    parameters, other = transmitting(1.5), transmitting(1.5, seed=1)
    source, settings = BothSides(parameters), TrainingSettings(24, schedule=Schedule(steps=100))
    expected = NumpyTrainer(parameters, source, settings)
    whole, resumed = (open_trainer(device, each, source, settings) for each in (parameters, other))
    student = Student(other, device)
    student.use_buffers(whole.shared_buffers())
    assert whole.step_many(9).loss == pytest.approx(expected.step_many(9).loss, rel=1e-3)
    resumed.restore(whole.parameters(), whole.state())
    for trainer in (expected, whole, resumed):
        trainer.step_many(BASIS_STEPS + 3)
    found, again = whole.parameters(), resumed.parameters()
    for number, start in enumerate(parameters.decoders):
        wanted = expected.parameters().decoders[number]
        assert np.linalg.norm(found.decoders[number] - wanted) < 0.02 * np.linalg.norm(
            wanted - start
        )
        np.testing.assert_array_equal(again.decoders[number], found.decoders[number])
    np.testing.assert_array_equal(again.latents, found.latents)
    # who looks on sees both sides
    batch = source.draw(99, 200)
    shown = student.response(batch["uv"], batch["wi"], batch["wo"])
    wanted = evaluate(SMALL, found.astype("f8"), batch["uv"], 0, batch["wi"], batch["wo"])
    np.testing.assert_allclose(shown, wanted, rtol=2e-4, atol=1e-6)
    assert (wanted[batch["wi"][:, 2] < 0] > 0).any()
    expected.close()


def test_given_a_batch_that_splits_a_point_when_opening_then_it_is_refused(device):
    parameters = transmitting(1.0)
    with pytest.raises(SettingsError, match="batch is 230: use a multiple of 4"):
        open_trainer(device, parameters, BothSides(parameters), frozen(230))
