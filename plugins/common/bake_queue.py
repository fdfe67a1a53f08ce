"""Bakes that wait for one worker. Nothing here waits: the application calls `tick`."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.text import counted, format_seconds, format_share
from verdigris.core.worker.client.client import GONE, SILENT, Health, WorkerClient
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.streams import LONG_PATIENCE
from verdigris.core.worker.protocol.worker_events import FAILED, IDLE
from verdigris.ui.model.parts.bake_log import BakeLog

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from verdigris.core.hosts.host import BakedResult, HostDocument

OPENING, BAKING, CANCELLING = "opening", "baking", "cancelling"
_INTERVAL = 0.05


class Job(Protocol):
    """A bake of one material. Errors of `read` and `finish` are reported to `fail`."""

    @property
    def owner(self) -> object:
        """The owner, whose bakes `cancel` ends together."""

    @property
    def start(self) -> commands.Start:
        """The command that starts the bake."""

    def read(self) -> tuple[HostDocument, NDArray[np.float32] | None]:
        """Reads the material and its painted weights, when its turn comes."""

    def report(self, text: str) -> None:
        """Shows what happens."""

    def finish(self, result: BakedResult, warnings: list[str]) -> None:
        """Takes the result."""

    def fail(self, text: str) -> None:
        """Takes the reason of a failure."""

    def cancel(self) -> None:
        """The bake was cancelled."""


class BakeQueue:
    """Bakes jobs one after another in one worker, which ends after the last job."""

    def __init__(self, make_client: Callable[[], WorkerClient] = WorkerClient) -> None:
        self._make_client = make_client
        self._client: WorkerClient | None = None
        self._waiting: deque[Job] = deque()
        self._job: Job | None = None
        self._doing = ""
        self._until: tuple[str, ...] = ()
        """Events that confirm that the running bake is cancelled."""
        self._log = BakeLog()
        self._problem = ""
        self._silent_since: float | None = None

    @property
    def is_idle(self) -> bool:
        return self._job is None and not self._waiting

    def has(self, owner: object) -> bool:
        """Whether an owner has a job that is not finished."""
        jobs = (*self._waiting, *([self._job] if self._job else []))
        return any(job.owner == owner for job in jobs)

    def add(self, job: Job) -> None:
        self._waiting.append(job)
        ahead = len(self._waiting) - 1 + (self._job is not None)
        if ahead:
            job.report(f"waiting for {counted(ahead, 'other bake')}")

    def cancel(self, owner: object) -> None:
        """Ends the jobs of an owner. The running one ends when the worker confirms it."""
        dropped = [job for job in self._waiting if job.owner == owner]
        self._waiting = deque(job for job in self._waiting if job.owner != owner)
        for job in dropped:
            job.cancel()
        if self._job is not None and self._job.owner == owner and self._client is not None:
            # the worker reads commands after it has compiled the material
            self._until = ("opened", "error") if self._doing == OPENING else ("state", "finished")
            self._doing = CANCELLING
            self._client.send(commands.Cancel())
            self._job.report("cancelling")

    def tick(self) -> None:
        """Starts the next job, handles new messages, and checks the worker."""
        if self._job is None and self._waiting:
            self._begin(self._waiting.popleft())
        if self._client is None:
            return
        for message in self._client.poll():
            if self._job is not None:
                self._handle(message.header)
        health = self._client.health()
        if self._job is not None and self._is_lost(health):
            reason = self._problem or health.reason
            self._drop_client(kills=health.state == SILENT)
            self._end(lambda job: job.fail(reason))
        if self.is_idle:
            self._drop_client()

    def _is_lost(self, health: Health) -> bool:
        """Whether the worker has ended, or has been silent for too long; on a busy machine, it can
        be silent for seconds. If the bake is cancelled, silence is not waited out."""
        if health.state != SILENT:
            self._silent_since = None
            return health.state == GONE
        if self._silent_since is None:
            self._silent_since = time.monotonic()
            if self._job is not None:
                self._job.report(health.reason)
        silence = time.monotonic() - self._silent_since
        return self._doing == CANCELLING or silence > LONG_PATIENCE

    def run(self) -> None:
        """Bakes all jobs and waits for them, for programs without a window."""
        while not self.is_idle:
            self.tick()
            time.sleep(_INTERVAL)

    def _begin(self, job: Job) -> None:
        self._job, self._doing, self._problem = job, OPENING, ""
        self._log.clear()
        try:
            job.report("reading the material")
            document, weights = job.read()
            if self._client is None:
                self._client = self._make_client()
                # nobody looks at the pictures
                self._client.send(commands.SetView(size=commands.LEAST_PICTURE))
        except VerdigrisError as failure:
            text = str(failure)
            self._end(lambda job: job.fail(text))
            return
        self._client.send(commands.SetImportance.of(weights))
        self._client.send(commands.Open.of(document))

    def _handle(self, event: Mapping[str, Any]) -> None:
        assert self._job is not None and self._client is not None
        kind, state = event.get("event"), event.get("state")
        self._log.handle(event)
        if self._doing == CANCELLING and kind != "finished":
            if kind in self._until and (kind != "state" or state == IDLE):
                self._end(lambda job: job.cancel())
            return
        if kind == "opened" and self._doing == OPENING:
            self._start(event)
        elif kind == "error" and event.get("command") not in ("view", "cancel"):
            text = str(event.get("text", ""))
            self._problem = text
            self._end(lambda job: job.fail(text))
        elif kind == "state" and state == FAILED and self._doing == BAKING:
            self._end(lambda job: job.fail("the bake failed"))
        elif kind == "finished" and self._log.result is not None:
            result, warnings = self._log.result, list(self._log.warnings)
            self._end(lambda job: job.finish(result, warnings))
        elif kind in ("phase", "step"):
            self._job.report(_progress(self._log))

    def _start(self, event: Mapping[str, Any]) -> None:
        assert self._job is not None and self._client is not None
        if event.get("chosen"):
            self._doing = BAKING
            self._client.send(self._job.start)
            return
        reports = [each for each in event.get("materials", ()) if isinstance(each, dict)]
        problem = next((str(each["problem"]) for each in reports if each.get("problem")), "")
        self._end(lambda job: job.fail(problem or "the document has no material"))

    def _end(self, tell: Callable[[Job], None]) -> None:
        """Ends the present job. A result that cannot be noted is a failure, too."""
        job, self._job = self._job, None
        assert job is not None
        try:
            tell(job)
        except VerdigrisError as failure:
            job.fail(str(failure))

    def _drop_client(self, kills: bool = False) -> None:
        client, self._client, self._silent_since = self._client, None, None
        if client is not None and kills:
            client.kill()
        elif client is not None:
            client.close()


def _progress(log: BakeLog) -> str:
    """The phase, its share and the time left."""
    progress = log.progress
    left = progress.seconds_left
    more = f", {format_seconds(left)} left" if left is not None and left >= 1 else ""
    return f"{progress.phase} {format_share(progress.share)}{more}"
