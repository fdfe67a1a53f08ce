"""Runs a plan: its bakes, packs, summary and report."""

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
from verdigris.core.baking.state.outputs import make_folder
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.files import remove_file
from verdigris.core.base.lock import locked
from verdigris.core.base.outputs import redirect_to_null
from verdigris.core.base.process.termination import handled, termination_signals
from verdigris.core.batch.plan.packs import write_packs
from verdigris.core.batch.plan.plan import (
    Choices,
    Plan,
    State,
    Work,
    bake_name,
    bakes_of,
    bundle_of,
    longest_first,
)
from verdigris.core.batch.plan.state_folder import LOGS, state_folder, write_own_text
from verdigris.core.batch.run.bake_queue import BakeQueue, Engine, FailurePolicy, Result, failed
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
from verdigris.core.batch.scene.entry import quoted

EXIT_DONE, EXIT_SOME_FAILED, EXIT_INTERRUPTED = 0, 3, 130


@dataclass(frozen=True)
class RunOptions:
    """Options of a run."""

    policy: FailurePolicy
    packs: tuple[str, ...] = ()
    """Further scene packs, with all selected materials."""


def run_plan(
    plan: Plan,
    choices: Choices,
    options: RunOptions,
    open_engine: Callable[[int], Engine],
    open_view: Callable[[int, str], LineView],
) -> Summary:
    """Runs the bakes of a plan. The caller holds the folder's lock."""
    began, clock = time.strftime("%Y-%m-%d %H:%M:%S"), time.monotonic()
    clear_stopped_bakes(bakes_of(plan.of(State.CURRENT)))
    works = longest_first(plan.works)
    if not options.policy.keep_going and plan.of(State.BROKEN):
        works = []
    results: list[Result] = []
    place = "nothing to do"
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
    """Summarises bakes that ran elsewhere, and writes packs."""
    began = time.strftime("%Y-%m-%d %H:%M:%S")
    # members of a group share a bake
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
    pack_reports: list[dict[str, Any]] = []
    if packs and not interrupted:
        out = plan.scene.out
        others = {entry.name: bundle_of(entry, out) for entry in plan.scene.all_entries}
        selected = {each.entry.name: each.bundle for each in plan.materials}
        make_folder(state_folder(out))
        pack_reports = write_packs(packs, selected, out, state_folder(out), others)
    is_done = all(row.status in (BAKED, CURRENT) for row in rows)
    is_done = is_done and not failed(results) and not any("error" in pack for pack in pack_reports)
    code = EXIT_DONE if is_done else EXIT_SOME_FAILED
    code = EXIT_INTERRUPTED if interrupted else code
    source, out = str(plan.scene.source), plan.scene.out
    return Summary(source, out, began, seconds, place, code, rows, tuple(pack_reports))


def write_summary(summary: Summary) -> tuple[Path, Path]:
    """Writes the summary for programs and the report for people."""
    files = summary.out / SUMMARY_FILE, summary.out / REPORT_FILE
    write_own_text(files[0], summary.text())
    write_own_text(files[1], report_html(summary))
    return files


def log_folder(out: Path) -> Path:
    return state_folder(out) / LOGS


def _make_folders(works: list[Work]) -> None:
    for folder in {work.task.folder for work in works}:
        make_folder(folder)


@contextlib.contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """The first signal ends the bakes, which keep their checkpoints; the second ends the program at
    once."""
    is_requested = False
    # descriptors of terminals, asked now: a closed one is not a terminal any more
    terminals = [each for each in (1, 2) if os.isatty(each)]

    def handle(number: int, _frame: object) -> None:
        nonlocal is_requested
        if is_requested:
            raise KeyboardInterrupt
        is_requested = True
        if signal.Signals(number).name == "SIGHUP":
            redirect_to_null(terminals)
        with contextlib.suppress(OSError):
            print("verdigris: ending the running bakes; their checkpoints remain", file=sys.stderr)

    with handled(termination_signals(), handle):
        yield lambda: is_requested


def clear_stopped_bakes(bakes: Iterable[tuple[Path, str]]) -> None:
    """Removes checkpoints and locks of bakes, by folder and name, whose bundles are complete,
    unless one of them runs."""
    for folder, name in set(bakes):
        _sweep_one(folder, name)


def _sweep_one(folder: Path, name: str) -> None:
    checkpoint = folder / f"{name}{STATE_SUFFIX}"
    if not (checkpoint.exists() or (folder / f".{name}.lock").exists()):
        return
    with contextlib.suppress(SettingsError, OSError), locked(folder, name):
        remove_file(checkpoint)
        clear_leftovers(folder, name)
