"""Runs the bakes of a plan on an engine: retries, groups that lose a member, and results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from verdigris.core.batch.plan.inputs import with_group
from verdigris.core.batch.plan.plan import Choices, Planned, Work, check_bundle, make_work
from verdigris.core.batch.run.bake_process import FAILED, Outcome
from verdigris.core.batch.run.engine import Engine, Message

NOT_REACHED, UP_TO_DATE = "not reached", "up to date"
_POLL = 0.25


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
    """Number of times that its bake was started."""
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
        self._engine, self._view, self._manner, self._choices = engine, view, policy, choices
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
            self._part(work, outcome)
        elif outcome.status == FAILED and outcome.can_retry and self._may_retry(work):
            self._view.retried(work, outcome)
            self._waiting.append(work)
        else:
            self._end(work, outcome)

    def _check_again(self, work: Work) -> None:
        """Another process had this bake: bakes what it left."""
        materials = tuple(check_bundle(each, self._choices) for each in work.materials)
        work = replace(work, materials=materials)
        if any(each.is_to_do for each in materials):
            self._attempts[work.task.name] -= 1
            self._waiting.appendleft(work)
        else:
            self._end(work, Outcome(UP_TO_DATE))

    def _may_retry(self, work: Work) -> bool:
        return not self.is_stopping and self._attempts[work.task.name] <= self._manner.retry

    def _part(self, work: Work, outcome: Outcome) -> None:
        """Removes members that cannot be baked from a group. The rest is baked if it is out of
        date."""
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
        if outcome.status == FAILED and not self._manner.keep_going:
            self._stop()


def failed(results: Sequence[Result]) -> list[Result]:
    return [each for each in results if each.status == FAILED]
