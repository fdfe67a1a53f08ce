"""Compiles what every bake with a decoder needs, in processes beside the first bake of a machine.

Slang holds Python's lock while it compiles for a device, so threads gain nothing. Processes write
to the caches on disk; the bake finds what is ready there, and compiles the rest itself.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version

import numpy as np

from verdigris.core.base.beside import begin_beside
from verdigris.core.base.device import (
    Device,
    Source,
    begin_driver,
    cache_folder,
    close_device,
    may_have_hardware,
    open_device,
)
from verdigris.core.bundle.files.arithmetic import PORTABLE
from verdigris.core.bundle.runtime.runtime_files import SHADERS, compile_part
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, NetworkSpec, require_preset
from verdigris.core.network.student import STUDENT, Student
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.training.tensor.step_kernels import TRAINING, UPDATES, compile_step
from verdigris.shaders import SHADER_FOLDER

MODULE = "verdigris.core.baking.kernels_ahead"
# Fewer processors would take turns.
_FEWEST_PROCESSORS = 8
_MARKS = "ahead"


def compile_ahead(choice: str | None, settings: BakeSettings) -> None:
    """Begins to compile for a graphics card, unless a process of this machine has begun before."""
    folder = cache_folder()
    if (
        folder is None
        or (os.cpu_count() or 1) < _FEWEST_PROCESSORS
        or not may_have_hardware(choice)
    ):
        return
    decoder = (settings.network, settings.activation, settings.loss)
    # the cards of a machine are mostly alike
    mark = folder / _MARKS / _key((choice or "auto").partition(":")[0], *decoder)
    try:
        mark.parent.mkdir(exist_ok=True)
        # one of several processes that begin at once
        mark.touch(exist_ok=False)
    except OSError:
        return
    for job in _JOBS:
        command = [sys.executable, "-P", "-m", MODULE, job, choice or "auto", *decoder]
        begin_beside(job, command)


def _key(backend: str, *decoder: str) -> str:
    """Of all that decides on the results but the driver, whose own part is small."""
    found = hashlib.sha256(f"{backend} {decoder} {version('slangpy')}".encode())
    for path in sorted(SHADER_FOLDER.rglob("*.slang")):
        state = path.stat()
        found.update(f"{path.name} {state.st_size} {state.st_mtime_ns}".encode())
    return found.hexdigest()[:32]


def _compile_training(device: Device, spec: NetworkSpec, loss: str) -> None:
    compile_step(device, spec, loss, slice(0, 1))


def _compile_updates(device: Device, spec: NetworkSpec, loss: str) -> None:
    compile_step(device, spec, loss, slice(1, None))


def _compile_pictures(device: Device, spec: NetworkSpec, loss: str) -> None:
    from verdigris.core.baking.measure.measure import draw_sphere
    from verdigris.core.pictures.render import make_view

    del loss
    student = Student(initialise(spec, LatentLayout(16, 16, 5), 0), device)
    places, directions = np.zeros((1, 2), np.float32), np.ones((1, 3), np.float32)
    student.response(places, directions, directions)
    draw_sphere(student, make_view("sphere", 8))
    student.kernel(Source("bundle/proxies/sum_lights"), "sumLights")


_OnDevice = Callable[[Device, NetworkSpec, str], None]
_JOBS: Mapping[str, _OnDevice | tuple[int, int]] = {
    TRAINING: _compile_training,
    UPDATES: _compile_updates,
    STUDENT: _compile_pictures,
    **{job: (part, len(SHADERS)) for part, job in enumerate(SHADERS)},
}


def main() -> None:
    name, choice, network, activation, loss = sys.argv[1:]
    job, spec = _JOBS[name], replace(require_preset(network), activation=activation)
    if isinstance(job, tuple):
        compile_part(spec, PORTABLE, *job)
        return
    begin_driver(choice)
    device = open_device(choice)
    if not device.is_software:
        job(device, spec, loss)
    close_device(choice)


if __name__ == "__main__":
    main()
