"""Shows a run: bars on terminals, lines elsewhere, or events as JSON."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

from verdigris.core.base.errors import reason
from verdigris.core.base.outputs import redirect_to_null
from verdigris.core.base.text import counted, format_seconds
from verdigris.core.batch.plan.plan import Planned, Work
from verdigris.core.batch.run.bake_process import BAKED, FAILED, Outcome
from verdigris.core.batch.run.bake_queue import Result, View

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# measuring and writing come after the last step
_TRAINING_SHARE = 0.9


class LineView:
    """Prints a line at the start and end of each bake."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Does nothing: there are no resources to release."""

    def started(self, work: Work, attempt: int) -> None:
        how = f", attempt {attempt}" if attempt > 1 else ""
        self.show_line(f"{_named(work)}: started{how}")

    def happened(self, task: str, event: dict[str, Any]) -> None:
        if event.get("event") == "started" and event.get("step"):
            self.show_line(f"{task}: continues from step {event['step']}")

    def ended(self, work: Work, results: Sequence[Result]) -> None:
        for result in results:
            self._done += 1
            self.show_line(f"[{self._done}/{self._total}] {describe_result(result)}")

    def retried(self, work: Work, outcome: Outcome) -> None:
        self.show_line(f"{_named(work)}: retried: {outcome.text}")

    def show_line(self, text: str) -> None:
        print(text, flush=True)


class TableView(LineView):
    """Shows a bar for each running bake, and one for all."""

    def __init__(self, total: int, place: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        super().__init__(total)
        self._console = Console(highlight=False)
        self._progress: Progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:3.0f}%"),
            TextColumn("{task.fields[detail]}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._overall = self._progress.add_task(f"all, {place}", total=total, detail="")
        self._bars: dict[str, TaskID] = {}
        self._shares: dict[str, tuple[float, int]] = {}
        self._finished = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def started(self, work: Work, attempt: int) -> None:
        detail = "preparing" if attempt == 1 else f"attempt {attempt}"
        name = work.task.name
        self._bars[name] = self._progress.add_task(_named(work), total=1.0, detail=detail)
        self._shares[name] = 0.0, len(work.materials)

    def happened(self, task: str, event: dict[str, Any]) -> None:
        bar, kind = self._bars[task], event.get("event")
        if kind == "phase":
            self._progress.update(bar, detail=str(event.get("name")))
        elif kind == "step":
            share = _TRAINING_SHARE * event["step"] / max(event["steps"], 1)
            loss, left = event.get("loss"), event.get("seconds_left") or 0.0
            shown = f"loss {loss:.4f}  " if isinstance(loss, float) else ""
            self._progress.update(
                bar, completed=share, detail=f"{shown}{format_seconds(left)} left"
            )
            self._shares[task] = share, self._shares[task][1]
            self._show_all()

    def ended(self, work: Work, results: Sequence[Result]) -> None:
        self._finished += len(results)
        self._remove(work.task.name)
        super().ended(work, results)

    def retried(self, work: Work, outcome: Outcome) -> None:
        self._remove(work.task.name)
        super().retried(work, outcome)

    def show_line(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)

    def _remove(self, name: str) -> None:
        bar = self._bars.pop(name, None)
        if bar is not None:
            self._progress.remove_task(bar)
        self._shares.pop(name, None)
        self._show_all()

    def _show_all(self) -> None:
        running = sum(share * size for share, size in self._shares.values())
        detail = f"{self._finished} of {self._total}"
        self._progress.update(self._overall, completed=self._finished + running, detail=detail)


class JsonView(LineView):
    """Prints every event as a line of JSON."""

    def started(self, work: Work, attempt: int) -> None:
        names = [each.entry.name for each in work.materials]
        self._print({"event": "begins", "task": work.task.name, "materials": names})

    def happened(self, task: str, event: dict[str, Any]) -> None:
        self._print({**event, "task": task})

    def ended(self, work: Work, results: Sequence[Result]) -> None:
        for each in results:
            self._print_end(each.material, each.status, each.text)

    def refused(self, materials: Sequence[Planned]) -> None:
        """Reports materials that cannot be baked, and so have no bake."""
        for each in materials:
            self._print_end(each, FAILED, "; ".join(each.reasons))

    def _print_end(self, material: Planned, status: str, text: str) -> None:
        name = material.entry.name
        self._print({"event": "ended", "material": name, "status": status, "text": text})

    def retried(self, work: Work, outcome: Outcome) -> None:
        self._print({"event": "retried", "task": work.task.name, "text": outcome.text})

    def _print(self, event: dict[str, Any]) -> None:
        from verdigris.core.worker.protocol.messages import encode

        print(encode(event).decode(), end="", flush=True)


def open_view(total: int, place: str, as_json: bool = False) -> LineView:
    """The view for the standard output."""
    if as_json:
        return JsonView(total)
    # a service has no standard output
    is_watched = sys.stdout is not None and sys.stdout.isatty()
    return TableView(total, place) if is_watched else LineView(total)


def describe_result(result: Result) -> str:
    """The result of a material on one line."""
    name, outcome = result.material.entry.name, result.outcome
    if result.status == BAKED:
        again = f", attempt {result.attempts}" if result.attempts > 1 else ""
        went_on = f", from step {outcome.from_step}" if outcome.from_step else ""
        notes = f", {counted(len(outcome.warnings), 'note')}" if outcome.warnings else ""
        return f"{name}: baked in {format_seconds(outcome.seconds)}{again}{went_on}{notes}"
    if result.status == FAILED:
        return f"{name}: FAILED: {result.text}"
    return f"{name}: {result.status}"


def _named(work: Work) -> str:
    names = [each.entry.name for each in work.materials]
    shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return f"{work.task.name} ({shown})" if len(names) > 1 else shown


class GuardedView:
    """Forwards to a view until its output is closed, and reports nothing afterwards."""

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
                # the outputs in tests have no descriptor
                with contextlib.suppress(OSError, ValueError):
                    redirect_to_null([sys.stdout.fileno()])
                why = reason(failure)
                with contextlib.suppress(OSError):
                    print(
                        f"verdigris: the output was closed ({why}): ending the running bakes; "
                        "their checkpoints remain",
                        file=sys.stderr,
                    )
