"""Options of a bake that do not shape its result, and controls while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.plain_values import convert_numbers
from verdigris.core.base.text import why_invalid_file_name
from verdigris.core.importance.maps import as_float32, check_importance
from verdigris.core.pictures.compare.verdict import INDISTINGUISHABLE, require_target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run


@dataclass(frozen=True)
class BakeOptions:
    """Where the result goes, when to stop, and what to report meanwhile."""

    name: str
    """Name of the bundle, without its suffix."""
    folder: Path
    """Folder of the bundle."""
    trainer: str | None = None
    """`tensor` or `numpy`; by default the one for the device."""
    resume: bool = False
    """Continue from the checkpoint in the folder, if there is one."""
    time_limit: float | None = None
    """Seconds of training; the number of steps is fitted to it."""
    target_error: float | None = None
    """Stop early at this log MAE on held-out samples."""
    target: str = ""
    """Stop early when the result is `good`, `very good` or, by default, `indistinguishable`: a key
    of TARGETS in core/pictures/compare/verdict.py."""
    importance: NDArray[Any] | None = None
    """Relative weights of places, row 0 at v = 0; 0 leaves a place out. Uniform if None."""
    keeps_weights: bool = False
    """A resumed bake continues with the weights of its checkpoint, whatever `importance` is."""
    checkpoint_seconds: float = 5.0
    """Interval of checkpoints; longer if they would take more than a twentieth of the time."""
    metrics_seconds: float = 2.0
    """Interval of measurements, with the same limit."""
    run_seconds: float = 0.2
    """Duration of training between two events."""
    preview_seconds: float | None = None
    """Interval of pictures; None for no pictures."""
    preview_size: int = 128
    """Pixels per side of a picture."""
    viewport_textures: bool = False
    """Also write plain textures beside each bundle, for viewports."""
    names: tuple[str, ...] = ()
    """Names of the bundles, one for each material; by default derived from `name`."""
    preset: str = ""
    """Name of the preset, for the manifest."""
    keeps_versions: bool = True
    """Keep a bundle that is replaced in the folder NAME.versions."""
    writes_first: bool = False
    """If the bake is stopped, write a bundle within seconds, report Kept, and then refine it."""
    provenance: tuple[Mapping[str, Any], ...] = ()
    """Facts about the request, for the manifest of each bundle: one for each material, or none."""

    def __post_init__(self) -> None:
        convert_numbers(self)
        weights = self.importance
        # callers recognise a float32 array as the same object
        if weights is not None and getattr(weights, "dtype", None) != np.float32:
            weights = as_float32(weights, "the importance map")
            object.__setattr__(self, "importance", weights)
        if weights is not None:
            check_importance(weights, "the importance map")
        if self.target:
            object.__setattr__(self, "target", require_target(self.target))
        for each in (self.name, *self.names):
            if fault := why_invalid_file_name(each):
                raise SettingsError(fault)
        for name in ("time_limit", "target_error"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise SettingsError(
                    f"{name} is {value}: use a finite number above 0, or leave it out"
                )
        for name in ("checkpoint_seconds", "metrics_seconds", "run_seconds"):
            value = getattr(self, name)
            # also refuses NaN
            if not value >= 0:
                raise SettingsError(f"{name} is {value}: use 0 or more")

    @property
    def has_target(self) -> bool:
        """Whether another target than an indistinguishable result is requested, which a bake may
        reach at any time."""
        return self.target_error is not None or self.target not in ("", INDISTINGUISHABLE)


@dataclass
class BakeControl:
    """Stops a bake, which then writes its present result, or changes its importance map. May be
    used from another thread or a signal handler."""

    stop_requested: bool = False
    watch: Callable[[Run], None] | None = None
    """Called with the run when it begins, by callers that draw their own pictures."""

    _wanted: tuple[NDArray[np.float32] | None] | None = field(default=None, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def stop(self) -> None:
        self.stop_requested = True

    def set_importance(self, importance: NDArray[Any] | None) -> None:
        """Trains with another importance map, row 0 at v = 0, from the next run of steps on, which
        begins within half a second. None is uniform. The last of several calls counts."""
        weights = None
        if importance is not None:
            weights = as_float32(importance, "the importance map")
            check_importance(weights, "the importance map")
        with self._lock:
            self._wanted = (weights,)

    @property
    def has_new_importance(self) -> bool:
        """Whether a map was set that nobody has taken yet."""
        return self._wanted is not None

    def take_importance(self) -> tuple[NDArray[np.float32] | None] | None:
        """The map that was set since the last call, in a tuple; None if none was set."""
        with self._lock:
            wanted, self._wanted = self._wanted, None
        return wanted
