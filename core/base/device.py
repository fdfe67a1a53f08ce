"""Opens a device and provides what kernels need: buffers, sessions, caches of compiled code.

adapters.py finds the devices of a machine, and kernels.py compiles. No other module uses the
graphics interfaces.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.adapters import (
    BACKENDS,
    CHOICE_VARIABLE,
    adapters_of,
    candidates,
    check_choice,
    is_software,
)
from verdigris.core.base.errors import DeviceError
from verdigris.core.base.files import make_folders
from verdigris.core.base.kernels import KeptSources, Kernels, Source, find_or_open
from verdigris.core.base.process.processor import LEAST_FILE_SIZE, file_size, running_threads
from verdigris.core.base.process.profile import profiled
from verdigris.shaders import SHADER_FOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import slangpy
    from numpy.typing import NDArray

CACHE_VARIABLE = "VERDIGRIS_CACHE_DIR"
# Threads of one dispatch: 65,535 groups, the limit of Direct3D and some drivers, of 64 threads.
MOST_THREADS = 65_535 * 64
# Size of a constant buffer that every device supports.
MOST_CONSTANT_BYTES = 1 << 16
_SHADER_CACHE_BYTES = 512 << 20
# Sets of kernels that are cached for networks, and for materials, which are many times larger.
_MOST_SHARED = 16
_MOST_MATERIALS = 4
# Submissions that may wait for the device: enough to keep it busy.
_MOST_UNDER_WAY = 64
_HOW_TO_GET_ONE = (
    "install a Vulkan driver for the GPU, or Mesa's lavapipe 25 or newer for the CPU "
    "(on Debian, run python3 packaging/bootstrap.py setup)"
)

# Seconds between polls of a submission, and of all polls together. After that the driver waits: it
# reports a lost device.
_BETWEEN_LOOKS, MOST_LOOKING = 2e-4, 10.0

# Whether this process was forked from one with an open device.
_is_forked = False
_opened: list[Device] = []


@dataclass(frozen=True)
class Device:
    """An open device."""

    gpu: slangpy.Device
    backend: str
    name: str
    is_software: bool
    compiler_options: Mapping[str, Any]
    threads: tuple[int, ...] = ()
    """Threads of a software device in this process, where the system numbers threads."""
    memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    """Objects that users of the device keep until it is closed, by their own keys."""
    _under_way: deque[int] = field(default_factory=deque, repr=False, compare=False)
    _shared: dict[Any, Kernels] = field(default_factory=dict, repr=False, compare=False)
    _of_materials: dict[str, Kernels] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.name} ({self.backend})"

    def new_kernels(
        self,
        defines: Mapping[str, str] | None = None,
        is_hasty: bool = False,
        files: KeptSources | None = None,
    ) -> Kernels:
        """Kernels of a new session, compiled with these definitions. With `is_hasty` on a software
        device, only LLVM optimises, which gives as good code in half the time. Slang's output is
        not always valid then: unrolled loops that end early are not. Such a kernel is compiled
        again with Slang's optimisation. `files` keeps modules that are given as text."""
        import slangpy

        options = {**self.compiler_options, "defines": dict(defines or {})}
        if files is not None:
            options["include_paths"] = [*options["include_paths"], files.folder]
        instead = None
        if is_hasty and self.is_software:
            options["optimization"] = slangpy.SlangOptimizationLevel.none
            instead = partial(self.new_kernels, defines, is_hasty=False, files=files)
        # the cache must not return modules that were compiled with other definitions
        cache = None if defines else _subfolder("modules")
        session = self.gpu.create_slang_session(compiler_options=options, cache_path=cache)
        return Kernels(self.gpu, session, instead, files)

    def shared_kernels(
        self, defines: Mapping[str, str], modules: Sequence[Source], is_hasty: bool = False
    ) -> Kernels:
        """Kernels of a session with these definitions, in which imports find these modules. Equal
        requests share a session, so that kernels compile once."""

        def begin() -> Kernels:
            kernels = self.new_kernels(defines, is_hasty)
            for module in modules:
                kernels.load(module)
            return kernels

        key = (is_hasty, *sorted(defines.items()), *modules)
        return find_or_open(self._shared, key, _MOST_SHARED, begin)

    def material_kernels(self, digest: str) -> Kernels:
        """Kernels for a material whose code has this digest. If one of the last few materials had
        the same code, perhaps with other images, they are compiled already."""
        kept = cache_folder()
        files = KeptSources(kept / "materials", kept / "modules") if kept else None
        begin = partial(self.new_kernels, is_hasty=True, files=files)
        return find_or_open(self._of_materials, digest, _MOST_MATERIALS, begin)

    def release_kernels(self) -> None:
        """Releases the cached kernels and all other objects that are kept on the device."""
        self.memo.clear()
        self._shared.clear()
        self._of_materials.clear()

    def dispatch(
        self,
        kernel: slangpy.ComputeKernel,
        threads: int,
        variables: Mapping[str, Any],
        encoder: slangpy.CommandEncoder | None = None,
        **arguments: Any,
    ) -> None:
        """Runs or records a kernel with global variables and with arguments of its entry point.
        This builds its pipeline, which can fail."""
        own = self.gpu.create_command_encoder() if encoder is None else None
        try:
            kernel.dispatch(
                [threads, 1, 1], vars=dict(variables), command_encoder=own or encoder, **arguments
            )
            if own is not None:
                self.submit(own)
        except RuntimeError as failure:
            raise DeviceError(
                f"{self} failed: {_last_line(failure)}: it may be lost, out of memory, or its "
                "compiler unable to take this graph; try another device"
            ) from failure

    def submit(self, encoder: slangpy.CommandEncoder) -> int:
        """Submits recorded commands. Waits for older ones while many are under way: the memory that
        each of them needs is kept for later ones, and never returned."""
        submission = int(self.gpu.submit_command_buffer(encoder.finish()))
        self._under_way.append(submission)
        while len(self._under_way) > _MOST_UNDER_WAY:
            self.wait_for(self._under_way.popleft())
        return submission

    def new_buffer(self, values: NDArray[Any], stride: int = 0) -> slangpy.Buffer:
        """A buffer that kernels read and write, with a copy of these values. Double floats become
        single floats. `stride` is the size of an element in bytes, by default that of a value."""
        import numpy as np

        # a copy: read-only arrays are refused
        data = np.array(values, None if values.dtype != np.float64 else np.float32).reshape(-1)
        stride = stride or data.itemsize
        return self._buffer(data.nbytes // stride, stride, data=data.view(np.uint8))

    @property
    def sampler(self) -> slangpy.Sampler:
        """A sampler that interpolates between texels, and repeats images."""
        import slangpy

        if slangpy.Sampler not in self.memo:
            repeat = slangpy.TextureAddressingMode.wrap
            self.memo[slangpy.Sampler] = self.gpu.create_sampler(
                address_u=repeat, address_v=repeat, address_w=repeat
            )
        found: slangpy.Sampler = self.memo[slangpy.Sampler]
        return found

    def new_space(self, count: int, stride: int = 4) -> slangpy.Buffer:
        """A buffer of `count` elements that kernels write before they read it."""
        return self._buffer(count, stride)

    def _buffer(self, count: int, stride: int, **contents: Any) -> slangpy.Buffer:
        import slangpy

        usage = slangpy.BufferUsage.shader_resource | slangpy.BufferUsage.unordered_access
        return self.gpu.create_buffer(
            element_count=count, struct_size=stride, usage=usage, **contents
        )

    def wait_for(self, submission: int) -> None:
        """Waits for a submission while other Python threads run. Reading a buffer that the device
        still writes would stop them."""
        end = time.monotonic() + MOST_LOOKING
        while not self.gpu.is_submit_finished(submission) and time.monotonic() < end:
            time.sleep(_BETWEEN_LOOKS)


def cache_folder() -> Path | None:
    """The folder for compiled kernels; None if it cannot be written."""
    import platformdirs

    chosen = os.environ.get(CACHE_VARIABLE)
    folder = Path(chosen or platformdirs.user_cache_dir("verdigris", False)).absolute()
    try:
        make_folders(folder)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _subfolder(name: str) -> Path | None:
    folder = cache_folder()
    return None if folder is None else folder / name


def open_device(choice: str | None = None) -> Device:
    """Opens a device once per process.

    `choice` is `auto`, `software`, or a backend with an optional adapter index (`vulkan:1`);
    without it the environment variable VERDIGRIS_DEVICE decides, then `auto`: the first hardware
    adapter of Vulkan, of the platform's own interface, of CUDA, and last a software Vulkan device.
    """
    if _is_forked:
        raise DeviceError(
            "this process was forked from one with an open device, and would wait for that device "
            "for ever: start a new process, as with multiprocessing.get_context('spawn')"
        )
    choice = choice or os.environ.get(CHOICE_VARIABLE) or "auto"
    check_choice(choice)
    return _open_once(choice)


def _note_fork() -> None:
    global _is_forked
    _is_forked = _is_forked or bool(_open_once.cache_info().currsize)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def close_device(choice: str | None = None) -> None:
    """Closes the device of this choice, if it is open. Call it in a process that ends without the
    interpreter's own clean-up: the shader cache has places for 126 readers, and a reader that
    vanishes keeps its place until the next process opens the cache."""
    if not _open_once.cache_info().currsize:
        return
    _close(_open_once(choice or os.environ.get(CHOICE_VARIABLE) or "auto"))


def close_card() -> bool:
    """Closes the only open device if it is a GPU. Returns whether it was."""
    device = _opened[0] if len(_opened) == 1 else None
    if device is None or device.is_software:
        return False
    _close(device)
    return True


def _close(device: Device) -> None:
    device.release_kernels()
    device.gpu.close()
    _opened.clear()
    _open_once.cache_clear()
    gc.collect()


@lru_cache(maxsize=8)
@profiled("open device")
def _open_once(choice: str) -> Device:
    backend, _, index = choice.partition(":")
    failures: list[str] = []
    for candidate, adapter in candidates(backend, int(index) if index else None):
        if is_software(adapter):
            _check_file_size()
        try:
            _opened.append(_create_with_cache_if_possible(candidate, adapter))
            return _opened[-1]
        except RuntimeError as failure:
            failures.append(f"{candidate} {adapter.name}: {_last_line(failure)}")
    tried = "; ".join(failures) or "no device was found"
    if index and backend in BACKENDS and not failures and (count := len(adapters_of(backend))):
        last = f" to {backend}:{count - 1}" if count > 1 else ""
        raise DeviceError(f"{backend} has no device {index}: use {backend}:0{last}")
    raise DeviceError(f"no usable device for {choice!r} ({tried}): {_HOW_TO_GET_ONE}")


def _check_file_size() -> None:
    """Mesa keeps the memory of a software device in a file. If the file cannot grow, the process
    crashes without a message."""
    limit = file_size()
    if limit is not None and limit < LEAST_FILE_SIZE:
        raise DeviceError(
            f"this process may write files of only {limit / 1e6:.3g} MB; a software device needs "
            f"one of {LEAST_FILE_SIZE / 1e6:.0f} MB at least: lift the limit (ulimit -f unlimited, "
            "or the limit of the batch system)"
        )


def _create(backend: str, adapter: slangpy.AdapterInfo, shader_cache: Path | None) -> Device:
    import slangpy

    slangpy.Logger.get().level = slangpy.LogLevel.error
    options: dict[str, Any] = {"include_paths": [SHADER_FOLDER, Path(slangpy.SHADER_PATH)]}
    before = running_threads()
    gpu = slangpy.Device(
        type=getattr(slangpy.DeviceType, backend),
        adapter_luid=adapter.luid,
        compiler_options=options,
        enable_hot_reload=False,
        shader_cache_size=_SHADER_CACHE_BYTES,
        shader_cache_path=shader_cache,
    )
    on_processor = is_software(adapter)
    threads = running_threads() - before if on_processor else ()
    device = Device(gpu, backend, adapter.name, on_processor, options, tuple(threads))
    # slangpy was imported earlier, so this runs before it closes the device
    atexit.register(device.release_kernels)
    return device


def _create_with_cache_if_possible(backend: str, adapter: slangpy.AdapterInfo) -> Device:
    """Opens the device without a cache if the cache cannot be opened, as on a full disk."""
    cache = _subfolder("shaders")
    # once it is open, closing its file of locks a second time would give the first away
    if cache is not None and not _opened and sys.platform == "linux":
        from verdigris.core.base.cache_readers import free_dead_readers

        free_dead_readers(cache / "rhi")
    try:
        return _create(backend, adapter, cache)
    except RuntimeError as failure:
        if cache is None or str(cache) not in str(failure):
            raise
        return _create(backend, adapter, None)


def _last_line(failure: Exception) -> str:
    lines = str(failure).strip().splitlines()
    return lines[-1] if lines else repr(failure)
