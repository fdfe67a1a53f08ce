"""The device's trainer computes what the oracle does, and the same bits every time."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.base.device import Device
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.kernels import Source
from verdigris.core.network.activations import response_of
from verdigris.core.network.numpy_mlp import forward, loss_and_gradients
from verdigris.core.network.parameters import CheckpointError, initialise
from verdigris.core.network.spec import ACTIVATIONS, LOSSES, PRESETS, LatentLayout, NetworkSpec
from verdigris.core.network.student import Student
from verdigris.core.sampling.draw_samples import TRAINING_SAMPLE, turn_of
from verdigris.core.settings.schedule import BlockLines, Quantisation, Schedule, TrainingSettings
from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer
from verdigris.core.training.optimiser import BASIS_STEPS
from verdigris.core.training.tensor.group_plan import (
    GroupPlan,
    group_bytes,
    has_matrix_hardware,
    plan_groups,
    slot_count,
)
from verdigris.core.training.tensor.step_kernels import StudentKernels
from verdigris.core.training.tensor.tensor_trainer import TensorTrainer
from verdigris.core.training.tensor.trainer_memory import TENSOR_CHUNK_STEPS, read_buffer
from verdigris.core.training.trainer import RATE

from ..latent_gradients import latent_error
from ..random_samples import LAYOUT, Samples, random_parameters
from .trainers import (
    FP16,
    FP32,
    ODD_BATCH,
    SMALL,
    frozen,
    open_or_skip,
    open_trainer,
    relative_error,
    without_kinks,
)

# Few networks, since each is compiled: that of a preset, the largest of everything, the least.
WIDE = NetworkSpec(48, 3, "leaky_smelu", latent_channels=16, frame_count=3)
# Its matrices lie in larger squares.
TINY = NetworkSpec(24, 1, "silu", latent_channels=4, frame_count=1, live_inputs=3)
LOSS_OF = {SMALL: "cbrt_log", WIDE: "l1", TINY: "log_l1"}
NETWORKS = pytest.mark.parametrize("spec", LOSS_OF, ids=["small", "wide", "tiny"])
# Several groups, for many steps.
SHORT_BATCH = 24


def assert_gradients(device, uses_tensor, spec, loss="cbrt_log", brighter=1.0, light_step=None):
    parameters = random_parameters(spec)
    leave_out = without_kinks(spec, parameters) if uses_tensor else lambda batch: None

    def change(batch):
        batch["response"] *= brighter
        leave_out(batch)

    source = Samples(change)
    settings = frozen(loss=loss, latent_rate=1e-2, light_step=light_step)
    trainer = open_trainer(device, parameters, source, settings, uses_tensor)
    report = trainer.step_many(1)
    state = trainer.state()
    batch = source.draw(0, ODD_BATCH)
    share = settings.light_share(0)
    expected = loss_and_gradients(spec, parameters.astype("f8"), batch, loss, share)
    tolerance = FP16 if uses_tensor else FP32
    assert np.count_nonzero(batch["weight"]) > ODD_BATCH // 3
    assert report.loss == pytest.approx(expected.loss, rel=2e-3 if uses_tensor else 1e-4)
    assert report.skipped == report.rejected == 0
    # the first step leaves a tenth of the gradient in the first moment
    found, size = state["decoder_m"] * 10, spec.frame_size
    assert relative_error(found, expected.decoder) < tolerance
    # the frames' gradients are small sums of large numbers
    assert relative_error(found[:size], expected.decoder[:size]) < 2 * tolerance
    assert latent_error(parameters, trainer, expected.latents) < tolerance
    trainer.close()


@NETWORKS
def test_given_a_network_and_loss_when_a_step_is_done_then_gradients_are_the_oracles(
    device, uses_tensor, spec
):
    assert_gradients(device, uses_tensor, spec, LOSS_OF[spec])


@pytest.mark.parametrize("light_step", [None, 0], ids=["", "light"])
def test_given_highlights_when_a_step_is_done_then_gradients_are_the_oracles(
    device, uses_tensor, light_step
):
    """Predictions and responses around the steepest root's cube, 27, on either side of it."""
    spec = replace(SMALL, activation="relu", output_shift=-2.3)
    assert_gradients(
        device, uses_tensor, spec, "cbrt_bounded", brighter=100.0, light_step=light_step
    )


