"""python -m verdigris.core.batch.run.bake_task: runs one bake of a scene in its own process. The
task is one line of JSON on standard input; events go to standard output, one a line. The end of the
input or a signal ends the process, and the checkpoint remains."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from verdigris.core.base.device import close_device
from verdigris.core.base.errors import DeviceError, VerdigrisError
from verdigris.core.base.lock import clear_locks
from verdigris.core.base.termination import Terminated, Termination
from verdigris.core.batch.plan.task import Task
from verdigris.core.worker.protocol.messages import encode
from verdigris.core.worker.protocol.streams import take_standard_streams

if TYPE_CHECKING:
    from typing import BinaryIO

    from verdigris.core.baking.state.options import BakeOptions
    from verdigris.core.base.device import Device
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.progress.events import Event
    from verdigris.core.settings.recipe import Recipe

EXIT_FAILED = 1
# A bake whose parent was killed keeps its lock while its compiler runs.
LOCK_SECONDS = 120.0
_LOCK_POLL = 0.2


def main() -> None:
    """Reads the task and runs it."""
    incoming, outgoing = take_standard_streams()
    reader = os.fdopen(os.dup(incoming.fileno()), "rb")
    line = reader.readline()
    ending = Termination(EXIT_FAILED)

    def post(event: dict[str, Any]) -> None:
        outgoing.write(encode(event))

    code, task = EXIT_FAILED, None
    try:
        # the thread owns the reader: closing it would wait for the thread
        threading.Thread(target=_end_when_closed, args=(reader, ending), daemon=True).start()
        task = Task.from_json(json.loads(line))
        code = _run_task(task, post)
    except Terminated:
        # the checkpoint remains
        pass
    except BaseException:  # noqa: BLE001  whatever it is, the process has to end
        traceback.print_exc()
    ending.settle()
    if task is not None:
        clear_locks(task.folder, task.lock_names)
    sys.stderr.flush()
    ending.leave(code)


def _run_task(task: Task, post: Any) -> int:
    try:
        code = run(task, post)
        close_device(task.device or None)
    except VerdigrisError as failure:
        post({"event": "error", **describe(failure)})
        return EXIT_FAILED
    return code


def _end_when_closed(stream: BinaryIO, ending: Termination) -> None:
    while stream.read(1):
        pass
    ending.request_end()


def describe(failure: VerdigrisError) -> dict[str, Any]:
    """A failure as an event. Errors of a document are permanent; devices and disks may recover."""
    from verdigris.core.base.errors import BundleError
    from verdigris.core.base.lock import HeldError

    can_retry = isinstance(failure, DeviceError | BundleError | HeldError)
    return {"kind": type(failure).__name__, "text": str(failure), "can_retry": can_retry}


def run(task: Task, post: Any) -> int:
    """Runs the bake. Materials that cannot be compiled are reported with the reasons."""
    from verdigris.core.baking.measure.memory import check_limits
    from verdigris.core.baking.state.options import BakeOptions
    from verdigris.core.baking.state.trainers import choose_trainer
    from verdigris.core.base.device import open_device
    from verdigris.core.importance.maps import read_importance
    from verdigris.core.settings.recipe import Recipe

    check_limits(task.device or None)
    device = open_device(task.device or None)
    teachers = _compile(task, device, post)
    if len(teachers) < len(task.members):
        return EXIT_FAILED
    kind = choose_trainer(device)
    recipe = Recipe.from_json(task.settings[kind])
    options = BakeOptions(
        name=task.name,
        folder=task.folder,
        trainer=kind,
        resume=task.checkpoint.is_file(),
        importance=read_importance(task.importance) if task.importance else None,
        time_limit=task.time_limit,
        target_error=task.target_error,
        checkpoint_seconds=task.checkpoint_seconds,
        # hundreds of materials, and a plan of each run: versions would fill the disk
        keeps_versions=False,
        names=tuple(member.name for member in task.members),
        provenance=tuple(member.asked for member in task.members),
    )
    # the output can be closed: the bake must release its lock even then
    with contextlib.closing(bake_or_wait(teachers, recipe, options, post)) as events:
        for event in events:
            post(event.as_json())
    return 0


def _compile(task: Task, device: Device, post: Any) -> list[Teacher]:
    from verdigris.core.batch.scene.entry import DocumentCache
    from verdigris.core.material.teacher.teacher import Teacher

    documents, teachers = DocumentCache(), []
    for member in task.members:
        try:
            document = documents.load(member.source)
            teachers.append(Teacher(document, document.require_material(member.material), device))
        except DeviceError:
            raise
        except VerdigrisError as failure:
            post({"event": "refused", "member": member.name, **describe(failure)})
    return teachers


def bake_or_wait(
    teachers: list[Teacher], recipe: Recipe, options: BakeOptions, post: Any
) -> Generator[Event, None, None]:
    """The events of a bake that continues from its checkpoint, or starts again if the checkpoint is
    not valid. If another process has the bake, it waits for its end and yields nothing."""
    from verdigris.core.baking.bake import bake
    from verdigris.core.base.lock import HeldError
    from verdigris.core.network.parameters import CheckpointError

    deadline, has_waited = time.monotonic() + LOCK_SECONDS, False
    while True:
        events = bake(teachers, recipe, options)
        try:
            first = next(events)
        except CheckpointError as failure:
            if not options.resume:
                raise
            post({"event": "warning", "text": f"starts again: {failure}"})
            options = replace(options, resume=False)
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
