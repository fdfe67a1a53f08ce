"""Has a dask worker do the bakes of fake_bake.py, which VERDIGRIS_FAKE_BAKE names."""

import os
import sys

from verdigris.core.batch.run import bake_process


def dask_setup(worker):
    bake_process.bake_command = lambda: [sys.executable, os.environ["VERDIGRIS_FAKE_BAKE"]]
