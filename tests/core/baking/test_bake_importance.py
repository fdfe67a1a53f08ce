"""Paint in a bake: a map of ones is none, places are left out, and a map changes meanwhile."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from analytic_material import AnalyticTeacher

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.state.checkpoint import source_digest
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DeviceError, SettingsError
from verdigris.core.importance.fill import live_texels
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, require_preset
from verdigris.core.progress import Finished, Step
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.draw_settings import DrawSettings
from verdigris.core.settings.schedule import TrainingSettings
from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer
from verdigris.core.training.tensor.group_plan import plan_groups
from verdigris.core.training.tensor.tensor_trainer import TensorTrainer

from .bakes import plain_teacher

SETTINGS = BakeSettings(network="2x16", resolution=16, iterations=60, batch=256)


@pytest.fixture(scope="module")
def device():
    try:
        return open_device("software")
    except DeviceError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def clay(device):
    return plain_teacher()


def trained(teacher, folder, settings=SETTINGS, control=None, **options):
    """What the bake holds when it has ended."""
    control = control or BakeControl()
    runs = []
    control.watch = runs.append
    *_, last = bake([teacher], settings, BakeOptions("out", folder, "numpy", **options), control)
    assert isinstance(last, Finished)
    return runs[0]


@pytest.mark.parametrize("loss_power", [0.0, 1.0])
def test_a_map_of_ones_trains_the_bits_of_no_map(clay, tmp_path, loss_power):
    settings = replace(SETTINGS, draw=DrawSettings(importance_in_loss=loss_power))
    plain = trained(clay, tmp_path, settings)
    ones = trained(clay, tmp_path, settings, importance=np.ones((24, 40), np.float32))
    first, second = plain.learner.filled_parameters(), ones.learner.filled_parameters()
    np.testing.assert_array_equal(first.decoder, second.decoder)
    np.testing.assert_array_equal(first.latents, second.latents)
    # and another map does not
    other = trained(clay, tmp_path, settings, importance=np.eye(16, dtype=np.float32) + 1)
    assert (other.learner.filled_parameters().latents != first.latents).any()


def test_a_masked_region_keeps_its_start_while_it_trains_and_is_filled_at_the_end(clay, tmp_path):
    weights = np.ones((16, 16), np.float32)
    weights[4:12, 4:12] = 0
    # blocks of BC7 are rotated and fitted everywhere
    settings = replace(SETTINGS, latent_format="rgba8")
    run = trained(clay, tmp_path, settings, importance=weights)
    live = live_texels(weights > 0, 16, 16)
    assert (~live).sum() == 36
    start = initialise(SETTINGS.spec, SETTINGS.layout(), SETTINGS.seed).level(0)[0]
    during, after = (
        run.learner.trainer.parameters().level(0)[0],
        run.learner.filled_parameters().level(0)[0],
    )
    np.testing.assert_array_equal(during[~live], start[~live])
    assert (during[live] != start[live]).any(-1).mean() > 0.9
    known = {tuple(texel) for texel in during[live]}
    assert all(tuple(texel) in known for texel in after[~live])


def test_a_map_that_is_set_from_another_thread_is_in_effect_in_the_next_run_of_steps(
    clay, tmp_path
):
    half = np.zeros((16, 16), np.float32)
    half[:, :8] = 1
    runs, painted = [], []
    control = BakeControl(watch=runs.append)
    painter = threading.Thread(target=control.set_importance, args=(half,))
    settings = replace(SETTINGS, iterations=1_000_000)
    options = BakeOptions("out", tmp_path, "numpy", run_seconds=0.0)
    for event in bake([clay], settings, options, control):
        if not isinstance(event, Step):
            continue
        painted.append(runs[0].options.importance is not None)
        if len(painted) == 1:
            painter.start()
            painter.join()
        else:
            control.stop()
    assert painted == [False, True]
    learner = runs[0].learner
    assert learner.source.revision == 2
    assert np.isfinite(learner.trainer.parameters().level(0)[0]).all()
    batch = learner.source.draw(learner.trainer.step, 256)
    assert batch["uv"][:, 0].max() < 0.5


def test_a_new_map_changes_what_a_resumed_bake_must_be_given(clay, tmp_path):
    control = BakeControl()
    control.set_importance(np.eye(4))
    run = trained(clay, tmp_path / "live", control=control)
    given = trained(clay, tmp_path / "given", importance=np.eye(4, dtype=np.float32))
    assert run.saved.digest == given.saved.digest
    np.testing.assert_array_equal(
        run.learner.filled_parameters().latents, given.learner.filled_parameters().latents
    )


def test_maps_of_the_same_weights_in_other_places_are_not_the_same(clay):
    weights = np.arange(1, 17, dtype=np.float32)
    shapes = [(4, 4), (2, 8), (8, 2)]
    assert len({source_digest([clay], weights.reshape(shape)) for shape in shapes}) == 3


def test_a_map_that_is_none_is_refused_where_it_is_set():
    control = BakeControl()
    for wrong, text in (
        (np.zeros((2, 2)), "zero everywhere"),
        (np.array([[1, np.nan]]), "1 texels are not finite"),
        (np.array([[1.0, -1]]), "1 texels are negative"),
        (np.ones(3), r"shape \(3,\)"),
    ):
        with pytest.raises(SettingsError, match=text):
            control.set_importance(wrong)
    assert control.take_importance() is None
    control.set_importance(None)
    assert control.take_importance() == (None,)
    assert control.take_importance() is None


@pytest.mark.parametrize("kind", ["numpy", "tensor"])
def test_a_trainer_takes_a_new_map_in_the_middle_of_what_was_drawn_ahead(device, kind):
    """The steps after the change touch no texel that only the masked half reaches."""
    teacher = AnalyticTeacher(device)
    layout = LatentLayout(16, 16)
    source = DrawnSamples([teacher], layout, 1, DrawSettings(coarse_share=0))
    start = initialise(require_preset("2x16"), layout, 0)
    if kind == "numpy":
        trainer = NumpyTrainer(start, source, TrainingSettings(batch=128))
    else:
        plan = plan_groups(start.spec, uses_tensor=False, unrolls=False)
        trainer = TensorTrainer(start, source, TrainingSettings(batch=128), device, plan)
    try:
        trainer.step_many(3)
        half = np.zeros((16, 16))
        half[:, :8] = 1
        source.set_importance(half)
        before = trainer.parameters().level(0)[0]
        trainer.step_many(9)
        moved = (trainer.parameters().level(0)[0] != before).any(-1)
    finally:
        trainer.close()
    live = live_texels(half > 0, 16, 16)
    assert not moved[~live].any()
    assert moved[live].mean() > 0.9
