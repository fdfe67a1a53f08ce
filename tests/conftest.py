"""What all tests share."""

import gc
import os
import signal
import sys
from pathlib import Path

import platformdirs
import pytest

if "PYTEST_XDIST_WORKER" in os.environ:
    # Processes that share the cores leave no threads of numpy spinning. It reads this as it is
    # imported, which no test has done yet.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# LLVM's optimisation takes more time than tests save by it: their dispatches are small. Results
# keep their bits.
os.environ.setdefault("GALLIVM_PERF", "nopt")
# Half of the threads in a wave are half of the code: with AVX, Mesa writes out most reads of memory
# for each of eight. Slower code is less than what its compiler takes.
if "LP_NATIVE_VECTOR_WIDTH" not in os.environ:
    os.environ["LP_NATIVE_VECTOR_WIDTH"] = "128"
    # Mesa takes code for eight threads from its cache, too, and crashes: tests have a cache apart.
    kept = os.environ.get("VERDIGRIS_CACHE_DIR") or platformdirs.user_cache_dir("verdigris", False)
    folder = Path(kept).absolute() / "mesa_128"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["MESA_SHADER_CACHE_DIR"] = str(folder)

# Tests of resident workers have their own; no other test finds one.
os.environ["VERDIGRIS_SERVE"] = "off"

# Without bytecode every process compiles all modules anew, and pytest rewrites all tests:
# collection alone takes three times as long.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Collected tests stay: looking for garbage among them takes a tenth of collection.
gc.disable()

# Tests kill processes, but never the machine. A bake waits 32 times for the disk otherwise.
os.fsync = lambda _file: None


# They wait for other programs: last, they would leave a core idle.
_FIRST = ("tests/test_architecture.py", "tests/web/", "tests/packaging/")
# Short files that wait for nothing: both cores end at about the same time. Panels with real
# workers would leave one idle.
_LAST = "tests/core/material/"


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.nodeid.startswith(_LAST) - item.nodeid.startswith(_FIRST))


def pytest_collection_finish():
    """Leaves modules and collected tests, which stay, out of collections of cycles."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown():
    """Deletes closed widgets. Without an event loop they stay: after a hundred panels a change of
    the palette takes seconds."""
    yield
    qt = sys.modules.get("PySide6.QtCore")
    if qt and qt.QCoreApplication.instance():
        qt.QCoreApplication.sendPostedEvents(None, qt.QEvent.Type.DeferredDelete.value)


@pytest.fixture
def tmp_path(tmp_path):
    """Two folders below that of the test: files that are missing are searched two folders upwards,
    which would be those of all tests."""
    folder = tmp_path / "of" / "it"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def heard():
    """Processes that are begun in the background are deaf to Ctrl-C, those of `nohup` to the end of
    their terminal, and so are theirs."""
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler)}
    if hasattr(signal, "SIGHUP"):
        before[signal.SIGHUP] = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def pytest_sessionfinish():
    gc.unfreeze()
