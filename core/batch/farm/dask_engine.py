"""Runs bakes on a dask cluster. If a worker is lost, the scheduler repeats its bakes elsewhere."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from verdigris.core.base.adapters import CHOICE_VARIABLE, hardware_devices
from verdigris.core.base.errors import SceneError
from verdigris.core.batch.plan.task import Task
from verdigris.core.batch.run.bake_process import FAILED, STOPPED, Outcome, bake_in_process
from verdigris.core.batch.run.bake_queue import THREADS_OF_A_BAKE, Message

if TYPE_CHECKING:
    from distributed import Client, Future

LOCAL = "local"
_HERE = "127.0.0.1"
RESOURCE = "GPU"
"""The resource that a worker offers for each GPU: `dask worker --resources GPU=4`."""
_CONNECT_SECONDS = 30
_NOT_INSTALLED = "dask.distributed is not installed: pip install 'verdigris[dask]'"


class DaskEngine:
    """An existing cluster, or a new one on this machine."""

    def __init__(self, address: str, workers: int = 1, devices: Sequence[str] = ()) -> None:
        if address != LOCAL:
            _check_address(address)
        self._cluster = _start_cluster(workers, devices) if address == LOCAL else None
        self._client = _connect(self._cluster or address)
        self._topic = f"verdigris-{uuid.uuid4().hex}"
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._futures: dict[str, Future] = {}
        self._is_stopping = False
        self._client.subscribe_topic(self._topic, self._take_event)
        from distributed import Event

        self._stop = Event(f"{self._topic}-stop", client=self._client)

    @property
    def slots(self) -> int:
        """The number of bakes that the present workers can run at a time."""
        cards, threads = self._capacity()
        return max(1, cards or threads // THREADS_OF_A_BAKE or threads)

    @property
    def place(self) -> str:
        workers = len(self._client.scheduler_info(n_workers=-1)["workers"])
        return f"dask at {self._client.scheduler.address}, {workers} workers"

    def submit(self, task: Task) -> None:
        cards, _ = self._capacity()
        future = self._client.submit(
            bake_on_worker,
            task.as_json(),
            self._topic,
            self._stop.name,
            key=f"{task.name}-{uuid.uuid4().hex}",
            resources={RESOURCE: 1} if cards else None,
            pure=False,
        )
        self._futures[task.name] = future
        future.add_done_callback(lambda done, name=task.name: self._end(name, done))

    def next(self, timeout: float) -> Message | None:
        try:
            return self._messages.get(timeout=timeout)
        except queue.Empty:
            return None

    def stop(self) -> None:
        self._is_stopping = True
        self._stop.set()

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._client.cancel(list(self._futures.values()))
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def _capacity(self) -> tuple[int, int]:
        """The numbers of GPUs and of threads."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        cards = sum(int(each.get("resources", {}).get(RESOURCE, 0)) for each in workers)
        return cards, sum(int(each["nthreads"]) for each in workers)

    def _take_event(self, stamped: tuple[float, dict[str, Any]]) -> None:
        event = dict(stamped[1])
        self._messages.put(Message(str(event.pop("task", "")), event))

    def _end(self, name: str, future: Future) -> None:
        if future.status == "finished":
            outcome = Outcome(**future.result())
        elif self._is_stopping or future.cancelled():
            outcome = Outcome(STOPPED)
        else:
            # such as a task that has ended several workers
            outcome = Outcome(FAILED, f"dask: {future.exception()}", can_retry=True)
        self._futures.pop(name, None)
        self._messages.put(Message(name, outcome=outcome))


def _check_address(address: str) -> None:
    """Checks an address before a client gets it, because a client with an invalid address takes a
    minute to end."""
    try:
        from distributed.comm.addressing import get_address_host_port, normalize_address
    except ImportError:
        raise SceneError(_NOT_INSTALLED) from None
    try:
        _, port = get_address_host_port(normalize_address(address))
        if not 0 < port < 65536:
            raise ValueError(f"port {port}")
    except ValueError as failure:
        raise SceneError(
            f"{address!r} is not the address of a dask scheduler ({failure}): use "
            f"tcp://HOST:PORT, or --dask {LOCAL}"
        ) from None


def _connect(to: Any) -> Client:
    try:
        from distributed import Client
    except ImportError:
        raise SceneError(_NOT_INSTALLED) from None
    try:
        return Client(to, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as failure:
        raise SceneError(
            f"{to}: no answer from a dask scheduler ({failure}): start one with `dask scheduler`, "
            f"or use --dask {LOCAL}"
        ) from None


def _start_cluster(workers: int, devices: Sequence[str]) -> Any:
    """A scheduler and workers on this machine. If there are devices, each worker has one of its
    own."""
    try:
        from distributed import Nanny, Scheduler, SpecCluster
    except ImportError:
        raise SceneError(_NOT_INSTALLED) from None
    specifications = {}
    for number in range(workers):
        options: dict[str, Any] = {"nthreads": THREADS_OF_A_BAKE, "host": _HERE, "dashboard": False}
        options["silence_logs"] = logging.ERROR
        if devices:
            options["env"] = {CHOICE_VARIABLE: devices[number % len(devices)]}
            options |= {"nthreads": 1, "resources": {RESOURCE: 1}}
        specifications[number] = {"cls": Nanny, "options": options}
    scheduler = {"cls": Scheduler, "options": {"dashboard": False, "host": _HERE, "port": 0}}
    return SpecCluster(workers=specifications, scheduler=scheduler, silence_logs=logging.ERROR)


_POLL = 1.0
_in_use: Counter[str] = Counter()
_lock = threading.Lock()


def bake_on_worker(values: Mapping[str, Any], topic: str, stop_name: str) -> dict[str, Any]:
    """Runs a bake on a worker. Events go to a topic; the future returns the outcome."""
    from distributed import Event, get_client, get_worker

    worker = get_worker()
    task = Task.from_json(values)
    stopped, ended = threading.Event(), threading.Event()
    stop = Event(stop_name, client=get_client())

    def watch() -> None:
        while not ended.wait(_POLL):
            with contextlib.suppress(Exception):
                if stop.is_set():
                    stopped.set()

    def report(event: dict[str, Any]) -> None:
        worker.log_event(topic, {"task": task.name, **event})

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        with _device(task) as placed:
            return bake_in_process(placed, report, stopped).as_json()
    finally:
        ended.set()


@contextlib.contextmanager
def _device(task: Task) -> Iterator[Task]:
    """The task on the least busy GPU of this machine."""
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
