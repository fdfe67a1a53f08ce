"""The version of Verdigris."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path

VERSION_FILE = "VERSION"


def version() -> str:
    """The version of the staged tree, or of the installed package."""
    file = Path(__file__).absolute().parents[2] / VERSION_FILE
    if file.is_file():
        return file.read_text(encoding="utf-8").strip()
    try:
        return installed("verdigris")
    except PackageNotFoundError:
        return "0"
