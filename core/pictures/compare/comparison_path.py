"""The path of a bake's picture for reports, without large imports."""

from __future__ import annotations

from pathlib import Path

_SUFFIX = ".compare.jpg"


def comparison_path(bundle: Path) -> Path:
    """The file of a bundle's picture, beside it."""
    return bundle.with_name(bundle.stem + _SUFFIX)
