"""What `verdigris bake` prints, and how it ends.

The events of a bake are shown as a live line, as lines of JSON, or as the result only. A signal or
a lost output ends the bake early, but its result is still written. Below a result that is not the
best, the next preset is recommended, with its time on this machine.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.baking.state.options import BakeControl
from verdigris.core.base.errors import (
    BROKEN_PIPE,
    EndedError,
    NothingLearntError,
    SettingsError,
    reason,
)
from verdigris.core.base.outputs import redirect_to_null
from verdigris.core.base.process.termination import handled, termination_signals
from verdigris.core.base.text import format_range, format_seconds, format_share
from verdigris.core.cli.shared.terminal import warn
from verdigris.core.pictures.compare.verdict import DOUBT, MOST_DOTS, judge_bake
from verdigris.core.progress import (
    PHASE_WORDS,
    Checkpointed,
    Event,
    Finished,
    Metrics,
    Phase,
    SizeChosen,
    Started,
    Step,
    Warning,
)
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import NEXT_PRESET, Kind, Recipe, default_preset
from verdigris.core.worker.protocol.messages import encode

# Windows has no SIGHUP.
_HANG_UP = getattr(signal, "SIGHUP", None)
# A bake takes up to so many times longer or shorter than another one of this machine shows.
_SPREAD = 1.3
# The longest bar of progress, in columns.
_BAR = 21

Recommend = Callable[[Path], str]
"""Makes a line for the bundle of a bake; the line may be empty."""


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
            warn(event.text)
        elif isinstance(event, Finished):
            print("\n".join(event.results))


def live_line(
    events: Iterable[Event],
    recommend: Recommend | None = None,
    preset: str = "",
    check_speed: Recommend | None = None,
) -> None:
    """Shows progress in one line that is updated, and prints the results at the end. Below the
    first bundle that is not the best possible, prints the recommendation for it; and a warning
    below each that `check_speed` finds slower than its graph."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    phase, error = "preparing", ""
    with Live(Text("preparing…"), console=console, refresh_per_second=8, transient=True) as live:
        for event in events:
            if isinstance(event, Started):
                preset = preset or default_preset(event.trainer)
            for note in _notes(event):
                console.print(note, markup=False, soft_wrap=True)
            if isinstance(event, Phase):
                phase = PHASE_WORDS.get(event.name, event.name)
                live.update(Text(f"{phase}…"))
            elif isinstance(event, Metrics):
                mean = sum(found.log_mae for found in event.samples) / len(event.samples)
                error = f"  error {mean:.4f}"
            elif isinstance(event, Step):
                live.update(Text(_step_line(event, phase, error, console.width)))
            elif isinstance(event, Finished):
                live.update(Text(""))
                _print_result(event, recommend, preset, check_speed)


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
    """One line of a terminal of this width, in which the bar and the speed take what is left."""
    share = event.step / max(event.steps, 1)
    figures = f"{format_share(share):>4}  loss {event.loss:.4f}{error}"
    speed = f"  {event.samples_per_second / 1e6:.2f} M samples/s"
    left = f"  {format_seconds(event.seconds_left)} left"
    room = width - len(f"{phase}   {figures}{left}")
    if room < _BAR + len(speed):
        speed = ""
    length = max(1, min(room, _BAR))
    filled = round((length - 1) * share)
    bar = "━" * filled + "╺" + "─" * (length - 1 - filled)
    return f"{phase} {bar} {figures}{speed}{left}"


def _print_result(
    event: Finished, recommend: Recommend | None, preset: str, check_speed: Recommend | None
) -> None:
    why = "" if event.stopped_by == "steps" else f", ended by {event.stopped_by}"
    print(f"{event.step} steps in {format_seconds(event.seconds)}{why}")
    hints = event.hints or ("",) * len(event.results)
    skies = event.skies or (None,) * len(event.results)
    for result, samples, picture, hint, sky in zip(
        event.results, event.samples, event.pictures, hints, skies, strict=True
    ):
        print(result)
        verdict = judge_bake(samples, picture, sky, preset)
        if verdict:
            print(f"  {verdict.line}")
        is_certain = sky and abs(sky.bias) > DOUBT * sky.bias_deviation
        light = f", light {sky.bias:+.1%}" if sky and is_certain else ""
        print(f"  sphere {picture.psnr:.1f} dB, visible difference {picture.ldr_flip:.3f}{light}")
        slow = check_speed(Path(result)) if check_speed else ""
        for note in filter(None, (hint, slow)):
            print(f"  {note}")
        if recommend and verdict and verdict.dots < MOST_DOTS:
            # once: materials that share a decoder are baked together
            line, recommend = recommend(Path(result)), None
            if line:
                print(f"  {line}")


