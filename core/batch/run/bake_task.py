"""python -m verdigris.core.batch.run.bake_task: does one bake of a scene, in a process of its own.

The task comes as one line of JSON on standard input; events go to standard output, one a line. The
end of the input ends the process, as signals do: whoever asked for the bake is gone, and its
checkpoint stays.
"""

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
# A bake whose parent was killed holds its lock until its compiler gives it time to notice.
LOCK_SECONDS = 120.0
_LOCK_POLL = 0.2


def main() -> None:
    """Bakes, and says how it goes."""
    incoming, outgoing = take_standard_streams()
    reader = os.fdopen(os.dup(incoming.fileno()), "rb")
    line = reader.readline()
    ending = Termination(EXIT_FAILED)

    def post(event: dict[str, Any]) -> None:
        outgoing.write(encode(event))

    code, task = EXIT_FAILED, None
    try:
        # from here on the thread has the reader: closing it would wait for the thread
        threading.Thread(target=_end_when_closed, args=(reader, ending), daemon=True).start()
        task = Task.from_json(json.loads(line))
        code = _run_task(task, post)
    except Terminated:
        # the checkpoint stays
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
    """A failure as events tell it. What is wrong with a document stays wrong: only devices and
    disks may do better another time."""
    from verdigris.core.base.errors import BundleError
    from verdigris.core.base.lock import HeldError

    can_retry = isinstance(failure, DeviceError | BundleError | HeldError)
    return {"kind": type(failure).__name__, "text": str(failure), "can_retry": can_retry}


def run(task: Task, post: Any) -> int:
    """Does the bake. Materials that cannot be compiled are told, each with its reason."""
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
        names=tuple(member.name for member in task.members),
        provenance=tuple(member.asked for member in task.members),
    )
    # what is told may find nobody: the bake has to let go of its lock even then
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
    """The events of a bake: from its checkpoint, or afresh if that is of something else. None where
    another process is at the same bake: once that has ended, it may have done all of it."""
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
            post({"event": "warning", "text": f"starts afresh: {failure}"})
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
