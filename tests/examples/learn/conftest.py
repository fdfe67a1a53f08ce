"""Modules of examples/learn, as their scripts find them."""

import importlib
import sys
from pathlib import Path

import pytest

from verdigris.core.base.device import open_device

LEARN = Path(__file__).parents[3] / "examples" / "learn"


@pytest.fixture(scope="session")
def learn():
    """Imports a module of an example by name."""
    folders = [LEARN, *(each.parent for each in LEARN.glob("*/README.md"))]
    added = [str(each) for each in folders]
    sys.path.extend(added)
    yield importlib.import_module
    for each in added:
        sys.path.remove(each)


@pytest.fixture(scope="session")
def device():
    return open_device("software")
