"""Finds GPUs and software devices, best first, without opening one."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import DeviceError
from verdigris.core.base.process.processor import address_space, file_size
from verdigris.core.base.process.profile import profiled, span

if TYPE_CHECKING:
    from collections.abc import Iterator

    import slangpy

CHOICE_VARIABLE = "VERDIGRIS_DEVICE"
BACKENDS = ("vulkan", "d3d12", "metal", "cuda")
SOFTWARE = "software"
_VULKAN_LIBRARIES = {"linux": "libvulkan.so.1", "win32": "vulkan-1.dll"}
_SOFTWARE_NAMES = ("llvmpipe", "lavapipe", "swiftshader", "basic render")


def hardware_devices() -> tuple[str, ...]:
    """The names of all GPUs that the first interface with any of them lists. The environment
    variable overrides the choice."""
    chosen = os.environ.get(CHOICE_VARIABLE, "auto")
    backend, _, index = chosen.partition(":")
    if backend == SOFTWARE:
        return ()
    if index:
        return (chosen,)
    for name in _platform_backends() if backend == "auto" else (backend,):
        adapters = enumerate(adapters_of(name)) if name in BACKENDS else ()
        found = [f"{name}:{at}" for at, adapter in adapters if not is_software(adapter)]
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


def candidates(backend: str, index: int | None) -> Iterator[tuple[str, slangpy.AdapterInfo]]:
    """Adapters, best first. A backend is loaded only when all before it have failed."""
    software: list[tuple[str, slangpy.AdapterInfo]] = []
    for name in _platform_backends() if backend in ("auto", SOFTWARE) else (backend,):
        adapters = adapters_of(name)
        for adapter in adapters if index is None else adapters[index : index + 1]:
            if is_software(adapter):
                software.append((name, adapter))
            elif backend != SOFTWARE:
                yield name, adapter
    yield from software


def _platform_backends() -> tuple[str, ...]:
    native = {"win32": ("d3d12",), "darwin": ("metal",)}.get(sys.platform, ())
    return ("vulkan", *native, *(("cuda",) if _may_have_cuda() else ()))


def _may_have_cuda() -> bool:
    """Whether there is a CUDA driver. Without one, loading CUDA prints an error."""
    return sys.platform == "win32" or Path("/dev/nvidiactl").exists()


def begin_driver(choice: str | None = None) -> None:
    """Loads the Vulkan driver in a thread while a bake imports its modules. slangpy holds Python's
    lock while it loads the driver, and unloads it between listing and opening devices. An instance
    that stays open keeps it loaded."""
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
    """Imports slangpy without torch: if torch is installed, slangpy imports it, which takes
    seconds."""
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


def adapters_of(backend: str) -> list[slangpy.AdapterInfo]:
    """The adapters that a backend lists; none if it cannot be loaded."""
    slangpy = import_slangpy()
    if backend == "cuda" and not _may_have_cuda():
        return []
    try:
        return list(slangpy.Device.enumerate_adapters(getattr(slangpy.DeviceType, backend)))
    except RuntimeError:
        return []


def is_software(adapter: slangpy.AdapterInfo) -> bool:
    return any(word in adapter.name.lower() for word in _SOFTWARE_NAMES)