@pytest.mark.gpu
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("preset", PRESETS)
def test_given_matrix_hardware_when_a_step_is_done_then_every_preset_has_the_oracles_gradients(
    preset, activation, loss
):
    device = open_or_skip("auto")
    if not has_matrix_hardware(device.gpu):
        pytest.skip(f"{device} has no matrix hardware that Vulkan can reach")
    assert_gradients(device, True, replace(PRESETS[preset], activation=activation), loss)


class HalfPlan(GroupPlan):
    """The portable products on half floats: the matrix hardware's range without the hardware."""

    element_bytes = 2

    def defines(self):
        return {**super().defines(), "ELEMENT": "half"}


def test_given_highlights_beyond_half_floats_when_stepping_then_the_step_is_taken(device):
    def blind(batch):
        batch["weight"][:4] = 1e6

    # the activation of the other tests of half floats
    parameters = random_parameters(replace(SMALL, activation="silu"))
    plan = HalfPlan(False, 32, 2, unrolls=False)
    trainer = TensorTrainer(parameters, Samples(blind), frozen(), device, plan)
    assert trainer.step_many(1).skipped == 0
    state = trainer.state()
    assert np.isfinite(state["decoder_m"]).all()
    assert np.isfinite(state["latents_v"]).all()
    assert state["latents_v"].max() > 0


@pytest.mark.parametrize("activation", ["silu", "leaky_relu"])
def test_given_sums_beyond_half_floats_when_stepping_then_the_step_is_taken(device, activation):
    spec = replace(SMALL, activation=activation)
    parameters = random_parameters(spec)
    first = parameters.weights(spec.layers[0])
    first[3], first[7] = 3e4, -3e4
    source = Samples()
    columns = (source.draw(0, ODD_BATCH)[name] for name in ("uv", "level", "wi", "wo", "material"))
    uv, level, wi, wo, material = (np.asarray(each).T for each in columns)
    _, tape = forward(spec, parameters, uv, level.astype(int), wi, wo, material.astype(int))
    sums = tape.pre_activations[0]
    assert (sums > 7e4).any() and (sums < -7e4).any()
    plan = HalfPlan(False, 32, 2, unrolls=False)
    trainer = TensorTrainer(parameters, source, frozen(), device, plan)
    report = trainer.step_many(1)
    assert report.skipped == 0 and np.isfinite(report.loss)
    assert np.isfinite(trainer.state()["decoder_m"]).all()


def test_given_half_floats_when_a_step_is_done_then_gradients_are_near_the_oracles(device):
    spec = replace(SMALL, activation="silu")
    parameters = random_parameters(spec)
    plan = HalfPlan(False, 32, 2, unrolls=False)
    source = Samples(without_kinks(spec, parameters))
    trainer = TensorTrainer(parameters, source, frozen(latent_rate=1e-2), device, plan)
    trainer.step_many(1)
    state, batch = trainer.state(), source.draw(0, ODD_BATCH)
    expected = loss_and_gradients(spec, parameters.astype("f8"), batch)
    assert 1e-5 < relative_error(state["decoder_m"] * 10, expected.decoder) < FP16 / 4
    assert latent_error(parameters, trainer, expected.latents) < FP16 / 4


@NETWORKS
def test_given_the_same_batches_when_both_trainers_step_then_they_agree(device, spec):
    parameters = random_parameters(spec)
    schedule = Schedule(steps=100, warm_up=2)
    settings = TrainingSettings(SHORT_BATCH, LOSS_OF[spec], schedule)
    expected, found = (
        NumpyTrainer(parameters, Samples(), settings),
        open_trainer(device, parameters, Samples(), settings),
    )
    # the bases are turned twice
    for steps in (1, 9, *([] if spec is WIDE else [2 * BASIS_STEPS])):
        assert found.step_many(steps).loss == pytest.approx(
            expected.step_many(steps).loss, rel=1e-3
        )
    moved = expected.parameters().decoder - parameters.decoder
    difference = found.parameters().decoder - expected.parameters().decoder
    assert np.linalg.norm(difference) < 0.02 * np.linalg.norm(moved)
    expected.close()


