"""The trainer for a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.process.profile import profiled

if TYPE_CHECKING:
    from verdigris.core.base.device import Device
    from verdigris.core.network.parameters import Parameters
    from verdigris.core.sampling.draw_samples import DrawnSamples
    from verdigris.core.settings.schedule import TrainingSettings
    from verdigris.core.training.trainer import Trainer


def choose_trainer(device: Device) -> str:
    """`numpy` where the device is the processor itself, or else `tensor`."""
    return "numpy" if device.is_software else "tensor"


@profiled("open a trainer")
def open_trainer(
    kind: str,
    parameters: Parameters,
    source: DrawnSamples,
    settings: TrainingSettings,
    device: Device,
) -> Trainer:
    """A trainer at step 0."""
    if kind == "numpy":
        from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer

        return NumpyTrainer(parameters, source, settings, device.threads)
    if kind == "tensor" and device.is_software:
        raise SettingsError(
            f"trainer 'tensor' is for graphics cards, and {device} is the processor: it would take "
            "minutes to start; use numpy"
        )
    if kind == "tensor":
        from verdigris.core.training.tensor.tensor_trainer import TensorTrainer

        return TensorTrainer(parameters, source, settings, device)
    raise SettingsError(f"trainer {kind!r} is not known: use tensor or numpy")
