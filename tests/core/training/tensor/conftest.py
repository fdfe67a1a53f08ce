"""Devices of the trainer: the CPU, and a GPU with and without its matrix hardware."""

import pytest

from verdigris.core.training.tensor.group_plan import has_matrix_hardware

from .trainers import open_or_skip


@pytest.fixture(params=["software", pytest.param("auto", marks=pytest.mark.gpu)])
def device(request):
    return open_or_skip(request.param)


@pytest.fixture(params=["portable", pytest.param("tensor", marks=pytest.mark.gpu)])
def uses_tensor(request, device):
    if request.param == "tensor" and not has_matrix_hardware(device.gpu):
        pytest.skip(f"{device} has no matrix hardware that Vulkan can reach")
    return request.param == "tensor"
