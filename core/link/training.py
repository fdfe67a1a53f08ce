"""Snapshots of a bake while it runs.

Between two runs of steps the numbers are copied, which takes milliseconds. A thread rounds and
packs them. A snapshot is made when a client waits for one, so that it is new when it is shown, and
as often as their share of the time allows; without clients there are none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.bundle.files.ktx2 import RGBA8, RGBA16F
from verdigris.core.link.snapshot import SnapshotMaker, snapshot_of_bundle
from verdigris.core.progress import Event, Finished, Kept, Phase, Step
from verdigris.core.settings.bake_settings import HALF_FORMAT

if TYPE_CHECKING:
    from verdigris.core.baking.state.options import BakeControl
    from verdigris.core.baking.state.run import Run
    from verdigris.core.link.server import LinkServer
    from verdigris.core.network.latents.quantise import LatentRange
    from verdigris.core.network.parameters import Parameters

# Seconds between snapshots: the shortest, and the longest that a large texture may cause.
SHORTEST, LONGEST = 0.25, 5.0
# The share of the training's time that snapshots may take: the training waits while numbers are
# copied, and a thread that packs them takes one of its CPUs.
SHARE = 0.05


@dataclass(frozen=True)
class _Copied:
    """The numbers of a training at one moment."""

    parameters: Parameters
    ranges: Sequence[LatentRange] | None
    texel_format: str
    facts: dict[str, Any]


class TrainingLink:
    """Sends the materials of a bake to the clients of a server."""

    def __init__(self, server: LinkServer, control: BakeControl, run: Run | None = None) -> None:
        """`run` is that of a bake which has begun; a later one comes from the control."""
        self._server = server
        self._run = run
        self._makers: list[SnapshotMaker] = []
        self._thread = ThreadPoolExecutor(1, "snapshots")
        self._making: Future[float] | None = None
        self._copied = 0.0
        self._begun = self._due = 0.0
        before = control.watch

        def watch(run: Run) -> None:
            if before is not None:
                before(run)
            self._run = run

        control.watch = watch

    def follow(self, events: Iterator[Event]) -> Iterator[Event]:
        """The same events. Between them, snapshots are taken."""
        try:
            for event in events:
                self.look(event)
                yield event
        finally:
            if isinstance(events, Generator):
                events.close()
            self.close()

    def close(self) -> None:
        """Waits for the last snapshot."""
        self._thread.shutdown()

    def look(self, event: Event) -> None:
        """Takes a snapshot after a step, if one is due; and the bundles when they are written."""
        if isinstance(event, Step):
            self._look_at_step(event)
        elif isinstance(event, Phase):
            self._server.tell(phase=event.name)
        elif isinstance(event, Finished | Kept):
            self._show_bundles(event)

    def _look_at_step(self, event: Step) -> None:
        run, now = self._run, time.monotonic()
        if run is None or now < self._due or not self._server.is_awaited:
            return
        if self._making is not None:
            if not self._making.done():
                return
            spent = self._copied + self._making.result() / (os.cpu_count() or 1)
            self._making = None
            self._due = self._begun + min(LONGEST, max(SHORTEST, spent / SHARE))
            if now < self._due:
                return
        begun = time.perf_counter()
        trainer, settings = run.learner.trainer, run.settings
        form = RGBA16F if settings.latent_format == HALF_FORMAT else RGBA8
        facts = {"step": event.step, "steps": event.steps}
        copied = _Copied(trainer.parameters(), trainer.latent_ranges(), form, facts)
        if not self._makers:
            self._makers = [_maker_of(run, number) for number in range(len(run.names))]
            self._server.choose(run.names[0])
        self._copied = time.perf_counter() - begun
        self._begun, self._due = now, now + SHORTEST
        self._making = self._thread.submit(self._make, copied)

    def _make(self, copied: _Copied) -> float:
        """Publishes the snapshots; returns the seconds of the CPU."""
        begun = time.thread_time()
        for number, maker in enumerate(self._makers):
            own = copied.parameters.of_material(number)
            if self._run is not None:
                own = replace(own, live=self._run.teachers[number].live)
            known = copied.ranges[number] if copied.ranges else None
            try:
                self._server.publish(maker.make(own, known, copied.texel_format, copied.facts))
            except VerdigrisError:
                # numbers that are not finite: the bake itself reports them
                continue
        return time.thread_time() - begun

    def _show_bundles(self, event: Finished | Kept) -> None:
        if self._making is not None:
            self._making.result()
            self._making = None
        names = self._run.names if self._run else ()
        if names:
            # without clients there was no snapshot before
            self._server.choose(names[0])
        for name, path in zip(names, event.results, strict=True):
            # it may have been moved away meanwhile
            try:
                snapshot = snapshot_of_bundle(Path(path), name)
            except VerdigrisError:
                continue
            is_final = isinstance(event, Finished)
            facts = {"step": event.step, "steps": event.step}
            self._server.publish(replace(snapshot, is_final=is_final, facts=facts))


def _maker_of(run: Run, number: int) -> SnapshotMaker:
    # the bundle needs these maps in any case
    maps = run.maps[number]
    return SnapshotMaker(
        run.names[number],
        run.teachers[number].live_inputs,
        maps.emission,
        maps.emission_format,
        maps.opacity,
        maps.relief.heights,
    )
