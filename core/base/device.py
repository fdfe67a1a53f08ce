"""Chooses and opens a device. Only this module knows the graphics interfaces."""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import DeviceError
from verdigris.core.base.kept_sources import KeptSources
from verdigris.core.base.process.processor import (
    LEAST_FILE_SIZE,
    address_space,
    file_size,
    running_threads,
)
from verdigris.core.base.process.profile import profiled, span
from verdigris.shaders import SHADER_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import slangpy
    from numpy.typing import NDArray

CHOICE_VARIABLE = "VERDIGRIS_DEVICE"
CACHE_VARIABLE = "VERDIGRIS_CACHE_DIR"
BACKENDS = ("vulkan", "d3d12", "metal", "cuda")
SOFTWARE = "software"
# Threads of one dispatch: Direct3D and some Vulkan drivers allow 65,535 groups, here of 64 threads.
MOST_THREADS = 65_535 * 64
# Size of a constant buffer on every device.
MOST_CONSTANT_BYTES = 1 << 16
_SHADER_CACHE_BYTES = 512 << 20
# Sets of kernels that are cached: of networks, and of materials, which are many times larger.
_MOST_SHARED = 16
_MOST_MATERIALS = 4
_VULKAN_LIBRARIES = {"linux": "libvulkan.so.1", "win32": "vulkan-1.dll"}
_SOFTWARE_NAMES = ("llvmpipe", "lavapipe", "swiftshader", "basic render")
_HOW_TO_GET_ONE = (
    "install a Vulkan driver for the graphics card, or Mesa's lavapipe 25 or newer for the "
    "processor (python3 packaging/bootstrap.py setup does that on Debian)"
)

# Seconds between polls of a submission, and of all polls. After that the wait is left to the
# driver, which reports a lost device.
_BETWEEN_LOOKS, _MOST_LOOKING = 5e-4, 10.0

# Whether this process was forked from one with an open device.
_is_forked = False
_opened: list[Device] = []


@dataclass(frozen=True)
class Source:
    """A Slang module: a file below `shaders/`, or generated text under a name."""

    name: str
    text: str | None = None


def constants_module(name: str, values: Mapping[str, int | float]) -> Source:
    """A module of numeric constants."""
    lines = [f"module {name};"]
    for each, value in values.items():
        kind = "int" if isinstance(value, int) else "float"
        lines.append(f"public static const {kind} {each} = {value!r};")
    return Source(name, "\n".join(lines) + "\n")