@pytest.mark.parametrize("spec", [SMALL, TINY], ids=["small", "tiny"])
def test_given_a_run_when_it_is_interrupted_and_resumed_then_it_ends_with_the_same_bits(
    device, uses_tensor, spec
):
    parameters = random_parameters(spec)
    # the bases are turned before the interruption and after it
    before, steps = BASIS_STEPS + 1, 2 * BASIS_STEPS + 1
    settings = TrainingSettings(SHORT_BATCH, LOSS_OF[spec], Schedule(steps=steps))
    whole = open_trainer(device, parameters, Samples(), settings, uses_tensor)
    whole.step_many(steps)
    first = open_trainer(device, parameters, Samples(), settings, uses_tensor)
    first.step_many(before)
    resumed = open_trainer(device, random_parameters(spec, 1), Samples(), settings, uses_tensor)
    resumed.restore(first.parameters(), first.state())
    assert resumed.step == before
    resumed.step_many(steps - before)
    assert np.array_equal(resumed.parameters().decoder, whole.parameters().decoder)
    assert np.array_equal(resumed.parameters().latents, whole.parameters().latents)


def test_given_a_trainer_that_begins_again_when_stepping_then_it_ends_as_a_new_one(
    device, uses_tensor
):
    settings = TrainingSettings(64, schedule=Schedule(steps=40), quantisation=Quantisation(10, 30))
    other = random_parameters(SMALL, 1)
    whole = open_trainer(device, other, Samples(), settings, uses_tensor)
    again = open_trainer(device, random_parameters(SMALL), Samples(), settings, uses_tensor)
    again.step_many(25)
    again.restart(other)
    assert (again.step, again.latent_ranges()) == (0, None)
    reports = [trainer.step_many(30) for trainer in (whole, again)]
    assert reports[0] == reports[1]
    assert np.array_equal(again.parameters().decoder, whole.parameters().decoder)
    assert np.array_equal(again.parameters().latents, whole.parameters().latents)


def test_given_a_state_with_slower_rates_when_stepping_then_it_steps_as_with_lower_rates(
    device, uses_tensor
):
    """Before and after latents are rotated, which restores a state."""
    lines = BlockLines(12, 20)
    settings = TrainingSettings(64, schedule=Schedule(40), quantisation=Quantisation(30, 10, lines))
    rates = {name: getattr(settings.schedule, name) / 2 for name in ("decoder_rate", "latent_rate")}
    halves = replace(settings, schedule=Schedule(40, **rates))
    before = open_trainer(device, random_parameters(SMALL), Samples(), settings, uses_tensor)
    before.step_many(9)
    parameters, state = before.parameters(), before.state()
    found = open_trainer(device, parameters, Samples(), settings, uses_tensor)
    wanted = open_trainer(device, parameters, Samples(), halves, uses_tensor)
    found.restore(parameters, state | {RATE: np.array(0.5)})
    wanted.restore(parameters, state)
    for trainer in (found, wanted):
        trainer.step_many(16)
    assert found.state()[RATE] == 0.5 and RATE not in wanted.state()
    assert np.array_equal(found.parameters().decoder, wanted.parameters().decoder)
    assert np.array_equal(found.parameters().latents, wanted.parameters().latents)


def test_given_a_trainer_before_when_opening_then_what_it_compiled_serves_other_textures(device):
    before = open_trainer(device, random_parameters(SMALL), Samples(), TrainingSettings(64))
    before.step_many(1)
    before.close()
    layout, settings = LatentLayout(32, 16, levels=3, materials=2), TrainingSettings(96)
    parameters = initialise(SMALL, layout, 0)
    alone = replace(device, _shared={})
    fresh = TensorTrainer(parameters, Samples(), settings, alone, before.plan)
    served = TensorTrainer(parameters, Samples(), settings, device, before.plan)
    assert served.step_many(20) == fresh.step_many(20)
    assert np.array_equal(served.parameters().latents, fresh.parameters().latents)


def test_given_a_student_that_looks_on_when_the_trainer_steps_then_it_sees_what_was_learnt(device):
    trainer = open_trainer(device, random_parameters(SMALL), Samples(), TrainingSettings(64))
    student = Student(random_parameters(SMALL, 1), device)
    batch = Samples().draw(9, 200)
    seen = []
    for _ in range(2):
        buffers = trainer.shared_buffers()
        assert buffers is not None
        student.use_buffers(buffers)
        trainer.step_many(20)
        found = student.response(batch["uv"], batch["wi"], batch["wo"])
        columns = (batch[name].astype("f8").T for name in ("uv", "wi", "wo"))
        uv, wi, wo = columns
        zeros = np.zeros(len(batch), int)
        raw, _ = forward(SMALL, trainer.parameters().astype("f8"), uv, zeros, wi, wo, zeros)
        expected = response_of(SMALL, raw).T
        np.testing.assert_allclose(found, expected, rtol=2e-4)
        seen.append(found)
    assert np.abs(seen[1] / seen[0] - 1).max() > 1e-2
    trainer.close()
    assert trainer.shared_buffers() is None
    # what it has seen last outlives the trainer
    again = student.response(batch["uv"], batch["wi"], batch["wo"])
    np.testing.assert_array_equal(again, seen[1])


