"""Bakes the materials of a scene without a window, each in a process of the worker's Python."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence

from verdigris.core.base.errors import BROKEN_PIPE, VerdigrisError, reason
from verdigris.core.base.outputs import redirect_to_null
from verdigris.core.base.text import counted, format_seconds
from verdigris.core.hosts.host import Host
from verdigris.plugins.common.batch.arguments import BatchOptions, read_arguments
from verdigris.plugins.common.batch.bake_process import Interruption
from verdigris.plugins.common.batch.materials import bake_scene
from verdigris.plugins.common.batch.progress import Progress, open_progress
from verdigris.plugins.common.batch.summary import (
    BAKED,
    FAILED,
    STATUSES,
    UP_TO_DATE,
    Outcome,
    Summary,
    describe_unexpected,
)

EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED = 0, 1, 130


def main(program: str, start: Callable[[], Host], arguments: Sequence[str]) -> int:
    """Opens a scene and bakes it. Returns 0 if all materials are baked or up to date, 1 after a
    failure, and 128 and the number of the signal that ended it."""
    scene, summary_file, options = read_arguments(program, arguments)
    summary, progress = Summary(scene, summary_file), open_progress(options.quiet, options.farm)
    with _apart_from_the_host():
        code = _run(program, start, summary, options, progress)
    try:
        summary.save()
    except VerdigrisError as failure:
        print(f"{program}: {failure}", file=sys.stderr)
        code = code or EXIT_FAILED
    if summary_file is None:
        code = _print(program, summary) or code
    return code


def _print(program: str, summary: Summary) -> int:
    """Prints the summary. Returns 0, or an exit code if that fails."""
    try:
        print(summary.text, flush=True)
    except OSError as failure:
        # Python would write its buffer again at exit, and fail again
        redirect_to_null([sys.stdout.fileno()])
        print(f"{program}: the summary cannot be printed: {reason(failure)}", file=sys.stderr)
        return 128 + BROKEN_PIPE if isinstance(failure, BrokenPipeError) else EXIT_FAILED
    return 0


def _run(
    program: str,
    start: Callable[[], Host],
    summary: Summary,
    options: BatchOptions,
    progress: Progress,
) -> int:
    interruption = Interruption()

    def save(outcomes: Sequence[Outcome]) -> None:
        is_first = not summary.outcomes
        summary.outcomes = outcomes
        try:
            summary.save()
        except VerdigrisError as failure:
            if is_first:
                raise
            # the bakes go on, and the summary is written once more at the end
            progress.note(f"{program}: warning: {failure}")

    try:
        progress.note(f"{program}: opens {summary.scene}")
        host = start()
        summary.host = host.name
        with interruption.listening():
            host.open_scene(summary.scene)
            summary.warnings = tuple(host.scene_warnings())
            for warning in summary.warnings:
                progress.note(f"{program}: warning: {warning}")
            outcomes = bake_scene(host, options, None, progress, interruption, save)
            if options.attach and any(each.status in (BAKED, UP_TO_DATE) for each in outcomes):
                # an unsaved note would be lost
                host.save_scene()
        failed = summary.count(FAILED)
        code = EXIT_FAILED if failed else EXIT_DONE
        if interruption.is_requested and not all(each.is_whole for each in outcomes):
            code = interruption.exit_code
        summary.is_complete = code in (EXIT_DONE, EXIT_FAILED)
    except VerdigrisError as failure:
        summary.error = str(failure)
        code = interruption.exit_code if interruption.is_requested else EXIT_FAILED
    except Exception as failure:  # noqa: BLE001 - applications raise what they like
        summary.error, code = describe_unexpected(failure), EXIT_FAILED
    except KeyboardInterrupt:
        summary.error, code = "interrupted", EXIT_INTERRUPTED
    if summary.error:
        progress.fail(summary.error)
        # the terminal may be closed
        with contextlib.suppress(OSError, ValueError):
            print(f"{program}: {summary.error}", file=sys.stderr)
        return code
    _conclude(program, summary, progress)
    return code


def _conclude(program: str, summary: Summary, progress: Progress) -> None:
    counts = [(summary.count(status), status) for status in STATUSES]
    text = ", ".join(f"{number} {status}" for number, status in counts if number)
    seconds = format_seconds(sum(each.seconds for each in summary.outcomes))
    text = f"{text} in {seconds}" if text else "nothing to bake"
    where = f"; summary: {summary.file}" if summary.file else ""
    materials = counted(len(summary.outcomes), "material")
    progress.note(f"{program}: {materials}: {text}{where}")


@contextlib.contextmanager
def _apart_from_the_host() -> Iterator[None]:
    """Sends to the standard error what the application prints, so that the standard output contains
    only the summary. Applications also print from C, not through Python's stream."""
    if sys.stdout is None or sys.stderr is None:
        yield
        return
    kept = -1
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        kept = os.dup(1)
        os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        if kept >= 0:
            os.dup2(kept, 1)
            os.close(kept)