class Kernels:
    """The kernels of one Slang session. A material has its own session, so that its compiled code
    is released with it."""

    def __init__(
        self,
        gpu: slangpy.Device,
        session: slangpy.SlangSession,
        instead: Callable[[], Kernels] | None = None,
        files: KeptSources | None = None,
    ) -> None:
        """`instead` opens a session for kernels that do not run when compiled in this one. `files`
        keeps modules that are given as text, under names that no other text has."""
        self._gpu = gpu
        self._session = session
        self._instead = instead
        self._files = files
        self._modules: dict[Source, slangpy.SlangModule] = {}
        self._kernels: dict[tuple[tuple[Source, ...], str], slangpy.ComputeKernel] = {}

    def get(self, sources: Sequence[Source], entry: str) -> slangpy.ComputeKernel:
        """The compute kernel `entry` of the first source, linked with the others and cached."""
        key = (tuple(sources), entry)
        if key not in self._kernels:
            modules = [self.load(source) for source in sources]
            with span(f"compile {entry}"):
                program = self._session.link_program(modules, [modules[0].entry_point(entry)])
                kernel = self._gpu.create_compute_kernel(program)
                self._kernels[key] = (
                    kernel if self._runs(kernel) else self._compile_carefully(sources, entry)
                )
        return self._kernels[key]

    def has(self, sources: Sequence[Source], entry: str) -> bool:
        """Whether this kernel is compiled."""
        return (tuple(sources), entry) in self._kernels

    def _runs(self, kernel: slangpy.ComputeKernel) -> bool:
        try:
            # creates the pipeline
            return kernel.pipeline is not None
        except RuntimeError:
            # where nothing else can be done, the first dispatch reports it
            return self._instead is None

    def _compile_carefully(self, sources: Sequence[Source], entry: str) -> slangpy.ComputeKernel:
        assert self._instead is not None
        kernels = self._instead()
        for source in self._modules:
            kernels.load(source)
        return kernels.get(sources, entry)

    def load(self, source: Source) -> slangpy.SlangModule:
        """A module of this session, which later modules can import by its name."""
        if source not in self._modules:
            name, text = source.name, source.text
            is_file = text is None or (self._files is not None and self._files.keep(name, text))
            with span(f"load module {name}"):
                self._modules[source] = (
                    self._session.load_module(name)
                    if text is None or is_file
                    else self._session.load_module_from_source(name, text)
                )
        return self._modules[source]


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
    """What users of the device keep on it until it is closed, by their own keys."""
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
        """Kernels of a session of their own, compiled with these definitions. With `is_hasty` a
        processor's are left to LLVM to optimise, which does it as well in half the time. What Slang
        writes then is not always valid: unrolled loops that end early are not. Such a kernel is
        compiled once more, with care. `files` keeps modules that are given as text."""
        import slangpy

        options = {**self.compiler_options, "defines": dict(defines or {})}
        if files is not None:
            options["include_paths"] = [*options["include_paths"], files.folder]
        instead = None
        if is_hasty and self.is_software:
            options["optimization"] = slangpy.SlangOptimizationLevel.none
            instead = partial(self.new_kernels, defines, is_hasty=False, files=files)
        # modules that were compiled with other definitions must not be taken from the cache
        cache = None if defines else _subfolder("modules")
        session = self.gpu.create_slang_session(compiler_options=options, cache_path=cache)
        return Kernels(self.gpu, session, instead, files)

    def shared_kernels(self, defines: Mapping[str, str], modules: Sequence[Source]) -> Kernels:
        """Kernels of a session with these definitions, in which every import of these names finds
        these modules: the same for all who ask for the same, so that they compile once."""

        def begin() -> Kernels:
            kernels = self.new_kernels(
                defines,
            )
            for module in modules:
                kernels.load(module)
            return kernels

        return _kept(self._shared, (*sorted(defines.items()), *modules), _MOST_SHARED, begin)

    def material_kernels(self, digest: str) -> Kernels:
        """Kernels for a material whose code has this digest. One that is opened again, or differs
        from the last few in its images alone, finds them compiled."""
        kept = cache_folder()
        files = KeptSources(kept / "materials", kept / "modules") if kept else None
        begin = partial(self.new_kernels, is_hasty=True, files=files)
        return _kept(self._of_materials, digest, _MOST_MATERIALS, begin)

    def release_kernels(self) -> None:
        """Releases cached kernels, and what else is kept on the device."""
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
        """Runs or records a kernel with global variables, and arguments of its entry point. This
        builds its pipeline, which can fail."""
        try:
            kernel.dispatch(
                [threads, 1, 1], vars=dict(variables), command_encoder=encoder, **arguments
            )
        except RuntimeError as failure:
            raise DeviceError(
                f"{self} failed: {_last_line(failure)}: it may be lost, out of memory, or its "
                "compiler unable to take this graph; try another with --device"
            ) from failure

    def new_buffer(self, values: NDArray[Any], stride: int = 0) -> slangpy.Buffer:
        """A buffer that kernels read and write, with a copy of these values, double floats as
        single ones; `stride` are the bytes of an element, by default those of a value."""
        import numpy as np

        # a copy: read-only arrays are refused
        data = np.array(values, None if values.dtype != np.float64 else np.float32).reshape(-1)
        stride = stride or data.itemsize
        return self._buffer(data.nbytes // stride, stride, data=data.view(np.uint8))

    def new_space(self, count: int, stride: int = 4) -> slangpy.Buffer:
        """A buffer of so many elements that kernels write before they are read."""
        return self._buffer(count, stride)

    def _buffer(self, count: int, stride: int, **contents: Any) -> slangpy.Buffer:
        import slangpy

        usage = slangpy.BufferUsage.shader_resource | slangpy.BufferUsage.unordered_access
        return self.gpu.create_buffer(
            element_count=count, struct_size=stride, usage=usage, **contents
        )

    def wait_for(self, submission: int) -> None:
        """Waits for a submission. Other Python threads run meanwhile; they would not while a buffer
        is read that the device still writes."""
        end = time.monotonic() + _MOST_LOOKING
        while not self.gpu.is_submit_finished(submission) and time.monotonic() < end:
            time.sleep(_BETWEEN_LOOKS)


def _kept(kept: dict[Any, Kernels], key: Any, most: int, begin: Callable[[], Kernels]) -> Kernels:
    """The kernels of this key; the cache keeps the last few keys."""
    found = kept.pop(key, None) or begin()
    kept[key] = found
    if len(kept) > most:
        # least recently used
        del kept[next(iter(kept))]
    return found


def cache_folder() -> Path | None:
    """The folder of compiled kernels; None if it cannot be written."""
    import platformdirs

    chosen = os.environ.get(CACHE_VARIABLE)
    folder = Path(chosen or platformdirs.user_cache_dir("verdigris", False)).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
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
            "this process was forked from one that has a device open, and would wait for it for "
            "ever: start it afresh, as with multiprocessing.get_context('spawn')"
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
    """Closes the device of this choice, at the end of a process that ends without the interpreter's
    own clean-up. The shader cache has places for 126 readers, and one that just vanishes keeps its
    place for as long as any other process has the cache open. Without a device nothing happens."""
    if not _open_once.cache_info().currsize:
        return
    _close(_open_once(choice or os.environ.get(CHOICE_VARIABLE) or "auto"))


def close_card() -> bool:
    """The same for the only device, if it is a graphics card. Whether it was."""
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


def hardware_devices() -> tuple[str, ...]:
    """The names of all graphics cards, by the first interface that has any, without opening one.
    The environment variable overrides it."""
    chosen = os.environ.get(CHOICE_VARIABLE, "auto")
    backend, _, index = chosen.partition(":")
    if backend == SOFTWARE:
        return ()
    if index:
        return (chosen,)
    for name in _platform_backends() if backend == "auto" else (backend,):
        adapters = enumerate(_adapters(name)) if name in BACKENDS else ()
        found = [f"{name}:{at}" for at, adapter in adapters if not _is_software(adapter)]
        if found:
            return tuple(found)
    return ()


def check_choice(choice: str) -> None:
    """Refuses an unknown device, without opening one."""
    # scripts can pass other types
    backend, _, index = str(choice).partition(":")
    if backend not in ("auto", SOFTWARE, *BACKENDS) or (index and not index.isdecimal()):
        names = ", ".join(("auto", SOFTWARE, *BACKENDS))
        raise DeviceError(f"device {choice!r} is not known: choose one of {names}, or vulkan:1")


@lru_cache(maxsize=8)
@profiled("open device")
def _open_once(choice: str) -> Device:
    backend, _, index = choice.partition(":")
    failures: list[str] = []
    for candidate, adapter in _candidates(backend, int(index) if index else None):
        if _is_software(adapter):
            _check_file_size()
        try:
            _opened.append(_create_with_cache_if_possible(candidate, adapter))
            return _opened[-1]
        except RuntimeError as failure:
            failures.append(f"{candidate} {adapter.name}: {_last_line(failure)}")
    tried = "; ".join(failures) or "none was found"
    if index and backend in BACKENDS and not failures and (count := len(_adapters(backend))):
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


def _candidates(backend: str, index: int | None) -> Iterator[tuple[str, slangpy.AdapterInfo]]:
    """Adapters, best first. A backend is loaded only when all before it have failed."""
    software: list[tuple[str, slangpy.AdapterInfo]] = []
    for name in _platform_backends() if backend in ("auto", SOFTWARE) else (backend,):
        adapters = _adapters(name)
        for adapter in adapters if index is None else adapters[index : index + 1]:
            if _is_software(adapter):
                software.append((name, adapter))
            elif backend != SOFTWARE:
                yield name, adapter
    yield from software


def _platform_backends() -> tuple[str, ...]:
    native = {"win32": ("d3d12",), "darwin": ("metal",)}.get(sys.platform, ())
    return ("vulkan", *native, *(("cuda",) if _may_have_cuda() else ()))


def _may_have_cuda() -> bool:
    """Whether there is a CUDA driver. Without one, loading CUDA prints an error to the output."""
    return sys.platform == "win32" or Path("/dev/nvidiactl").exists()


def begin_driver(choice: str | None = None) -> None:
    """Loads the Vulkan driver in a thread, beside the imports of a bake. slangpy loads it with
    Python's lock, and unloads it between listing devices and opening one: an instance that stays
    open keeps it."""
    backend = (choice or os.environ.get(CHOICE_VARIABLE) or "auto").partition(":")[0]
    library = _VULKAN_LIBRARIES.get(sys.platform)
    # Mesa ends a process that has too little memory, and a bake reports that first
    is_limited = address_space() is not None or file_size() is not None
    if library and backend in ("auto", SOFTWARE, "vulkan") and not is_limited:
        threading.Thread(target=_open_instance, args=(library,), daemon=True).start()


@profiled("load driver")
def _open_instance(library: str) -> None:
    # without a driver, opening a device reports it
    with suppress(OSError, AttributeError):
        vulkan = ctypes.CDLL(library)
        # a VkInstanceCreateInfo: its type, and zeros
        request, instance, count = (ctypes.c_uint32 * 16)(1), ctypes.c_void_p(), ctypes.c_uint32()
        if vulkan.vkCreateInstance(request, None, ctypes.byref(instance)) == 0:
            vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None)


