"""What a bake is asked for beside its settings, and how it is ended."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.outputs import check_no_bundle
from verdigris.core.base.plain_values import convert_numbers
from verdigris.core.base.text import why_invalid_file_name
from verdigris.core.importance.maps import as_float32, check_importance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run


@dataclass(frozen=True)
class BakeOptions:
    """What does not shape the result: where it goes, when to stop, what to show meanwhile."""

    name: str
    """Of the result's file."""
    folder: Path
    """Where it goes."""
    trainer: str | None = None
    """`tensor` or `numpy`; by default what suits the device."""
    resume: bool = False
    """Go on from the checkpoint in the folder, if there is one."""
    time_limit: float | None = None
    """Seconds of training that the schedule is fitted into."""
    target_error: float | None = None
    """Stop at this log-space error on held-out samples."""
    importance: NDArray[Any] | None = None
    """How much each place matters, row 0 at v = 0: relative weights, 0 leaves a place out; uniform
    without."""
    checkpoint_seconds: float = 5.0
    """How often the state is written; less often where that would take a twentieth of the time."""
    metrics_seconds: float = 2.0
    """How often errors are measured, under the same limit."""
    run_seconds: float = 0.2
    """How long steps are done between two events."""
    preview_seconds: float | None = None
    """How often a picture is drawn; never by default."""
    preview_size: int = 128
    """Pixels a side of that picture."""
    viewport_textures: bool = False
    """Also write flattened textures beside each bundle, for viewports."""
    names: tuple[str, ...] = ()
    """Of the bundles, one for each material; by default they are made of `name`."""
    provenance: tuple[Mapping[str, Any], ...] = ()
    """What each bundle is to say of how it was asked for; one for each material, or none."""

    def __post_init__(self) -> None:
        convert_numbers(self)
        weights = self.importance
        # one that is in single floats stays the array that it is, by which callers know it
        if weights is not None and getattr(weights, "dtype", None) != np.float32:
            weights = as_float32(weights, "the importance map")
            object.__setattr__(self, "importance", weights)
        if weights is not None:
            check_importance(weights, "the importance map")
        for each in (self.name, *self.names):
            if reason := why_invalid_file_name(each):
                raise SettingsError(reason)
        for name in ("time_limit", "target_error"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise SettingsError(
                    f"{name} is {value}: use a finite number above 0, or leave it out"
                )
        for name in ("checkpoint_seconds", "metrics_seconds", "run_seconds"):
            value = getattr(self, name)
            # no number is not above 0 either
            if not value >= 0:
                raise SettingsError(f"{name} is {value}: use 0 or more")


@dataclass
class BakeControl:
    """Lets another thread, or a signal handler, end a bake so that it keeps what it has, and paint
    while it runs."""

    stop_requested: bool = False
    watch: Callable[[Run], None] | None = None
    """Is given what the bake holds when it begins, for pictures of one's own between events."""

    _wanted: tuple[NDArray[np.float32] | None] | None = field(default=None, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def stop(self) -> None:
        self.stop_requested = True

    def set_importance(self, importance: NDArray[Any] | None) -> None:
        """Trains by another map, row 0 at v = 0, from the next run of steps on: within half a
        second, whatever was drawn ahead. None is uniform. Of several at once the last counts."""
        weights = None
        if importance is not None:
            weights = as_float32(importance, "the importance map")
            check_importance(weights, "the importance map")
        with self._lock:
            self._wanted = (weights,)

    def take_importance(self) -> tuple[NDArray[np.float32] | None] | None:
        """The map that was set since the last call, alone in a tuple; None if none was."""
        with self._lock:
            wanted, self._wanted = self._wanted, None
        return wanted


@contextlib.contextmanager
def made_for_result(folder: Path) -> Iterator[None]:
    """Makes the folder of the result; it and those above that were not there go again where they
    get nothing."""
    new = _missing_folders(folder)
    make_folder(folder)
    try:
        yield
    finally:
        # what is not empty cannot be removed
        with contextlib.suppress(OSError):
            for each in new:
                each.rmdir()


def _missing_folders(folder: Path) -> list[Path]:
    """The folder and those above it, as far as they are not there."""
    return [*takewhile(lambda each: not os.path.lexists(each), (folder, *folder.parents))]


def make_folder(folder: Path) -> None:
    """Makes the folder of the result, or says why it cannot be."""
    try:
        check_no_bundle(folder)
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if not folder.is_dir():
                raise
    except FileExistsError:
        what = "is a link that leads nowhere" if folder.is_symlink() else "is a file"
        raise SettingsError(f"{folder}: {what}: choose a folder for the result") from None
    except OSError as failure:
        raise SettingsError(
            f"{folder}: the folder cannot be made ({failure.strerror}): choose another"
        ) from None
