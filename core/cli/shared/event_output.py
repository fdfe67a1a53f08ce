"""Shows the events of a bake: a live line, JSON lines, or the result only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.text import Text

from verdigris.core.base.errors import reason
from verdigris.core.pictures.compare.verdict import MOST_DOTS, judge_bake
from verdigris.core.progress import (
    Event,
    Finished,
    Metrics,
    Phase,
    SizeChosen,
    Started,
    Step,
    Warning,
)
from verdigris.core.worker.protocol.messages import encode

# The largest error of a place that is printed as a number.
_MOST_SHARE = 10.0


class LostOutputError(Exception):
    """The output cannot be written any more: its reader is gone, or the disk is full."""


def json_lines(events: Iterable[Event]) -> None:
    """Prints each event as a line of JSON."""
    for event in events:
        line = encode(event.as_json()).decode()
        try:
            print(line, end="", flush=True)
        except OSError as failure:
            raise LostOutputError(reason(failure)) from None


def result_only(events: Iterable[Event]) -> None:
    """Prints the paths of the bundles; warnings go to standard error."""
    for event in events:
        if isinstance(event, Warning):
            print(f"verdigris: {event.text}", file=sys.stderr)
        elif isinstance(event, Finished):
            print("\n".join(event.results))


def live_line(events: Iterable[Event], recommendation: Callable[[Path], str] | None = None) -> None:
    """Shows progress in one line that is updated, and prints the results at the end. Below a bundle
    that is not as good as can be, the first of them, it prints the recommendation for it."""
    console = Console(stderr=True, highlight=False)
    phase, error = "preparing", ""
    with Live(Text("preparing…"), console=console, refresh_per_second=8, transient=True) as live:
        for event in events:
            for note in _notes(event):
                console.print(note, markup=False, soft_wrap=True)
            if isinstance(event, Phase):
                phase = event.name
                live.update(Text(f"{phase}…"))
            elif isinstance(event, Metrics):
                mean = sum(found.log_mae for found in event.samples) / len(event.samples)
                error = f"  error {mean:.4f}"
            elif isinstance(event, Step):
                live.update(Text(_step_line(event, phase, error, console.width)))
            elif isinstance(event, Finished):
                live.update(Text(""))
                _print_result(event, recommendation)


def _notes(event: Event) -> Iterator[str]:
    """Lines that stay above the live line."""
    if isinstance(event, Started):
        names = ", ".join(event.materials)
        yield (
            f"{names}: {event.network} at {event.resolution}, {event.trainer} trainer "
            f"on {event.device}"
        )
        if event.step:
            yield f"continues from step {event.step}"
    elif isinstance(event, SizeChosen):
        yield event.text
    elif isinstance(event, Warning):
        yield f"warning: {event.text}"


def _step_line(event: Step, phase: str, error: str, width: int) -> str:
    """One line of a terminal of this width; without the speed if that does not fit."""
    share = event.step / max(event.steps, 1)
    filled = round(20 * share)
    bar = "━" * filled + "╺" + "─" * (20 - filled)
    learnt = f"{phase} {bar} {100 * share:3.0f}%  loss {event.loss:.4f}{error}"
    left = f"  {_clock(event.seconds_left)} left"
    whole = f"{learnt}  {event.samples_per_second / 1e6:.2f} M samples/s{left}"
    return whole if len(whole) < width else learnt + left


def _print_result(event: Finished, recommendation: Callable[[Path], str] | None) -> None:
    why = "" if event.stopped_by == "steps" else f", ended by {event.stopped_by}"
    print(f"{event.step} steps in {_clock(event.seconds)}{why}")
    hints = event.hints or ("",) * len(event.results)
    skies = event.skies or (None,) * len(event.results)
    for result, samples, picture, hint, sky in zip(
        event.results, event.samples, event.pictures, hints, skies, strict=True
    ):
        print(result)
        verdict = judge_bake(samples, picture, sky)
        if verdict:
            print(f"  {verdict.line}")
            if recommendation and verdict.dots < MOST_DOTS:
                # once: materials that share a decoder are baked together
                line, recommendation = recommendation(Path(result)), None
                if line:
                    print(f"  {line}")
        print(
            f"  log error {samples.log_mae:.4f}  SMAPE {samples.smape:.3f}  "
            f"sphere {picture.psnr:.1f} dB  FLIP {picture.ldr_flip:.3f}"
        )
        if sky:
            print(
                f"  under a sky: error {sky.median:.1%} (9 of 10 places below {sky.p90:.1%}, "
                f"largest {_share(sky.largest)}), light {sky.bias:+.1%}"
            )
        if hint:
            print(f"  {hint}")


def _share(error: float) -> str:
    """An error as a share of the light. Where there is hardly any, a number means nothing."""
    return f"{error:.1%}" if error < _MOST_SHARE else f"over {_MOST_SHARE:.0%}"


def _clock(seconds: float) -> str:
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02d}" if whole >= 60 else f"{max(seconds, 0):.1f} s"
