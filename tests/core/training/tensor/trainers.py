"""What tests of the device's trainer share."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DeviceError
from verdigris.core.network.activations import exponent_of
from verdigris.core.network.numpy_mlp import forward
from verdigris.core.network.spec import PRESETS
from verdigris.core.settings.schedule import Schedule, TrainingSettings
from verdigris.core.training.tensor.group_plan import plan_groups
from verdigris.core.training.tensor.tensor_trainer import TensorTrainer

SMALL = PRESETS["2x16"]
# No group of any plan is full with it.
ODD_BATCH = 230
FP32, FP16 = 1e-3, 1e-2


def open_or_skip(choice):
    try:
        device = open_device(choice)
    except DeviceError as error:
        pytest.skip(str(error))
    if device.is_software and choice != "software":
        pytest.skip(f"{device} is no hardware GPU")
    return device


def frozen(batch=ODD_BATCH, loss="cbrt_log", latent_rate=0.0, light_step=None):
    """Settings under which gradients reach the moments but no decoder moves."""
    schedule = Schedule(decoder_rate=0, latent_rate=latent_rate)
    return TrainingSettings(batch, loss, schedule, light_step=light_step)


def open_trainer(device, parameters, source, settings, uses_tensor=False):
    plan = plan_groups(parameters.spec, uses_tensor, unrolls=not device.is_software)
    return TensorTrainer(parameters, source, settings, device, plan)


def without_kinks(spec, parameters):
    """Gives samples no weight whose gradient half floats may take from the other side of a kink: of
    the activation, or of the loss, where the student is right and its sign changes."""

    def change(batch):
        columns = (batch[name].astype("f8").T for name in ("uv", "wi", "wo", "response"))
        uv, wi, wo, response = columns
        level, material = batch["level"].astype(int), batch["material"].astype(int)
        live = batch["live"][:, : spec.live_inputs]
        raw, tape = forward(spec, parameters.astype("f8"), uv, level, wi, wo, material, live)
        exponent, _ = exponent_of(spec, raw)
        batch["weight"][np.abs(exponent - np.log(response)).min(0) < 1e-2] = 0
        if spec.activation in ("relu", "leaky_relu"):
            nearest = np.min([np.abs(x).min(0) for x in tape.pre_activations[:-1]], axis=0)
            batch["weight"][nearest < 4e-3] = 0

    return change


def relative_error(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)