def test_given_a_step_when_texels_are_not_touched_then_they_keep_their_bits(device):
    def in_one_corner(batch):
        batch["uv"], batch["level"], batch["material"] = 0.5 / 16, 0, 0

    parameters = random_parameters(SMALL)
    trainer = open_trainer(device, parameters, Samples(in_one_corner), TrainingSettings(64))
    trainer.step_many(3)
    moved = (trainer.parameters().latents != parameters.latents).any(1)
    # the middle of a column, and between the first row and, across the edge, the last
    assert set(np.flatnonzero(moved)) == {0, 16 * 7}


def test_given_a_response_that_is_no_number_when_stepping_then_its_sample_alone_is_left_out(device):
    def damage(batch):
        batch["response"][5, 1] = np.nan

    def leave_out(batch):
        batch["weight"][5] = 0

    parameters = random_parameters(SMALL)
    damaged = open_trainer(device, parameters, Samples(damage), frozen())
    whole = open_trainer(device, parameters, Samples(leave_out), frozen())
    report = damaged.step_many(2)
    expected = whole.step_many(2)
    assert (report.rejected, report.skipped) == (2, 0)
    assert report.loss == expected.loss
    assert np.array_equal(damaged.state()["latents_v"], whole.state()["latents_v"])


def test_given_an_infinite_gradient_when_stepping_then_the_step_is_skipped_and_the_next_is_not(
    device, uses_tensor
):
    draws = []

    def break_the_second(batch):
        draws.append(0)
        if len(draws) == 2:
            batch["weight"][7] = np.inf

    parameters = random_parameters(SMALL)
    settings = TrainingSettings(256)
    trainer = open_trainer(device, parameters, Samples(break_the_second), settings, uses_tensor)
    trainer.step_many(1)
    before, moments = trainer.parameters(), trainer.state()
    report = trainer.step_many(1)
    assert report.skipped == 1
    assert np.isnan(report.loss)
    assert np.array_equal(trainer.parameters().decoder, before.decoder)
    assert np.array_equal(trainer.parameters().latents, before.latents)
    assert np.array_equal(trainer.state()["latents_v"], moments["latents_v"])
    report = trainer.step_many(1)
    assert report.skipped == 0
    assert np.isfinite(trainer.parameters().latents).all()
    assert not np.array_equal(trainer.parameters().decoder, before.decoder)


def test_given_a_state_of_another_network_when_restoring_then_the_error_names_it(device):
    trainer = open_trainer(device, random_parameters(SMALL), Samples(), frozen())
    parameters, state = trainer.parameters(), trainer.state()
    with pytest.raises(CheckpointError, match="latents_v"):
        trainer.restore(parameters, {**state, "latents_v": state["latents_v"][1:]})
    with pytest.raises(CheckpointError, match="decoder_m"):
        trainer.restore(parameters, {k: v for k, v in state.items() if k != "decoder_m"})
    with pytest.raises(CheckpointError, match="another network"):
        trainer.restore(initialise(PRESETS["2x32"], LAYOUT, 0), state)


COUNTS = """
import trainer_constants;
import network.texels;
import training.group_memory;
import training.slots;
import training.latent_gradients;
[shader("compute")]
[numthreads(1, 1, 1)]
void count(uniform RWStructuredBuffer<uint> counts)
{
    counts[0] = kSlotCount;
    counts[1] = gElements.getCount() * sizeof(Element) + gRaw.getCount() * 4 + 4
        + kGroupSamples * kCornerCount * 8;
}
"""


