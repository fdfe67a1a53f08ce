"""Memory of a worker that lives long: many small bakes, with everything that a panel asks for.

    python docs/benchmarks/bench_long_life.py [--bakes 300] [--seconds N] [--device D] [--size N]

Bakes take turns in the light, the shape and the viewport textures. Between them, the worker shows
versions, draws ranges of a live input, fits ladders and opens another document. Every tenth bake is
a line: memory, mappings, descriptors and threads. The verdict compares the end with the 20th bake.
Needs Linux.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from runs import EXAMPLES

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.worker.client.client import WorkerClient
from verdigris.core.worker.protocol import commands as say
from verdigris.core.worker.protocol.worker_events import DONE, FAILED, IDLE

CHANGES = {"network": "2x16", "resolution": 16, "batch": 256, "iterations": 40}
OPENED = say.Open(path=str(EXAMPLES / "street_stone.mtlx"), live=("wetness=0..1",))
OTHER = say.Open(path=str(EXAMPLES / "glowing_panel.mtlx"))
MESH = str(EXAMPLES / "tray.obj")
VIEWS: tuple[dict[str, Any], ...] = (
    {},
    {"lit_by": "sky"},
    {"shape": "plane", "zoom": 16.0, "shows": "wipe"},
    {"shape": "mesh", "mesh": MESH, "lit_by": "studio"},
)
EACH, LADDER_EACH, OTHER_EACH, FLAT_EACH = 10, 50, 10, 8
# Until here the code is compiled, and what is kept is full.
SETTLED = 20
MOST_GROWTH = 1.05
# How far mappings may move: an allocator joins and splits them.
MOST_MORE_MAPPINGS = 1.05
SECONDS = 300.0


class Vitals(NamedTuple):
    """What a process holds."""

    megabytes: float
    mappings: int
    descriptors: int
    threads: int

    @classmethod
    def of(cls, process: int) -> Vitals:
        folder = Path("/proc") / str(process)
        lines = (folder / "status").read_text().splitlines()
        status = dict(line.split(":", 1) for line in lines if ":" in line)
        return cls(
            int(status["VmRSS"].split()[0]) / 1024,
            len((folder / "maps").read_text().splitlines()),
            len(list((folder / "fd").iterdir())),
            int(status["Threads"]),
        )


class Worker:
    """A worker process, and what it last said."""

    def __init__(self) -> None:
        self._client = WorkerClient()
        self._state = ""
        self.process = 0

    def ask(self, command: say.Command, event: str) -> None:
        """Sends a command and waits for its answer."""
        self._client.send(command)
        self._wait_for(lambda header: header.get("event") == event, event)

    def bake(self, folder: str, flattens: bool) -> None:
        """A bake, until its result is refined."""
        request = BakeRequest(changes=CHANGES, viewport_textures=flattens)
        self.ask(say.Start(folder, request=request, report_picture=True), "finished")
        ends = (DONE, FAILED, IDLE)
        if self._state not in ends:
            self._wait_for(lambda _: self._state in ends, "the end of the bake")

    def look(self, view: dict[str, Any], size: int) -> None:
        self._client.send(say.SetView(size=size, **view))

    def close(self) -> None:
        self._client.close()

    def _wait_for(self, is_it: Callable[[dict[str, Any]], bool], what: str) -> None:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            is_found = False
            for message in self._client.poll():
                header = message.header
                if header.get("event") == "hello":
                    self.process = header["process"]
                if header.get("event") == "error":
                    raise SystemExit(header["text"])
                if header.get("event") == "state":
                    self._state = header["state"]
                is_found = is_found or is_it(header)
            if is_found:
                return
            health = self._client.health()
            if health.state == "gone":
                raise SystemExit(health.reason)
            time.sleep(0.005)
        raise SystemExit(f"no {what} within {SECONDS:.0f} s")


def live(worker: Worker, options: argparse.Namespace, folder: Path) -> list[Vitals]:
    """What the worker holds after each bake."""
    bakes, size = options.bakes, options.size
    opened, other = (replace(each, device=options.device) for each in (OPENED, OTHER))
    found: list[Vitals] = []
    worker.look({}, size)
    worker.ask(opened, "opened")
    begun = time.perf_counter()
    for number in range(1, bakes + 1):
        if time.perf_counter() - begun > options.seconds:
            break
        view = {**VIEWS[number % len(VIEWS)], "live": (number % 5 / 4,)}
        worker.look(view, size)
        worker.bake(str(folder), number % FLAT_EACH == 0)
        worker.ask(say.Range(0, 4, 32), "rangedrawn")
        (result,) = folder.glob("*.vdg")
        versions = sorted(folder.rglob("*.versions/*.vdg"))
        against = str(versions[number % len(versions)]) if versions else ""
        worker.ask(say.Show(str(result), against), "shown")
        worker.look({**view, "turn": 30.0, "level": 1}, size)
        if number % LADDER_EACH == EACH:
            worker.ask(say.Ladder(str(folder / "ladder"), MESH, ("pbr",), 16), "fitted")
        if number % OTHER_EACH == 0:
            worker.ask(other, "opened")
            worker.ask(opened, "opened")
        found.append(Vitals.of(worker.process))
        if number % EACH == 0 or number == bakes:
            print(
                f"{number:5d} {describe(found[-1])}, {time.perf_counter() - begun:.0f} s",
                flush=True,
            )
    return found


def describe(vitals: Vitals) -> str:
    return (
        f"{vitals.megabytes:7.1f} MB, {vitals.mappings} mappings, "
        f"{vitals.descriptors} descriptors, {vitals.threads} threads"
    )


def verdict(found: list[Vitals]) -> bool:
    """Prints whether the last ten bakes hold no more than those about the 20th did."""
    if len(found) < SETTLED + 2 * EACH:
        print(f"no verdict: it needs {SETTLED + 2 * EACH} bakes")
        return True
    first, last = found[SETTLED - EACH // 2 : SETTLED + EACH // 2], found[-EACH:]
    is_flat = True
    for name, most in zip(Vitals._fields, (MOST_GROWTH, MOST_MORE_MAPPINGS, 1, 1), strict=True):
        before, after = (
            statistics.median(getattr(v, name) for v in each) for each in (first, last)
        )
        holds = after <= before * most
        is_flat = is_flat and holds
        print(f"{name}: {before:.0f} -> {after:.0f}: {'flat' if holds else 'GROWS'}")
    return is_flat


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bakes", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=math.inf, help="no bake begins later")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--size", type=int, default=128, help="pixels of the pictures")
    options = parser.parse_args()
    worker = Worker()
    with tempfile.TemporaryDirectory() as folder:
        found = live(worker, options, Path(folder))
    worker.close()
    sys.exit(not verdict(found))


if __name__ == "__main__":
    main()
