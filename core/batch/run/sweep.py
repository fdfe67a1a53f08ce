"""Clears what killed bakes have left beside bundles that are whole."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from verdigris.core.baking.state.checkpoint import STATE_SUFFIX, clear_leftovers
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.lock import locked


def sweep(bakes: Iterable[tuple[Path, str]]) -> None:
    """Clears checkpoints and locks of bakes, by folder and name, whose bundles are whole; unless
    one of them runs."""
    for folder, name in set(bakes):
        _sweep_one(folder, name)


def _sweep_one(folder: Path, name: str) -> None:
    checkpoint = folder / f"{name}{STATE_SUFFIX}"
    if not (checkpoint.exists() or (folder / f".{name}.lock").exists()):
        return
    with contextlib.suppress(SettingsError, OSError), locked(folder, name):
        checkpoint.unlink(missing_ok=True)
        clear_leftovers(folder, name)
