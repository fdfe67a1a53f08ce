"""One bake, advanced step by step between commands."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.baking.prepare import prepare_compiled
from verdigris.core.baking.state.choices import stages_of
from verdigris.core.baking.state.options import BakeControl
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.lock import clear_locks
from verdigris.core.bundle.files.manifest import SUFFIX
from verdigris.core.progress import ENCODING, FLATTENING, ROUNDING, SMALL_TEXTURE, STARTS, TRAINING
from verdigris.core.worker.protocol.worker_events import Error, Plan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.progress import Event, Finished, Started
    from verdigris.core.worker.protocol.commands import Start

# Seconds of a run of steps: progress comes more than five times a second, with time for pictures.
RUN_SECONDS = 0.18
# The most training that a killed worker loses.
CHECKPOINT_SECONDS = 5.0


class Job:
    """A bake in progress."""

    def __init__(
        self, teacher: Teacher, start: Start, importance: NDArray[np.float32] | None
    ) -> None:
        from verdigris.core.baking.measure.measure import classify

        request = start.request.over(BakeRequest(checkpoint_seconds=CHECKPOINT_SECONDS))
        request = replace(request, importance=importance)
        prepared = prepare_compiled(request, [teacher], Path(start.folder), start.name or None)
        # live pictures have the resolution of the result
        self.settings = prepared.recipe[classify([teacher], prepared.recipe)]
        prepared = prepared.with_options(writes_first=True, run_seconds=RUN_SECONDS)
        # a resumed bake cannot begin with others
        prepared = prepared.with_options(keeps_weights=True)
        self.run: Run | None = None
        self.control = BakeControl(watch=self._watch)
        self._folder, self._name = prepared.options.folder, prepared.options.name
        self._events = prepared.bake(self.control)
        self._paused_at: float | None = None
        self.flattens = prepared.options.viewport_textures
        self.wants_picture = start.report_picture
        self._weights = importance

    def _watch(self, run: Run) -> None:
        self.run = run
        self.settings, self._weights = run.settings, run.options.importance

    def plan(self, started: Started) -> Plan:
        """The phases of the bake that has just started."""
        settings, stages = self.settings, stages_of(self.settings)
        parts: list[dict[str, Any]] = []
        begun = 0

        def add(name: str, last: int) -> None:
            nonlocal begun
            parts.append({"name": name, "first": begun, "last": max(begun, last)})
            begun = max(begun, last)

        first = stages[0].settings
        # a continued bake may still compare its starts
        is_trying = not started.step or (self.run is not None and self.run.start_choice is not None)
        if is_trying and first.starts > 1:
            tried = first.start_steps
            parts.append({"name": STARTS, "first": 0, "last": tried * first.starts})
            begun = tried
        if len(stages) > 1:
            add(SMALL_TEXTURE, stages[0].settings.iterations)
            add(ENCODING, begun)
        rounding = stages[-1].settings.training().quantisation
        end = settings.iterations
        add(TRAINING, stages[-1].first_step + rounding.first_step if rounding else end)
        if rounding:
            add(ROUNDING, end)
        if self.flattens:
            from verdigris.core.flatten.viewport import viewport_settings

            last = viewport_settings(settings).iterations
            parts.append({"name": FLATTENING, "first": 0, "last": last})
        return Plan(tuple(parts))

    def next(self) -> Event | None:
        """The next event; None at the end."""
        return next(self._events, None)

    @property
    def has_learnt(self) -> bool:
        """Whether a result could be written."""
        if self.run is None:
            return False
        has_tried = self.run.start_choice is not None and self.run.start_choice.best is not None
        return has_tried or self.run.step > 0

    def pause(self) -> None:
        if self._paused_at is None:
            self._paused_at = time.monotonic()

    def resume(self) -> None:
        """Continues. The pause does not count as training time."""
        if self._paused_at is not None and self.run is not None:
            self.run.clock.pause(time.monotonic() - self._paused_at)
        self._paused_at = None

    def finish(self) -> None:
        """Requests a result from the present state."""
        self.resume()
        self.control.stop()

    def set_importance(self, weights: NDArray[np.float32] | None) -> None:
        """Uses other weights of places from the next steps on."""
        self.control.set_importance(weights)

    def takes_new_weights(self) -> bool:
        """Whether the weights in use differ from those at the last call."""
        weights = self.run.options.importance if self.run else self._weights
        is_new, self._weights = weights is not self._weights, weights
        return is_new

    def close(self) -> None:
        """Releases everything except files on disk."""
        self._events.close()
        # a signal can come between creating and holding a lock
        clear_locks(self._folder, (self._name, f"{self._name}{SUFFIX}"))


def write_pictures(
    finished: Finished, teacher: Teacher, student: Student, post: Callable[[Event], None]
) -> None:
    """Writes large pictures for the report of a queue beside the bundles. The bake is as good
    without them."""
    from verdigris.core.pictures.compare.comparison import write_comparison

    try:
        for bundle in finished.results:
            write_comparison(Path(bundle), teacher, student)
    except VerdigrisError as failure:
        post(Error(str(failure), "start", type(failure).__name__))
