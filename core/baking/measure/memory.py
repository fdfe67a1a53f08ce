"""Checks that a bake fits into memory, before it begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.process.processor import (
    LEAST_FILE_SIZE,
    address_space,
    file_size,
    usable_memory,
)
from verdigris.core.sampling.draw_samples import TRAINING_SAMPLE

if TYPE_CHECKING:
    import slangpy

    from verdigris.core.base.device import Device
    from verdigris.core.settings.bake_settings import BakeSettings

# On a GPU: value, mean square, gradient, and a copy for pictures, in fp32. On the CPU: value, mean
# square, copies for checkpoints, measurements and bundles, memory for fitting blocks, and what the
# end keeps. From 64 to 256 texels per side, numpy's memory grew by 374 to 386 bytes per texel.
_BYTES_A_CHANNEL = {"tensor": 4 * 4, "numpy": 4 * 13}
_USABLE = 0.8
_SMALLEST = 4
# Largest buffer of a kernel: Vulkan counts the range of a storage buffer in 32 bits, and Mesa's
# lavapipe reads zeros beyond 31 bits.
_REACH, SOFTWARE_REACH = (1 << 32) - 1, (1 << 31) - 1

# With less, bakes on two cores crashed or ran out of memory. A bake with 16 x 16 texels maps 2.5 to
# 2.9 GB, most of it for Mesa and LLVM.
_LEAST_ADDRESS_SPACE = 5 << 29


def check_limits(choice: str | None) -> None:
    """Refuses a bake on the CPU if the limits of the process are too low, before its device is
    opened. Mesa and LLVM do not check their allocations: the process would end without an error."""
    mapped, written = address_space(), file_size()
    if mapped is not None and mapped < _LEAST_ADDRESS_SPACE:
        fault = f"this process may map only {mapped / 1e9:.1f} GB of memory"
        remedy = f"{_LEAST_ADDRESS_SPACE / 1e9:.1f} GB at least: lift the limit (ulimit -v"
    elif written is not None and written < LEAST_FILE_SIZE:
        fault = f"this process may write files of only {written / 1e6:.3g} MB"
        remedy = f"one of {LEAST_FILE_SIZE / 1e6:.0f} MB at least: lift the limit (ulimit -f"
    else:
        return
    from verdigris.core.base.adapters import SOFTWARE, hardware_devices

    if choice not in (None, "auto", SOFTWARE) or (choice != SOFTWARE and hardware_devices()):
        return
    raise SettingsError(
        f"{fault}; a bake on the CPU needs {remedy} unlimited, or the limit of the batch system)"
    )


def needed_bytes(settings: BakeSettings, materials: int, trainer: str) -> int:
    """Bytes that training takes, without batches."""
    texels = settings.layout(materials).texel_count
    return texels * settings.spec.latent_channels * _BYTES_A_CHANNEL[trainer]


def device_buffers(
    settings: BakeSettings, materials: int, trainer: str, gpu: slangpy.Device
) -> list[int]:
    """Sizes of a bake's buffers on its device: the trainer's, and those of the student that is
    measured and drawn."""
    spec, layout = settings.spec, settings.layout(materials)
    student = [4 * spec.parameter_count, 4 * spec.latent_channels * layout.texel_count]
    if trainer != "tensor":
        from verdigris.core.sampling.draw_samples import NUMPY_CHUNK_STEPS

        return [*student, TRAINING_SAMPLE.itemsize * settings.batch * NUMPY_CHUNK_STEPS]
    from verdigris.core.training.tensor.group_plan import has_matrix_hardware, plan_groups
    from verdigris.core.training.tensor.trainer_memory import buffer_sizes, chunks_of

    plan = plan_groups(spec, has_matrix_hardware(gpu))
    chunks = chunks_of(settings.draw.repeats)
    sizes = buffer_sizes(spec, layout, plan, settings.batch, chunks)
    return [*student, *sizes.values()]


def check_memory(
    device: Device,
    settings: BakeSettings,
    materials: int,
    trainer: str,
    available: int | None = None,
) -> None:
    """Refuses settings that do not fit, and names the largest that do.

    On the CPU, memory is counted. slangpy 0.43 does not report the memory of a GPU, so all
    buffers of the bake are allocated there for a moment.
    """
    available = available_bytes(device) if available is None else available

    def fits(other: BakeSettings) -> bool:
        needed = needed_bytes(other, materials, trainer)
        if available is not None and needed > available * _USABLE:
            return False
        return can_allocate(device, device_buffers(other, materials, trainer, device.gpu))

    if fits(settings):
        return
    what = f"resolution {settings.resolution} with {materials} latent texture(s)"
    why = _shortage(device, settings, materials, trainer, available)
    for smaller in _smaller(settings):
        if fits(smaller):
            raise SettingsError(f"{what} {why}: the largest that fits is {smaller.resolution}")
    found = _largest_batch(settings, fits)
    if found:
        raise SettingsError(f"batch {settings.batch} {why}: the largest that fits is {found}")
    raise SettingsError(f"{what} {why}: no resolution fits, so choose another device")


def _shortage(
    device: Device, settings: BakeSettings, materials: int, trainer: str, available: int | None
) -> str:
    buffers = device_buffers(settings, materials, trainer, device.gpu)
    if max(buffers) > largest_buffer(device):
        return (
            f"needs a buffer of {max(buffers) / 1e9:.1f} GB, and kernels reach only "
            f"{largest_buffer(device) / 1e9:.1f} GB"
        )
    if available is None:
        return f"needs {sum(buffers) / 1e9:.1f} GB, more than {device} gives"
    needed = max(sum(buffers), needed_bytes(settings, materials, trainer))
    return f"needs {needed / 1e9:.1f} GB, and {device} has {available / 1e9:.1f} GB"


def _smaller(settings: BakeSettings) -> Iterator[BakeSettings]:
    size = settings.resolution // 2
    while size >= _SMALLEST:
        yield replace(settings, resolution=size)
        size //= 2


def _largest_batch(settings: BakeSettings, fits: Callable[[BakeSettings], bool]) -> int | None:
    batch = settings.batch // 2
    while batch >= settings.draw.pairs:
        batch -= batch % settings.draw.pairs
        if fits(replace(settings, batch=batch)):
            return batch
        batch //= 2
    return None


def largest_buffer(device: Device) -> int:
    """Bytes of the largest buffer that kernels can address."""
    return SOFTWARE_REACH if device.is_software else _REACH


def can_allocate(device: Device, sizes: list[int]) -> bool:
    """Whether a device can hold buffers of all these sizes at once."""
    import slangpy

    gpu = device.gpu
    if max(sizes) > largest_buffer(device):
        return False
    usage = slangpy.BufferUsage.shader_resource | slangpy.BufferUsage.unordered_access
    held = []
    try:
        for size in sizes:
            held.append(gpu.create_buffer(size=size, usage=usage, label="trial"))
    except RuntimeError:
        # a failed allocation leaves the device usable
        return False
    finally:
        held.clear()
        # buffers are freed when the device is idle
        gpu.wait_for_idle()
    return True


def available_bytes(device: Device) -> int | None:
    """Memory of the CPU; None for a GPU, which does not report it."""
    return usable_memory() if device.is_software else None
