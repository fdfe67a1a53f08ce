"""What all tests share."""

import os

if "PYTEST_XDIST_WORKER" in os.environ:
    # Processes that share the cores leave no threads of numpy spinning. It reads this as it is
    # imported, which no test has done yet.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
