"""What an artist waits for, with a real worker process, and what being watched costs a bake.

    python docs/benchmarks/bench_worker.py FILE [--preset P] [--device D] [--size N] [--runs N]
        [--set iterations=2000 ...]

From Start: seconds to the first picture of the student, then how many of them and of the figures
arrive a second. The rate of steps of the same bake without a panel is measured in turns with it.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from runs import add_settings, chosen_settings

from verdigris.core.device import open_device
from verdigris.core.material.document import load_document
from verdigris.core.material.teacher import Teacher
from verdigris.core.settings import BakeSettings
from verdigris.core.training.bake import BakeOptions, bake
from verdigris.core.training.events import Step
from verdigris.core.training.trainers import choose_trainer
from verdigris.core.worker import commands as say
from verdigris.core.worker.client import WorkerClient

# Of a run's steps, the part whose rate counts: neither compiling nor measuring is in it.
FIRST, LAST = 0.15, 0.85
# Pixels a side that the panel asks for at most.
SIZES = {"numpy": 192, "tensor": 512}
Rate = dict[str, float]


class Pace:
    """Steps a second in the middle of a bake."""

    def __init__(self) -> None:
        self._marks: list[tuple[int, float]] = []

    def step(self, step: int, steps: int) -> None:
        if FIRST * steps <= step <= LAST * steps:
            self._marks.append((step, time.perf_counter()))

    @property
    def rate(self) -> float:
        (first, begun), (last, ended) = self._marks[0], self._marks[-1]
        return (last - first) / (ended - begun)


def watched(path: str, settings: BakeSettings, preset: str, size: int, folder: str) -> Rate:
    """A bake in a worker, as the panel has it."""
    client = WorkerClient()
    opened = wait_for(
        client,
        lambda header: header.get("event") == "opened",
        [say.View(size=size), say.Open(path=path, allow_outside=True)],
    )
    changes = asdict(settings) | {"seed": 0}
    begun = time.perf_counter()
    pace, seen, figures, trained = Pace(), [], [], 0.0
    first = 0.0

    def take(header: dict[str, Any]) -> bool:
        nonlocal first, trained
        now = time.perf_counter()
        if header.get("event") == "picture" and header.get("part") == "neural":
            first = first or now - begun
            seen.append(now)
        elif header.get("event") == "step":
            trained = now
            figures.append(now)
            pace.step(header["step"], header["steps"])
        return header.get("event") == "finished"

    wait_for(client, take, [say.Start(folder, preset=preset, changes=changes)])
    client.kill()
    live = [each for each in seen if each <= trained]
    gaps = [after - before for before, after in itertools.pairwise(live)]
    return {
        "open s": opened,
        "first picture s": first,
        "pictures a second": (len(live) - 1) / (live[-1] - live[0]),
        "median gap s": statistics.median(gaps),
        "longest gap s": max(gaps),
        "figures a second": (len(figures) - 1) / (figures[-1] - figures[0]),
        "steps a second": pace.rate,
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


def alone(path: str, settings: BakeSettings, device: str, folder: str) -> float:
    """Steps a second of the same bake that nobody watches."""
    teacher = Teacher(load_document(path, allow_outside=True), device=open_device(device))
    pace = Pace()
    for event in bake([teacher], settings, BakeOptions("alone", Path(folder))):
        if isinstance(event, Step):
            pace.step(event.step, event.steps)
    return pace.rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--size", type=int, help="pixels a side; by default as in the panel")
    parser.add_argument("--runs", type=int, default=3)
    add_settings(parser)
    options = parser.parse_args()
    os.environ["VERDIGRIS_DEVICE"] = options.device
    device = open_device(options.device)
    settings = chosen_settings(options, device)
    size = options.size or SIZES[choose_trainer(device)]
    found: list[Rate] = []
    for run in range(options.runs):
        with tempfile.TemporaryDirectory() as folder:
            rate = watched(options.file, settings, options.preset, size, folder)
        with tempfile.TemporaryDirectory() as folder:
            rate["alone"] = alone(options.file, settings, options.device, folder)
        rate["slower by"] = 1 - rate["steps a second"] / rate["alone"]
        print(f"run {run}: " + ", ".join(f"{k} {v:.3g}" for k, v in rate.items()), flush=True)
        found.append(rate)
    medians = {name: statistics.median(each[name] for each in found) for name in found[0]}
    print("median: " + ", ".join(f"{name} {value:.3g}" for name, value in medians.items()))


if __name__ == "__main__":
    main()