class BakeEnding:
    """Stops a bake on the first signal, or when its output is lost, and decides the exit code.

    After Ctrl-C the command succeeds: the artist is satisfied with the result. After SIGTERM,
    SIGHUP or a lost output, the bundle is also written, but the command fails with EndedError,
    because the training was not finished.
    """

    def __init__(self, control: BakeControl) -> None:
        self._control = control
        self._signal: signal.Signals | None = None
        self._why_lost = ""
        self._finished: Finished | None = None
        self._kept: Checkpointed | None = None
        self._terminals: list[int] = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handles signals: the first stops the bake, a Ctrl-C after it ends the program."""
        self._terminals = [each for each in (1, 2) if os.isatty(each)]
        try:
            # a shell lets background processes ignore Ctrl-C; a bake handles it anyway
            with handled({signal.SIGINT, signal.SIGTERM, *termination_signals()}, self._handle):
                yield
        except NothingLearntError as failure:
            if number := self._number:
                raise EndedError(str(failure), number) from None
            raise
        if self._why_lost or (self._signal != signal.SIGINT and self._is_cut_off):
            raise EndedError(self._message(), self._number)

    def show(self, show: Callable[[Iterable[Event]], None], events: Iterable[Event]) -> None:
        """Shows events. When the output is lost, stops the bake and reads the events silently."""
        noted = self._noting(events)
        try:
            show(noted)
        except LostOutputError as lost:
            self._why_lost = str(lost)
            self._control.stop()
            # in tests the output is not a file and has no descriptor
            with contextlib.suppress(OSError, ValueError):
                redirect_to_null([sys.stdout.fileno()])
            for _ in noted:
                pass

    def _noting(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, Checkpointed):
                self._kept = event
            elif isinstance(event, Finished):
                self._finished = event
            yield event

    @property
    def _number(self) -> int:
        """The signal number for the exit code; 0 without a signal."""
        return self._signal or (BROKEN_PIPE if self._why_lost else 0)

    @property
    def _is_cut_off(self) -> bool:
        return self._finished is not None and self._finished.stopped_by == "request"

    def _handle(self, number: int, _frame: object) -> None:
        # a program that ends a process group may send SIGTERM twice
        if self._control.stop_requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._signal = self._signal or signal.Signals(number)
        self._control.stop()
        if number == _HANG_UP:
            # writing to a closed terminal would fail before the result is written
            redirect_to_null(self._terminals)

    def _message(self) -> str:
        why = self._signal.name if self._signal else f"the output was lost ({self._why_lost})"
        finished = self._finished
        if finished is None:
            return why
        results = ", ".join(finished.results)
        if not self._is_cut_off:
            return f"{why}: {results} was written"
        by = f"{why} ended the bake" if self._signal else f"{why}, so the bake was ended"
        text = f"{by} at step {finished.step}: {results} was written as trained until then"
        # the folder may have been deleted
        if self._kept is None or not Path(self._kept.path).is_file():
            return text
        where = "there" if self._kept.step == finished.step else f"step {self._kept.step}"
        return f"{text}; run again with --resume to continue from {where}"


def recommend_next(request: BakeRequest, materials: int) -> Recommend:
    """Recommends the preset after that of the bake for the same request; nothing after the last."""

    def of_bundle(bundle: Path) -> str:
        from verdigris.core.bundle.files.read import open_bundle

        source = open_bundle(bundle).manifest.source
        trainer = str(source["trainer"])
        preset = request.preset or default_preset(trainer)
        following = NEXT_PRESET.get(preset)
        if following is None:
            return ""
        read_recipe = partial(replace(request, preset=following).recipe, trainer, materials)
        return recommendation(preset, following, read_recipe, source)

    return of_bundle


def recommendation(
    preset: str, following: str, read_recipe: Callable[[], Recipe], source: Mapping[str, Any]
) -> str:
    """A line about the preset `following`. Its settings are read only now, because it may not allow
    the changes of the bake; the line is empty then. `source` is the section of that name in the
    manifest of a bundle with `preset`: its bake shows how fast this machine is. Whole bakes are
    compared, because the steps are a small part of a short one."""
    from verdigris.core.batch.plan.estimate import Estimate

    try:
        settings = read_recipe()[Kind(source["kind"])]
    except SettingsError:
        return ""
    trainer, estimate = str(source["trainer"]), Estimate()
    done = replace(BakeSettings.from_json(source["settings"]), iterations=max(1, source["step"]))
    slowness = estimate.seconds(done, trainer, source["seconds"])
    slowness /= estimate.seconds(done, trainer, None)
    seconds = slowness * estimate.seconds(settings, trainer, None)
    time = format_range(seconds / _SPREAD, seconds * _SPREAD)
    return f"next: --preset {following} comes closer, and takes {time} on this machine"
