"""What all tests share."""

import gc
import os
import sys

if "PYTEST_XDIST_WORKER" in os.environ:
    # Processes that share the cores leave no threads of numpy spinning. It reads this as it is
    # imported, which no test has done yet.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# LLVM's optimisation takes more time than tests save by it: their dispatches are small. Results
# keep their bits.
os.environ.setdefault("GALLIVM_PERF", "nopt")

# Without bytecode every process compiles all modules anew, and pytest rewrites all tests:
# collection alone takes three times as long.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_collection_finish():
    """Leaves modules and collected tests, which stay, out of collections of cycles."""
    gc.freeze()


def pytest_sessionfinish():
    gc.unfreeze()
