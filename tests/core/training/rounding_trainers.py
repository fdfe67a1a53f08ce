"""A small network, and trainers of it that round latents."""

import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DeviceError
from verdigris.core.network.spec import NetworkSpec
from verdigris.core.training.tensor.group_plan import has_matrix_hardware, plan_groups
from verdigris.core.training.tensor.tensor_trainer import TensorTrainer

from .random_samples import Samples, random_parameters

# Smooth, so that half floats take no gradient from the other side of a kink.
SPEC = NetworkSpec(hidden_width=16, activation="silu")
BATCH = 70


def open_tensor(choice, uses_tensor):
    try:
        device = open_device(choice)
    except DeviceError as error:
        pytest.skip(str(error))
    if choice != "software" and (device.is_software or not has_matrix_hardware(device.gpu)):
        pytest.skip(f"{device} has no matrix hardware that Vulkan can reach")
    plan = plan_groups(SPEC, uses_tensor, unrolls=not device.is_software)
    return lambda parameters, settings: TensorTrainer(parameters, Samples(), settings, device, plan)


def uneven_parameters(seed=0):
    """Random ones, of which a range of the wrong material is found out."""
    parameters = random_parameters(SPEC, seed)
    parameters.level(0)[1] *= 3
    return parameters
