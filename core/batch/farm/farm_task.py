"""Runs one task of a farm's job, and reads the outcomes of all tasks."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from verdigris.core.baking.state.outputs import make_folder
from verdigris.core.base.errors import SceneError
from verdigris.core.base.json_fields import find_json_file
from verdigris.core.base.process.termination import handled, termination_signals
from verdigris.core.batch.farm import openjd
from verdigris.core.batch.plan.plan import Choices, Plan, Planned, State, Work, bake_name
from verdigris.core.batch.plan.state_folder import LOGS, make_state_folder, state_folder, write_json
from verdigris.core.batch.run.bake_process import BAKED, FAILED, STOPPED, Outcome
from verdigris.core.batch.run.bake_queue import (
    UP_TO_DATE,
    BakeQueue,
    FailurePolicy,
    LocalEngine,
    Result,
)

OUTCOMES = "outcomes"
Report = Callable[[str], None]


def tasks_of(plan: Plan) -> list[str]:
    """The names of all bakes. The plan must be made with `force`."""
    return [work.task.name for work in plan.works]


def find_work(plan: Plan, name: str) -> Work | None:
    """The bake of this name in a plan; None if it is up to date."""
    return next((work for work in plan.works if work.task.name == name), None)


class FarmView:
    """Prints the progress of a bake in the format of farms."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def started(self, work: Work, attempt: int) -> None:
        again = f", attempt {attempt}" if attempt > 1 else ""
        self._report(openjd.status(f"{work.task.name}: started{again}"))

    def happened(self, task: str, event: dict[str, Any]) -> None:
        kind = event.get("event")
        if kind == "started" and event.get("step"):
            self._report(openjd.status(f"{task}: continues from step {event['step']}"))
        elif kind == "phase":
            self._report(openjd.status(f"{task}: {event.get('name')}"))
        elif kind == "step":
            self._report(openjd.progress(99 * event["step"] / max(event["steps"], 1)))
        elif kind == "warning":
            self._report(f"warning: {event.get('text')}")

    def ended(self, work: Work, results: Sequence[Result]) -> None:
        for each in results:
            name = each.material.entry.name
            if each.status == FAILED:
                self._report(openjd.failure(f"{name}: {each.text}"))
            else:
                self._report(openjd.status(f"{name}: {each.status}"))

    def retried(self, work: Work, outcome: Outcome) -> None:
        self._report(openjd.status(f"{work.task.name}: retried: {outcome.text}"))


def run_task(plan: Plan, name: str, choices: Choices, retry: int, report: Report) -> bool:
    """Runs the bake of this name, from its checkpoint if there is one. Returns whether it
    succeeded."""
    out = plan.scene.out
    work = find_work(plan, name)
    if work is None:
        return _is_done(plan, name, report)
    make_folder(work.task.folder)
    make_state_folder(out, OUTCOMES)
    engine = LocalEngine((choices.device,), 1, (state_folder(out) / LOGS).absolute())
    drive = BakeQueue([work], engine, FarmView(report), FailurePolicy(retry), choices)
    try:
        with _ended_by_signals() as is_ended:
            results = drive.run(is_ended)
    finally:
        engine.close()
    for each in results:
        if each.status == UP_TO_DATE:
            # the process that baked it has recorded more about it
            continue
        write_json(_outcome_file(out, each.material.entry.name), _as_json(each))
    done = all(each.status not in (FAILED, STOPPED) for each in results)
    if done:
        report(openjd.progress(100))
    return done


def _is_done(plan: Plan, name: str, report: Report) -> bool:
    mine = [each for each in plan.materials if bake_name(each) == name]
    if not mine:
        there = ", ".join(dict.fromkeys(map(bake_name, plan.materials)))
        raise SceneError(f"{plan.scene.source}: has no bake {name!r}: use one of {there}")
    broken = [each for each in mine if each.state == State.BROKEN]
    for each in broken:
        report(openjd.failure(f"{each.entry.name}: {'; '.join(each.reasons)}"))
    if not broken:
        report(openjd.status(f"{name}: up to date"))
        report(openjd.progress(100))
    return not broken


def read_outcomes(plan: Plan) -> list[Result]:
    """The recorded outcomes of the materials of a plan, from all machines."""
    return [each for each in (_known(m, plan.scene.out) for m in plan.materials) if each]


def _known(planned: Planned, out: Path) -> Result | None:
    found = find_json_file(_outcome_file(out, planned.entry.name))
    with contextlib.suppress(ValueError, KeyError, TypeError):
        outcome = Outcome(**found["outcome"])
        if planned.is_to_do and found["status"] == BAKED:
            # the bundle is out of date now
            return None
        if planned.state == State.CURRENT and found["status"] != BAKED:
            return None
        return Result(planned, found["status"], found["text"], found["attempts"], outcome)
    return None


def _as_json(result: Result) -> dict[str, Any]:
    return {
        "status": result.status,
        "text": result.text,
        "attempts": result.attempts,
        "outcome": result.outcome.as_json(),
    }


def _outcome_file(out: Path, name: str) -> Path:
    return state_folder(out) / OUTCOMES / f"{name}.json"


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[Callable[[], bool]]:
    ended = threading.Event()
    # Ctrl-C comes from people, and a second one must end the program
    signals = [each for each in termination_signals() if each != signal.SIGINT]
    with handled(signals, lambda *_: ended.set()):
        yield ended.is_set
