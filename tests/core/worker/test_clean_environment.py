"""A worker that an application starts has none of the application's libraries in its way."""

import os
import sys

import pytest

from verdigris.core.base.process.worker_environment import environment_for, require_worker_command

from .running_worker import RunningWorker


@pytest.fixture
def in_application(monkeypatch):
    """As in Maya: the interpreter of this process is not that of the worker."""
    python = require_worker_command()[0]
    monkeypatch.setenv("VERDIGRIS_PYTHON", python)
    monkeypatch.setattr(sys, "executable", "/usr/autodesk/maya2027/bin/maya.bin")
    return python


@pytest.fixture
def poisoned(tmp_path):
    """A folder as an application's `lib`, whose libraries no other program can load."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    folder = tmp_path / "maya" / "lib"
    folder.mkdir(parents=True)
    for name in (f"libpython{version}.so.1.0", "libstdc++.so.6", "libm.so.6"):
        (folder / name).write_bytes(b"\x7fELF of another program")
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="the loader's variables are of Linux")
def test_a_worker_starts_beside_libraries_of_the_application(in_application, poisoned, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", str(poisoned))
    # its packages load libstdc++, which a worker does when it opens a material
    code = 'import runpy, slangpy; runpy.run_module("verdigris.core.worker", run_name="__main__")'
    running = RunningWorker([in_application, "-P", "-c", code])
    try:
        assert running.wait_for("hello", seconds=20).header["python"]
    finally:
        running.client.kill()


@pytest.mark.parametrize(
    "name",
    [
        *("LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES"),
        *("PYTHONHOME", "PYTHONPATH", "PYTHONSAFEPATH", "PYTHONUSERBASE", "__PYVENV_LAUNCHER__"),
        *("QT_PLUGIN_PATH", "QT_QPA_PLATFORM_PLUGIN_PATH", "QML2_IMPORT_PATH"),
        *("PXR_PLUGINPATH_NAME", "OIIO_LIBRARY_PATH", "MAYA_LOCATION", "HOUDINI_PATH"),
    ],
)
def test_variables_of_the_application_are_left_out(in_application, monkeypatch, name):
    monkeypatch.setenv(name, "/usr/autodesk/maya2027/lib")
    assert name not in environment_for([in_application])
    # the application's own interpreter needs them
    assert environment_for([sys.executable])[name] == "/usr/autodesk/maya2027/lib"


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "HOME", "VK_DRIVER_FILES", "VK_ICD_FILENAMES", "CUDA_VISIBLE_DEVICES"),
        *("VERDIGRIS_DEVICE", "VERDIGRIS_CACHE_DIR", "OCIO", "PXR_MTLX_STDLIB_SEARCH_PATHS"),
    ],
)
def test_variables_for_devices_and_for_verdigris_are_kept(in_application, monkeypatch, name):
    monkeypatch.setenv(name, "/some/where")
    assert environment_for([in_application])[name] == os.environ[name]
