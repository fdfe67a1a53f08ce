"""What an artist waits for, with a real worker process, and what being watched costs a bake.

    python docs/benchmarks/bench_worker.py FILE [--preset P] [--device D] [--size N] [--runs N]
        [--set iterations=2000 ...]

From Start: seconds to the first picture of the student, then how many of them and of the figures
arrive a second. How much slower a bake is when it is watched is found in a bake of its own, which
is watched and left alone in turns: by the clock, and by that of the worker's budget, which counts
CPU time as seconds of an idle machine.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from runs import begin, chosen_changes

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.baking.state.options import BakeOptions
from verdigris.core.worker.client.client import WorkerClient
from verdigris.core.worker.protocol import commands as say
from verdigris.core.worker.protocol.messages import VERSION, encode
from verdigris.core.worker.protocol.worker_events import FAILED, Picture, Pixels
from verdigris.core.worker.session.job import RUN_SECONDS
from verdigris.core.worker.session.session import Session

# Seconds for which a bake is watched, or is not.
TURN = 1.5
# Pixels of a viewport in a window of 1280 x 800, wiped in the middle.
VIEW = {"aspect": 1.4, "lit_by": "studio", "shows": "wipe"}
SIZE = 620
# The largest live picture of a network that trains on a CPU.
SHARP = 384
Rate = dict[str, float]
Changes = dict[str, Any]


def watched(path: str, changes: Changes, preset: str, size: int, folder: str) -> Rate:
    """A bake in a worker, as the panel has it."""
    client = WorkerClient()
    opened = wait_for(
        client,
        lambda header: header.get("event") == "opened",
        [say.SetView(size=size, **VIEW), say.Open(path=path)],
    )
    changes = changes | {"seed": 0}
    begun = time.perf_counter()
    seen, figures, trained = [], [], 0.0
    first = sharp = 0.0

    def take(header: dict[str, Any]) -> bool:
        nonlocal first, sharp, trained
        now = time.perf_counter()
        if header.get("event") == "picture" and header.get("part") == "neural":
            first = first or now - begun
            if min(header["shape"][:2]) >= SHARP:
                sharp = sharp or now - begun - first
            seen.append(now)
        elif header.get("event") == "step":
            trained = now
            figures.append(now)
        return header.get("event") == "finished"

    wait_for(client, take, [say.Start(folder, request=BakeRequest(preset=preset, changes=changes))])
    client.kill()
    live = [each for each in seen if each <= trained]
    gaps = [after - before for before, after in itertools.pairwise(live)]
    return {
        "open s": opened,
        "first picture s": first,
        f"then {SHARP} px s": sharp,
        "pictures a second": (len(live) - 1) / (live[-1] - live[0]),
        "median gap s": statistics.median(gaps),
        "longest gap s": max(gaps),
        "figures a second": (len(figures) - 1) / (figures[-1] - figures[0]),
    }


def wait_for(
    client: WorkerClient, is_it: Callable[[dict[str, Any]], bool], commands: list[say.Command]
) -> float:
    """Seconds until a message says so."""
    begun = time.perf_counter()
    for each in commands:
        client.send(each)
    while True:
        for message in client.poll():
            if message.header.get("event") == "error":
                raise SystemExit(message.header["text"])
            if is_it(message.header):
                return time.perf_counter() - begun
        health = client.health()
        if health.state == "gone":
            raise SystemExit(health.reason)
        time.sleep(0.01)


class Turns:
    """A bake in this process, watched and left alone in turns, so that whatever else the machine
    does slows both."""

    def __init__(self, path: str, changes: Changes, preset: str, size: int, folder: str):
        self._pictures, self._seconds = 0, 0.0
        self._session = session = Session(self._post)
        changes = changes | {"seed": 0, "starts": 1, "iterations": 1_000_000}
        for command in (
            say.Hello(VERSION),
            say.SetView(size=size, **VIEW),
            say.Open(path=path),
            say.Start(folder, request=BakeRequest(preset=preset, changes=changes)),
        ):
            session.handle(command)
        pictures = session._pictures
        while not pictures.shows_student or pictures._free > 0:
            if session.state == FAILED:
                raise SystemExit("the bake has failed")
            session.work()
        self._follow = session._pictures.follow

    def _post(self, event: Any) -> None:
        """Encodes it, as a worker does."""
        encode(event.as_json(), event.payload() if isinstance(event, Pixels) else b"")
        self._pictures += isinstance(event, Picture) and event.part == "neural"

    def _turn(self, is_watched: bool) -> tuple[int, float, float]:
        """The steps of a turn, its seconds, and those of an idle machine."""
        session, run = self._session, self._session._bake.job.run
        pictures = session._pictures
        pictures.follow = self._follow if is_watched else lambda: None
        seconds = RUN_SECONDS if is_watched else BakeOptions.run_seconds
        run.options = replace(run.options, run_seconds=seconds)
        session.work()
        for budget in (pictures._budget, pictures._error_budget):
            # nothing is saved while it is left alone
            budget._seen = pictures._clock()
        begun, first = time.perf_counter(), run.learner.trainer.step
        idle = pictures._clock()
        while time.perf_counter() - begun < TURN:
            session.work()
        idle = pictures._clock() - idle
        self._seconds += idle if is_watched else 0.0
        steps = run.learner.trainer.step - first
        return steps, time.perf_counter() - begun, idle

    def rates(self, turns: int) -> Rate:
        """By the clock, the median over turns, each compared with those beside it; by the
        budget's, all of them, because a turn on a busy machine has few pictures."""
        self._pictures = 0
        found = np.array([self._turn(number % 2 == 1) for number in range(2 * turns + 1)])
        self._session.close()
        steps, seconds = found.T[:2]
        rate = steps / seconds
        beside = (rate[:-2:2] + rate[2::2]) / 2
        alone, watched = found[::2].sum(0), found[1::2].sum(0)
        return {
            "slower by": 1 - statistics.median(rate[1::2] / beside),
            "slower by, on an idle machine": 1 - watched[0] / watched[2] * alone[2] / alone[0],
            "s of an idle machine between pictures": self._seconds / max(1, self._pictures),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument(
        "--size", type=int, help="pixels of the shorter side; by default as in the panel"
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--turns", type=int, default=12)
    options, _, _ = begin(parser)
    changes = chosen_changes(options)
    os.environ["VERDIGRIS_DEVICE"] = options.device
    size = options.size or SIZE
    found: list[Rate] = []
    for run in range(options.runs):
        with tempfile.TemporaryDirectory() as folder:
            rate = watched(options.file, changes, options.preset, size, folder)
        with tempfile.TemporaryDirectory() as folder:
            turns = Turns(options.file, changes, options.preset, size, folder)
            rate |= turns.rates(options.turns)
        print(f"run {run}: " + ", ".join(f"{k} {v:.3g}" for k, v in rate.items()), flush=True)
        found.append(rate)
    medians = {name: statistics.median(each[name] for each in found) for name in found[0]}
    print("median: " + ", ".join(f"{name} {value:.3g}" for name, value in medians.items()))


if __name__ == "__main__":
    main()