@pytest.mark.parametrize("preset", PRESETS)
def test_given_a_plan_when_the_shader_counts_then_python_counts_the_same(device, preset):
    spec = PRESETS[preset]
    plan = plan_groups(spec, False)
    kernels = StudentKernels(device, spec, "l1", plan)
    counts = device.new_buffer(np.zeros(2, np.uint32))
    bound = kernels.bind(Source("counts", COUNTS), "count", {"counts": counts})
    encoder = device.gpu.create_command_encoder()
    with encoder.begin_compute_pass() as compute:
        bound.record(compute)
    device.gpu.submit_command_buffer(encoder.finish())
    assert list(read_buffer(counts, np.uint32)) == [slot_count(spec), group_bytes(spec, plan)]


def test_given_a_network_that_no_group_holds_when_planning_then_the_error_names_a_remedy():
    with pytest.raises(SettingsError, match="numpy trainer"):
        plan_groups(NetworkSpec(hidden_width=256, hidden_layers=8), True)
    with pytest.raises(SettingsError, match="latent_channels is 6"):
        plan_groups(NetworkSpec(latent_channels=6), False)


def test_given_a_kernel_when_an_argument_does_not_exist_then_binding_names_it(device):
    kernels = StudentKernels(device, SMALL, "l1", GroupPlan(False, 8))
    with pytest.raises(KeyError, match="nonsense"):
        kernels.bind(Source("training/update"), "copyDecoder", {"nonsense": 1})


def test_kernels_that_come_out_wrong_in_haste_are_compiled_with_care(monkeypatch):
    """A break in an unrolled loop of storeInputs is what Slang writes wrong then."""
    careful, source = open_or_skip("software"), Samples()
    compiled = Device.new_kernels

    def in_haste(self, defines=None, is_hasty=True, files=None):
        return compiled(self, defines, is_hasty, files)

    def step(device):
        trainer = open_trainer(device, random_parameters(SMALL), source, TrainingSettings(64))
        return trainer.step_many(2), trainer.state()["latents_v"]

    wanted, wanted_squares = step(careful)
    monkeypatch.setattr(Device, "new_kernels", in_haste)
    hasty, squares = step(replace(careful, _shared={}))
    assert hasty.loss == pytest.approx(wanted.loss, rel=1e-6)
    np.testing.assert_allclose(squares, wanted_squares, rtol=1e-3, atol=1e-14)


class Repeated(Samples):
    """Implements DeviceSampleSource: each sample is trained twice."""

    revision, repeats = 1, 2

    def __init__(self):
        super().__init__()
        self.drawn = []

    def draw(self, step, count):
        return super().draw(step % 1000, count)

    def record(self, encoder, samples, step, steps, count, before=0):
        self.drawn.append(step // TENSOR_CHUNK_STEPS)
        batches = np.concatenate([self.draw(each, count) for each in range(step, step + steps)])
        start = before * count * TRAINING_SAMPLE.itemsize
        encoder.upload_buffer_data(samples, start, batches.view(np.uint8))


class Mixed(Repeated):
    """Implements SampleSource: what a step should train, mixed by numpy."""

    record = None

    def draw(self, step, count):
        number, place = divmod(step, TENSOR_CHUNK_STEPS)
        drawn, turn = turn_of(number, self.repeats, 1)
        points = np.arange(count)
        rows = (place + (2 * turn - 1 if turn else 0) * (points // 32)) % TENSOR_CHUNK_STEPS
        batch = np.zeros(count, TRAINING_SAMPLE)
        for row in np.unique(rows):
            found = super().draw(drawn * TENSOR_CHUNK_STEPS + int(row), count)
            batch[rows == row] = found[rows == row]
        return batch


def test_samples_that_are_trained_twice_are_those_that_their_step_says_also_after_a_resume():
    device, start = open_or_skip("software"), random_parameters(SMALL)
    # more than the threads of a group
    settings = TrainingSettings(batch=40, schedule=Schedule(steps=200))
    steps, middle = 4 * TENSOR_CHUNK_STEPS, 100
    source = Repeated()
    mixed, repeated, resumed = (
        open_trainer(device, start, each, settings) for each in (Mixed(), source, Repeated())
    )
    mixed.step_many(steps)
    repeated.step_many(middle)
    resumed.restore(repeated.parameters(), repeated.state())
    for trainer in (repeated, resumed):
        trainer.step_many(steps - middle)
        np.testing.assert_array_equal(trainer.parameters().latents, mixed.parameters().latents)
        np.testing.assert_array_equal(trainer.parameters().decoder, mixed.parameters().decoder)
    # chunk 0 is drawn once, for the first and the last of the four
    assert source.drawn == [0, -1, 1]
