"""What all tests share."""

import gc
import os
import sys

if "PYTEST_XDIST_WORKER" in os.environ:
    # Processes that share the cores leave no threads of numpy spinning. It reads this as it is
    # imported, which no test has done yet.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Without bytecode every process compiles all modules anew, and pytest rewrites all tests: with a
# hundred processes that is a tenth of the suite's time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Few tests make cycles of objects, and each collection visits all that pytest keeps.
gc.set_threshold(20_000, 20, 20)
