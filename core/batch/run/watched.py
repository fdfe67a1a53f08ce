"""A view of a run that somebody may stop watching, such as `head` at the other end of a pipe."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from verdigris.core.base.errors import reason
from verdigris.core.base.outputs import let_go_of
from verdigris.core.batch.plan.plan import Work
from verdigris.core.batch.run.child import Outcome
from verdigris.core.batch.run.drive import Result, View


class Watched:
    """Shows a run for as long as its output is taken; from then on nothing is told."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.is_lost = False

    def started(self, work: Work, attempt: int) -> None:
        with self._while_taken():
            self._view.started(work, attempt)

    def happened(self, task: str, event: dict[str, Any]) -> None:
        with self._while_taken():
            self._view.happened(task, event)

    def ended(self, work: Work, results: Sequence[Result]) -> None:
        with self._while_taken():
            self._view.ended(work, results)

    def retried(self, work: Work, outcome: Outcome) -> None:
        with self._while_taken():
            self._view.retried(work, outcome)

    @contextlib.contextmanager
    def _while_taken(self) -> Iterator[None]:
        try:
            yield
        except OSError as failure:
            if not self.is_lost:
                self.is_lost = True
                # an output that is no file, as of tests, has no number
                with contextlib.suppress(OSError, ValueError):
                    let_go_of([sys.stdout.fileno()])
                why = reason(failure)
                with contextlib.suppress(OSError):
                    print(
                        f"verdigris: nobody takes the output ({why}): ends the running bakes; "
                        "their checkpoints stay",
                        file=sys.stderr,
                    )
