"""A run: what a plan has left to do is baked, and told in a summary and a report."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verdigris.core.baking.state.checkpoint import STATE_SUFFIX, clear_leftovers
from verdigris.core.baking.state.options import make_folder
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.lock import locked
from verdigris.core.base.outputs import redirect_to_null
from verdigris.core.base.termination import handled, termination_signals
from verdigris.core.batch.plan.packs import write_packs
from verdigris.core.batch.plan.plan import (
    Choices,
    Plan,
    State,
    Work,
    bake_name,
    bakes_of,
    bundle_of,
)
from verdigris.core.batch.plan.state_folder import LOGS, state_folder, write_text
from verdigris.core.batch.run.bake_queue import BakeQueue, FailurePolicy, Result, failed
from verdigris.core.batch.run.engine import Engine
from verdigris.core.batch.run.html_report import report_html
from verdigris.core.batch.run.progress_view import GuardedView, LineView
from verdigris.core.batch.run.summary import (
    BAKED,
    CURRENT,
    REPORT_FILE,
    SUMMARY_FILE,
    Summary,
    rows_of,
)
from verdigris.core.batch.scene.rules import quoted

EXIT_DONE, EXIT_SOME_FAILED, EXIT_INTERRUPTED = 0, 3, 130


@dataclass(frozen=True)
class RunOptions:
    """How a run goes about its plan."""

    policy: FailurePolicy
    packs: tuple[str, ...] = ()
    """Scene packs of all materials, beside those of the scene."""


def run_plan(
    plan: Plan,
    choices: Choices,
    options: RunOptions,
    open_engine: Callable[[int], Engine],
    open_view: Callable[[int, str], LineView],
) -> Summary:
    """Bakes what is to be baked. The caller holds the folder's lock."""
    began, clock = time.strftime("%Y-%m-%d %H:%M:%S"), time.monotonic()
    clear_stopped_bakes(bakes_of(plan.of(State.CURRENT)))
    works = list(plan.works)
    if not options.policy.keep_going and plan.of(State.BROKEN):
        works = []
    results: list[Result] = []
    place = "nothing was to do"
    interrupted = False
    if works:
        _make_folders(works)
        engine = open_engine(len(works))
        place = engine.place
        total = sum(len(work.materials) for work in works)
        try:
            with _interruptible() as is_interrupted, open_view(total, place) as opened:
                view = GuardedView(opened)

                def is_over() -> bool:
                    return is_interrupted() or view.is_lost

                drive = BakeQueue(works, engine, view, options.policy, choices)
                results = drive.run(is_over)
                interrupted = is_over()
        finally:
            engine.close()
    seconds = time.monotonic() - clock
    return _summary(plan, results, options.packs, (began, seconds, place), interrupted)


def finish_plan(plan: Plan, results: list[Result]) -> Summary:
    """What came of bakes that others did: packs are written, nothing is baked."""
    began = time.strftime("%Y-%m-%d %H:%M:%S")
    # those of a group have been baked together
    bakes = {bake_name(each.material): each.outcome.seconds for each in results}
    seconds = sum(bakes.values())
    return _summary(plan, results, (), (began, seconds, "a farm"), False)


def _summary(
    plan: Plan,
    results: list[Result],
    more_packs: tuple[str, ...],
    circumstances: tuple[str, float, str],
    interrupted: bool,
) -> Summary:
    began, seconds, place = circumstances
    rows = tuple(rows_of(plan, results))
    names = tuple(quoted(each.entry.name) for each in plan.materials)
    packs = dict(plan.scene.packs) | dict.fromkeys(more_packs, names)
    told: list[dict[str, Any]] = []
    if packs and not interrupted:
        out = plan.scene.out
        others = {entry.name: bundle_of(entry, out) for entry in plan.scene.all_entries}
        meant = {each.entry.name: each.bundle for each in plan.materials}
        make_folder(state_folder(out))
        told = write_packs(packs, meant, out, state_folder(out), others)
    is_done = all(row.status in (BAKED, CURRENT) for row in rows)
    is_done = is_done and not failed(results) and not any("error" in pack for pack in told)
    code = EXIT_DONE if is_done else EXIT_SOME_FAILED
    code = EXIT_INTERRUPTED if interrupted else code
    source, out = str(plan.scene.source), plan.scene.out
    return Summary(source, out, began, seconds, place, code, rows, tuple(told))


def write_summary(summary: Summary) -> tuple[Path, Path]:
    """The summary for programs, and the report for people."""
    files = summary.out / SUMMARY_FILE, summary.out / REPORT_FILE
    write_text(files[0], summary.text())
    write_text(files[1], report_html(summary))
    return files


def log_folder(out: Path) -> Path:
    return state_folder(out) / LOGS


def _make_folders(works: list[Work]) -> None:
    for folder in {work.task.folder for work in works}:
        make_folder(folder)


@contextlib.contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C, or a request to end, lets bakes keep their checkpoints; the second ends
    the program at once."""
    asked = False
    # one that is closed is none any more
    terminals = [each for each in (1, 2) if os.isatty(each)]

    def handle(number: int, _frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        if signal.Signals(number).name == "SIGHUP":
            redirect_to_null(terminals)
        with contextlib.suppress(OSError):
            print("verdigris: ends the running bakes; their checkpoints stay", file=sys.stderr)

    with handled(termination_signals(), handle):
        yield lambda: asked


def clear_stopped_bakes(bakes: Iterable[tuple[Path, str]]) -> None:
    """Clears checkpoints and locks of bakes, by folder and name, whose bundles are whole; unless
    one of them runs."""
    for folder, name in set(bakes):
        _sweep_one(folder, name)


def _sweep_one(folder: Path, name: str) -> None:
    checkpoint = folder / f"{name}{STATE_SUFFIX}"
    if not (checkpoint.exists() or (folder / f".{name}.lock").exists()):
        return
    with contextlib.suppress(SettingsError, OSError), locked(folder, name):
        checkpoint.unlink(missing_ok=True)
        clear_leftovers(folder, name)
