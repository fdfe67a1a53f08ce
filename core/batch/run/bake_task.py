"""python -m verdigris.core.batch.run.bake_task: runs bakes of a scene in a process of their own.

A task is a line of JSON on the standard input. Events go to the standard output, one on a line.
After a bake the process asks for another. The end of the input, or a signal, ends the process; the
checkpoint remains.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.adapters import begin_driver
from verdigris.core.base.device import close_device
from verdigris.core.base.errors import BundleError, DeviceError, VerdigrisError
from verdigris.core.base.files import Folder
from verdigris.core.base.lock import HeldError, clear_locks
from verdigris.core.base.process.processor import resident_bytes
from verdigris.core.base.process.termination import Terminated, Termination
from verdigris.core.batch.plan.task import Task
from verdigris.core.batch.run.bake_process import READY
from verdigris.core.worker.protocol.messages import encode
from verdigris.core.worker.protocol.streams import take_standard_streams

if TYPE_CHECKING:
    from typing import BinaryIO

    from verdigris.core.baking.prepare import Prepared
    from verdigris.core.base.device import Device
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.progress import Event

EXIT_DONE, EXIT_FAILED = 0, 1
# The most bakes of a process, and the most bytes by which it may grow after the first one.
_MOST_BAKES, _MOST_GROWTH = 200, 1 << 30
# If its parent is killed, a bake keeps its lock until its compiler has ended.
LOCK_SECONDS = 120.0
_LOCK_POLL = 0.2


class _Tasks:
    """The lines of the input."""

    def __init__(self, reader: BinaryIO, ending: Termination) -> None:
        self._reader, self._ending = reader, ending
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._wanted = 1
        """Requested tasks."""
        self._received = 0

    def read(self) -> None:
        """Reads until the end of the input, which ends the running bake."""
        for line in self._reader:
            self._received += 1
            self._lines.put(line)
        is_busy = self._received == self._wanted
        self._lines.put(b"")
        if is_busy:
            self._ending.request_end()

    def next(self) -> Task | None:
        """The next task, whose log is written from now on; None at the end."""
        line = self._lines.get()
        if not line.strip():
            return None
        values = json.loads(line)
        if self._wanted > 1:
            _write_log(values.get("log") or os.devnull)
        return Task.from_json(values)

    def ask(self, post: Any) -> None:
        self._wanted += 1
        post({"event": READY})


def main() -> None:
    """Runs tasks until there are no more."""
    incoming, outgoing = take_standard_streams()
    reader = os.fdopen(os.dup(incoming.fileno()), "rb")
    ending = Termination(EXIT_FAILED)
    tasks = _Tasks(reader, ending)

    def post(event: dict[str, Any]) -> None:
        outgoing.write(encode(event))

    code, task, memory = EXIT_FAILED, None, _Memory()
    try:
        # the thread owns the reader: closing it would wait for the thread
        threading.Thread(target=tasks.read, daemon=True).start()
        while (task := tasks.next()) is not None:
            code, device = EXIT_FAILED, task.device
            if memory.is_first:
                begin_driver(device or None)
            code = _run_task(task, post)
            if code != EXIT_DONE or memory.has_grown():
                break
            task = None
            tasks.ask(post)
        if code == EXIT_DONE:
            close_device(device or None)
    except Terminated:
        # the checkpoint remains
        pass
    except BaseException:  # noqa: BLE001  whatever it is, the process must end
        traceback.print_exc()
    ending.settle()
    if task is not None:
        clear_locks(task.folder, task.lock_names)
    sys.stderr.flush()
    ending.leave(code)


def _write_log(path: str) -> None:
    """Sends the standard error, and what libraries print, to this file from now on."""
    sys.stderr.flush()
    with contextlib.suppress(OSError):
        with Folder.at(Path(path).parent) as folder:
            log = folder.open(Path(path).name, os.O_WRONLY | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(log, stream)
        os.close(log)


class _Memory:
    """Whether bakes leave memory behind. A process that has grown a lot ends, and another one
    continues."""

    def __init__(self) -> None:
        self._first: int | None = None
        self._bakes = 0

    @property
    def is_first(self) -> bool:
        return not self._bakes

    def has_grown(self) -> bool:
        # what a bake held on the device is released with it
        gc.collect()
        self._bakes += 1
        used = resident_bytes()
        self._first = self._first or used
        if used is not None and self._first is not None and used > self._first + _MOST_GROWTH:
            return True
        return self._bakes >= _MOST_BAKES


def _run_task(task: Task, post: Any) -> int:
    try:
        return run(task, post)
    except VerdigrisError as failure:
        post({"event": "error", **describe(failure)})
        # a device that has failed may not recover in this process
        return EXIT_FAILED if isinstance(failure, DeviceError) else EXIT_DONE


def describe(failure: VerdigrisError) -> dict[str, Any]:
    """A failure as an event. The error of a document is permanent; a device or a disk may
    recover."""
    can_retry = isinstance(failure, DeviceError | BundleError | HeldError)
    return {"kind": type(failure).__name__, "text": str(failure), "can_retry": can_retry}


def run(task: Task, post: Any) -> int:
    """Runs the bake. Materials that cannot be compiled are reported with the reasons."""
    from verdigris.core.baking.prepare import open_to_bake, prepare_compiled

    device = open_to_bake(task.device or None)
    teachers = _compile(task, device, post)
    if len(teachers) < len(task.members):
        return EXIT_DONE
    prepared = prepare_compiled(task.request, teachers, task.folder, task.name).with_options(
        # with hundreds of materials, versions would fill the disk
        keeps_versions=False,
        names=tuple(member.name for member in task.members),
        provenance=tuple(member.asked for member in task.members),
    )
    # the output can be closed: the bake must release its lock even then
    with contextlib.closing(bake_or_wait(prepared, post)) as events:
        for event in events:
            post(event.as_json())
    return EXIT_DONE


def _compile(task: Task, device: Device, post: Any) -> list[Teacher]:
    from verdigris.core.batch.scene.entry import DocumentCache
    from verdigris.core.material.teacher.teacher import Teacher

    documents, teachers = DocumentCache(), []
    for member in task.members:
        try:
            document = documents.load(member.source)
            material = document.require_material(member.material)
            teachers.append(Teacher(document, material, device, live=member.live))
        except DeviceError:
            raise
        except VerdigrisError as failure:
            post({"event": "refused", "member": member.name, **describe(failure)})
    return teachers


def bake_or_wait(prepared: Prepared, post: Any) -> Generator[Event, None, None]:
    """The events of a bake, which continues from its checkpoint. If another process has the bake,
    waits for its end and yields nothing."""
    deadline, has_waited = time.monotonic() + LOCK_SECONDS, False
    while True:
        events = prepared.continued()
        try:
            first = next(events)
        except HeldError:
            if time.monotonic() > deadline:
                raise
            has_waited = True
            time.sleep(_LOCK_POLL)
        else:
            if has_waited:
                events.close()
                post({"event": "waited"})
                return
            yield first
            yield from events
            return


if __name__ == "__main__":
    main()
