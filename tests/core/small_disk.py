"""A disk with little room."""

import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def small_disk(folder, size):
    """A file system of its own with so many KiB."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", folder]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    if done.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)
