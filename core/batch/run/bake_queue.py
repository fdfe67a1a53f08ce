"""Runs the bakes of a plan on an engine, such as this machine: retries, groups that lose a member,
and results."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from verdigris.core.baking.measure.memory import needed_bytes
from verdigris.core.base.errors import VerdigrisError, reason, suggest_elsewhere
from verdigris.core.base.files import PlantedError
from verdigris.core.base.process.processor import usable_memory, usable_processors
from verdigris.core.batch.plan.inputs import with_group
from verdigris.core.batch.plan.plan import Choices, Planned, Work, check_bundle, make_work
from verdigris.core.batch.plan.task import Task
from verdigris.core.batch.run.bake_process import FAILED, BakeProcess, Outcome

NOT_REACHED, UP_TO_DATE = "not reached", "up to date"
_POLL = 0.25
# Threads and memory of a bake on a CPU, besides its texels.
THREADS_OF_A_BAKE = 2
MEMORY_OF_A_BAKE = 3 << 30
# The most bakes at a time on a GPU, and the CPU cores that each keeps busy: one trains while the
# CPU measures, draws and writes another, and compiles the material of the third. The last ones
# share the GPU, too.
_BAKES_A_CARD, _CORES_OF_ONE = 3, 2


@dataclass(frozen=True)
class Message:
    """A report of an engine on a task."""

    task: str
    """The name of the task."""
    event: dict[str, Any] | None = None
    """An event of the bake; None at its end."""
    outcome: Outcome | None = None
    """The outcome, at its end."""


class Engine(Protocol):
    """Runs tasks."""

    @property
    def slots(self) -> int:
        """The number of tasks at a time."""

    @property
    def place(self) -> str:
        """Where the bakes run, for people."""

    def submit(self, task: Task) -> None:
        """Starts or queues a task."""

    def next(self, timeout: float) -> Message | None:
        """The next message; None if none arrives within so many seconds."""

    def stop(self) -> None:
        """Ends all tasks soon. Their outcomes still arrive."""

    def close(self) -> None:
        """Releases all resources."""


class LocalEngine:
    """One process or two for each GPU of this machine; without a GPU, as many as fit."""

    def __init__(
        self, devices: Sequence[str], slots: int | None = None, logs: Path | None = None
    ) -> None:
        names = list(devices) or [""] * concurrent_bakes()
        if slots is not None:
            names = [names[number % len(names)] for number in range(slots)]
        self._slots, self._place = len(names), _describe(devices, len(names))
        self._logs = logs
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, args=(name,), name=f"bake {name}", daemon=True)
            for name in names
        ]
        for thread in self._threads:
            thread.start()

    @property
    def slots(self) -> int:
        return self._slots

    @property
    def place(self) -> str:
        return self._place

    def submit(self, task: Task) -> None:
        self._tasks.put(task)

    def next(self, timeout: float) -> Message | None:
        try:
            return self._messages.get(timeout=timeout)
        except queue.Empty:
            return None

    def stop(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self._stop.set()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self, device: str) -> None:
        process = BakeProcess()
        while (task := self._tasks.get()) is not None:
            name = task.name

            def report(event: dict[str, Any], name: str = name) -> None:
                self._messages.put(Message(name, event))

            log = self._logs / f"{name}.log" if self._logs else None
            try:
                placed = task if task.device else task.on(device)
                outcome = process.bake(placed, report, self._stop, log)
            except VerdigrisError as failure:
                outcome = Outcome(FAILED, str(failure))
            except PlantedError as failure:
                why = f"{failure.path.parent}: {reason(failure)}"
                outcome = Outcome(FAILED, f"{why}, or choose another folder")
            except OSError as failure:
                # no log could be written, or no process started
                why = f"{failure.filename or task.folder}: {reason(failure)}"
                outcome = Outcome(FAILED, f"{why}: {suggest_elsewhere(failure)}")
            self._messages.put(Message(name, outcome=outcome))
        process.close()


def concurrent_bakes_on(cards: int) -> int:
    """The number of bakes at a time that is fastest on so many GPUs."""
    if not cards:
        return 0
    fit = usable_processors() // (cards * _CORES_OF_ONE)
    return cards * max(1, min(_BAKES_A_CARD, fit))


def concurrent_bakes(tasks: Iterable[Task] = ()) -> int:
    """The number of these bakes that fit into CPU and memory at a time."""
    most = max(1, usable_processors() // THREADS_OF_A_BAKE)
    memory = usable_memory()
    if memory is None:
        return most
    largest = max(map(_memory_of, tasks), default=MEMORY_OF_A_BAKE)
    return max(1, min(most, memory // largest))


def _memory_of(task: Task) -> int:
    settings = task.request.recipe("numpy", len(task.members)).largest
    return MEMORY_OF_A_BAKE + needed_bytes(settings, len(task.members), "numpy")


def _describe(devices: Sequence[str], slots: int) -> str:
    where = ", ".join(devices) if devices else "the CPU"
    return f"{slots} at a time on {where}" if slots > 1 else where


@dataclass
class Result:
    """The result of one material."""

    material: Planned
    """The material as planned."""
    status: str
    """`baked`, `failed`, `stopped`, `not reached` or `up to date`."""
    text: str = ""
    """Why it failed."""
    attempts: int = 0
    """How often its bake was started."""
    outcome: Outcome = field(default_factory=lambda: Outcome(FAILED))
    """The outcome of the last attempt."""


class View(Protocol):
    """Shows the progress of a run."""

    def started(self, work: Work, attempt: int) -> None:
        """A bake was submitted to the engine."""

    def happened(self, task: str, event: dict[str, Any]) -> None:
        """A bake reported an event."""

    def ended(self, work: Work, results: Sequence[Result]) -> None:
        """A bake of these materials has ended."""

    def retried(self, work: Work, outcome: Outcome) -> None:
        """A bake failed and is retried."""


@dataclass(frozen=True)
class FailurePolicy:
    """What happens after failures."""

    retry: int = 0
    """The number of retries of a bake that may succeed later."""
    keep_going: bool = True
    """Whether the run continues after a failure."""


class BakeQueue:
    """A run in progress."""

    def __init__(
        self,
        works: Sequence[Work],
        engine: Engine,
        view: View,
        policy: FailurePolicy,
        choices: Choices,
    ) -> None:
        self._waiting = deque(works)
        self._running: dict[str, Work] = {}
        self._attempts: dict[str, int] = {}
        self._engine, self._view, self._policy, self._choices = engine, view, policy, choices
        self.results: list[Result] = []
        self.is_stopping = False

    def run(self, is_interrupted: Callable[[], bool] = lambda: False) -> list[Result]:
        """Runs until all is done, or until it is interrupted and the running bakes have ended."""
        while self._waiting or self._running:
            while self._waiting and len(self._running) < self._engine.slots:
                if self.is_stopping:
                    break
                self._start(self._waiting.popleft())
            if is_interrupted() and not self.is_stopping:
                self._stop()
            if self.is_stopping and not self._running:
                break
            message = self._engine.next(_POLL)
            if message is not None:
                self._take(message)
        for work in self._waiting:
            self.results += [Result(each, NOT_REACHED) for each in work.materials]
        return self.results

    def _start(self, work: Work) -> None:
        attempt = self._attempts[work.task.name] = self._attempts.get(work.task.name, 0) + 1
        self._running[work.task.name] = work
        self._view.started(work, attempt)
        # the engine can run in another folder
        self._engine.submit(work.task.absolute())

    def _stop(self) -> None:
        self.is_stopping = True
        self._engine.stop()

    def _take(self, message: Message) -> None:
        if message.outcome is None:
            if message.event is not None and message.task in self._running:
                self._view.happened(message.task, message.event)
            return
        work = self._running.pop(message.task)
        outcome = message.outcome
        if outcome.has_waited:
            self._check_again(work)
        elif outcome.refused and len(work.materials) > 1:
            self._drop_refused(work, outcome)
        elif outcome.status == FAILED and outcome.can_retry and self._may_retry(work):
            self._view.retried(work, outcome)
            self._waiting.append(work)
        else:
            self._end(work, outcome)

    def _check_again(self, work: Work) -> None:
        """Bakes what another process, which had this bake, has left."""
        materials = tuple(check_bundle(each, self._choices) for each in work.materials)
        work = replace(work, materials=materials)
        if any(each.is_to_do for each in materials):
            self._attempts[work.task.name] -= 1
            self._waiting.appendleft(work)
        else:
            self._end(work, Outcome(UP_TO_DATE))

    def _may_retry(self, work: Work) -> bool:
        return not self.is_stopping and self._attempts[work.task.name] <= self._policy.retry

    def _drop_refused(self, work: Work, outcome: Outcome) -> None:
        """Removes the members of a group that cannot be baked. The others are baked if they are
        out of date."""
        gone = [each for each in work.materials if each.entry.name in outcome.refused]
        rest = [each for each in work.materials if each.entry.name not in outcome.refused]
        self._end(replace(work, materials=tuple(gone)), outcome)
        if not rest:
            return
        plain = []
        for each in rest:
            assert each.inputs is not None
            asked = {key: value for key, value in each.inputs.asked.items() if key != "group"}
            plain.append(replace(each.inputs, asked=asked))
        group = rest[0].group if len(rest) > 1 else ""
        inputs = with_group(plain, group) if group else plain
        left = [
            check_bundle(replace(each, inputs=new, group=group), self._choices)
            for each, new in zip(rest, inputs, strict=True)
        ]
        if any(each.is_to_do for each in left):
            self._waiting.appendleft(make_work(left, self._choices))
        else:
            self._end(replace(work, materials=tuple(left)), Outcome(UP_TO_DATE))

    def _end(self, work: Work, outcome: Outcome) -> None:
        results = [
            Result(
                each,
                outcome.status,
                outcome.refused.get(each.entry.name) or outcome.text,
                self._attempts[work.task.name],
                outcome,
            )
            for each in work.materials
        ]
        self.results += results
        self._view.ended(work, results)
        if outcome.status == FAILED and not self._policy.keep_going:
            self._stop()


def failed(results: Sequence[Result]) -> list[Result]:
    return [each for each in results if each.status == FAILED]
