"""What a worker of a dask cluster does for a scene: one bake, in a process of its own."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from verdigris.core.base.device import hardware_devices
from verdigris.core.batch.plan.task import Task
from verdigris.core.batch.run.child import bake_in_child

_POLL = 1.0
_in_use: Counter[str] = Counter()
_lock = threading.Lock()


def bake_on_worker(values: Mapping[str, Any], topic: str, stop_name: str) -> dict[str, Any]:
    """Bakes a task; events go to a topic, and the outcome is what the future holds."""
    from distributed import Event, get_client, get_worker

    worker = get_worker()
    task = Task.from_json(values)
    stopped, ended = threading.Event(), threading.Event()
    asked = Event(stop_name, client=get_client())

    def watch() -> None:
        while not ended.wait(_POLL):
            with contextlib.suppress(Exception):
                if asked.is_set():
                    stopped.set()

    def tell(event: dict[str, Any]) -> None:
        worker.log_event(topic, {"task": task.name, **event})

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        with _device(task) as placed:
            return bake_in_child(placed, tell, stopped).as_json()
    finally:
        ended.set()


@contextlib.contextmanager
def _device(task: Task) -> Iterator[Task]:
    """The task on that graphics card of this machine which has the least to do."""
    names = () if task.device else hardware_devices()
    if not names:
        yield task
        return
    with _lock:
        name = min(names, key=lambda each: _in_use[each])
        _in_use[name] += 1
    try:
        yield task.on(name)
    finally:
        with _lock:
            _in_use[name] -= 1
