"""What a live link costs a training, and how long a step takes to a client.

    .venv/bin/python docs/benchmarks/bench_link.py examples/copper_tray.mtlx 512 120 [screen]
    ... 120 "stdbuf -oL ./vulkan_picture {} picture.spv picture.ppm"

bakes for about so many seconds. With `screen`, the client is a page in Chromium, and latencies are
those to its screen; with a command, it is a program that prints `step N` for each picture, such as
the example in Vulkan; otherwise it only reads. A client comes and goes every few seconds, so that
both kinds of seconds see the same machine. Prints the ratios of steps a second and of CPU time a
step, for how long the training waits for a snapshot and its thread works, and latencies. On a busy
machine the CPU time says more: it counts the link's threads, too.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from verdigris.core import api
from verdigris.core.baking.state.options import BakeControl
from verdigris.core.link.server import LinkServer
from verdigris.core.link.training import TrainingLink
from verdigris.core.progress import Phase, Step

PERIOD = 3.0
# Reads what comes and notes when, as a client that has nothing to compute.
CLIENT = """
import sys, time
from verdigris.core.link.client import LinkClient
with LinkClient(sys.argv[1]) as link:
    for received in link:
        print(received.step, time.time(), flush=True)
"""


def main(document: str, resolution: str, seconds: str, kind: str = "") -> None:
    command = [sys.executable, "-c", CLIENT, "{}"]
    if kind == "screen":
        command = ["node", str(Path(__file__).with_name("link_screen.mjs")), "{}"]
    elif kind:
        command = shlex.split(kind)
    period = PERIOD if not kind else 5 * PERIOD
    control = BakeControl()
    rates: dict[bool, list[float]] = {False: [], True: []}
    costs: dict[bool, list[float]] = {False: [], True: []}
    times: dict[int, float] = {}
    arrived: list[tuple[int, float]] = []
    with LinkServer(port=0) as server, tempfile.TemporaryDirectory() as folder:
        events = api.bake(
            api.load(document),
            folder=Path(folder),
            preset="draft",
            resolution=int(resolution),
            iterations=1_000_000,
            starts=1,
            control=control,
        )
        client: Any = None
        turned = first = 0.0
        before, spent = 0, 0.0
        link = _Timed(server, control)
        for event in link.follow(events):
            now = time.time()
            if isinstance(event, Phase):
                print(event.name, flush=True)
                first = turned = 0.0
            if not isinstance(event, Step):
                continue
            times[event.step] = now
            if not turned:
                first, turned, before = first or now, now, event.step
                spent = time.process_time()
            # the first second after a turn belongs to neither: programs start and end
            elif now - turned > period:
                steps = event.step - before
                rates[client is not None].append(steps / (now - turned))
                costs[client is not None].append((time.process_time() - spent) / steps)
                if client is None:
                    client = Client([word.replace("{}", server.address) for word in command])
                    while not server.clients:
                        client.require()
                        time.sleep(0.01)
                else:
                    arrived += client.end()
                    client = None
                turned, before, spent = time.time(), event.step, time.process_time()
            if now - first > float(seconds):
                break
        if client is not None:
            arrived += client.end()
        events.close()
    for name, kinds in (("steps a second", rates), ("CPU time a step", costs)):
        pairs = min(map(len, kinds.values()))
        ratio = np.array(kinds[True][:pairs]) / np.array(kinds[False][:pairs])
        spread = ratio.std() / max(pairs, 1) ** 0.5
        print(f"{name} with a client: {np.mean(ratio):.3f} +- {spread:.3f}, {pairs} pairs")
    copied, made = np.median(link.taken, axis=0)
    print(f"a snapshot: {1e3 * copied:.1f} ms of the training, {1e3 * made:.1f} ms of its thread")
    late = np.array([at - times[step] for step, at in arrived if step in times])
    gaps = np.diff(sorted(at for _, at in arrived))
    gaps = gaps[gaps < period / 2]
    for name, found in (("from step to client", late), ("between snapshots", gaps)):
        low, high = np.percentile(found, [50, 95])
        print(f"{name}: median {low:.2f} s, 95% below {high:.2f} s, {len(found)} of them")


class _Timed(TrainingLink):
    """Keeps what each snapshot takes."""

    def __init__(self, *values: Any) -> None:
        super().__init__(*values)
        self.taken: list[tuple[float, float]] = []

    def _make(self, copied: Any) -> float:
        found = super()._make(copied)
        self.taken.append((self._copied, found))
        return found


class Client:
    """A program that prints steps, each with its time; otherwise with that of its line."""

    def __init__(self, command: list[str]) -> None:
        self._program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._seen: list[tuple[int, float]] = []
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def require(self) -> None:
        """Ends this program if the client has ended."""
        if self._program.poll() is not None:
            raise SystemExit(f"the client has ended with {self._program.returncode}")

    def _read(self) -> None:
        assert self._program.stdout
        for line in self._program.stdout:
            if found := re.search(r"step (\d+)", line):
                self._seen.append((int(found[1]), time.time()))
            else:
                step, at = line.split()
                self._seen.append((int(step), float(at)))

    def end(self) -> list[tuple[int, float]]:
        self._program.terminate()
        self._reading.join()
        self._program.wait()
        # the first one may be old: a client that comes gets the newest that there is
        return self._seen[1:]


if __name__ == "__main__":
    main(*sys.argv[1:])
