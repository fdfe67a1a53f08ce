"""The interface of engines, which run bakes, and the engine of this machine."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from verdigris.core.baking.measure.memory import needed_bytes
from verdigris.core.base.errors import VerdigrisError, reason, suggest_elsewhere
from verdigris.core.base.process.processor import usable_memory, usable_processors
from verdigris.core.batch.plan.task import Task
from verdigris.core.batch.run.bake_process import BakeProcess, Outcome

# Threads and memory of a bake on the processor, besides its texels.
THREADS_OF_A_BAKE = 2
MEMORY_OF_A_BAKE = 3 << 30
# Bakes beside each other on a graphics card: one trains while the other measures, draws and writes
# on the processor, or opens its material. Processors that two bakes keep busy.
_BAKES_A_CARD, _PROCESSORS_OF_TWO = 2, 4


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
        """Number of tasks at a time."""

    @property
    def place(self) -> str:
        """The place of the bakes, for people."""

    def submit(self, task: Task) -> None:
        """Starts or queues a task."""

    def next(self, timeout: float) -> Message | None:
        """The next message; None if there is none for this many seconds."""

    def stop(self) -> None:
        """Ends all tasks soon. Their outcomes still arrive."""

    def close(self) -> None:
        """Releases all resources."""


class LocalEngine:
    """A process or two for each graphics card of this machine; without any, as many as fit."""

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
                outcome = Outcome("failed", str(failure))
            except OSError as failure:
                # no log could be written, or no process started
                why = f"{failure.filename or task.folder}: {reason(failure)}"
                outcome = Outcome("failed", f"{why}: {suggest_elsewhere(failure)}")
            self._messages.put(Message(name, outcome=outcome))
        process.close()


def concurrent_bakes_on(cards: int) -> int:
    """How many bakes are fastest on so many graphics cards."""
    return cards * (_BAKES_A_CARD if usable_processors() >= cards * _PROCESSORS_OF_TWO else 1)


def concurrent_bakes(tasks: Iterable[Task] = ()) -> int:
    """How many of these bakes fit on processor and memory at a time."""
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
    where = ", ".join(devices) if devices else "the processor"
    return f"{slots} at a time on {where}" if slots > 1 else where