def import_slangpy() -> Any:
    """slangpy. Where torch is installed, slangpy would import it, which takes seconds."""
    if "slangpy" in sys.modules or "torch" in sys.modules:
        import slangpy

        return slangpy
    # makes an import fail
    sys.modules["torch"] = None  # type: ignore[assignment]
    try:
        with span("import slangpy"):
            import slangpy
    finally:
        del sys.modules["torch"]
    return slangpy


def _adapters(backend: str) -> list[slangpy.AdapterInfo]:
    slangpy = import_slangpy()
    if backend == "cuda" and not _may_have_cuda():
        return []
    try:
        return list(slangpy.Device.enumerate_adapters(getattr(slangpy.DeviceType, backend)))
    except RuntimeError:
        return []


def _is_software(adapter: slangpy.AdapterInfo) -> bool:
    return any(word in adapter.name.lower() for word in _SOFTWARE_NAMES)


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
    is_software = _is_software(adapter)
    threads = running_threads() - before if is_software else ()
    device = Device(gpu, backend, adapter.name, is_software, options, tuple(threads))
    # before slangpy closes the device, which was imported earlier
    atexit.register(device.release_kernels)
    return device


def _create_with_cache_if_possible(backend: str, adapter: slangpy.AdapterInfo) -> Device:
    """Opens the device without a cache where the cache cannot be opened, such as on a full disk."""
    cache = _subfolder("shaders")
    try:
        return _create(backend, adapter, cache)
    except RuntimeError as failure:
        if cache is None or str(cache) not in str(failure):
            raise
        return _create(backend, adapter, None)


def _last_line(failure: Exception) -> str:
    lines = str(failure).strip().splitlines()
    return lines[-1] if lines else repr(failure)
