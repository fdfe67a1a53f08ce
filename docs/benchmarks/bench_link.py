"""What a live link costs a training, and how long a step takes to a client.

    .venv/bin/python docs/benchmarks/bench_link.py examples/copper_tray.mtlx 512 120 [screen]

bakes for about so many seconds. With `screen`, the client is a page in Chromium, and latencies are
those to its screen; otherwise it only reads. A client comes and goes every few seconds, so that
both kinds of seconds see the same machine. Prints the ratios of steps a second and of CPU time a
step, and latencies. On a busy machine the CPU time says more: it counts the link's threads, too.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
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
    command = [sys.executable, "-c", CLIENT]
    if kind == "screen":
        command = ["node", str(Path(__file__).with_name("link_screen.mjs"))]
    period = PERIOD if kind != "screen" else 5 * PERIOD
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
        for event in TrainingLink(server, control).follow(events):
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
                    client = start(command, server.address)
                    while not server.clients:
                        time.sleep(0.01)
                else:
                    arrived += end(client)
                    client = None
                turned, before, spent = time.time(), event.step, time.process_time()
            if now - first > float(seconds):
                break
        if client is not None:
            arrived += end(client)
        events.close()
    for name, kinds in (("steps a second", rates), ("CPU time a step", costs)):
        pairs = min(map(len, kinds.values()))
        ratio = np.array(kinds[True][:pairs]) / np.array(kinds[False][:pairs])
        spread = ratio.std() / max(pairs, 1) ** 0.5
        print(f"{name} with a client: {np.mean(ratio):.3f} +- {spread:.3f}, {pairs} pairs")
    late = np.array([at - times[step] for step, at in arrived if step in times])
    gaps = np.diff(sorted(at for _, at in arrived))
    gaps = gaps[gaps < period / 2]
    for name, found in (("from step to client", late), ("between snapshots", gaps)):
        low, high = np.percentile(found, [50, 95])
        print(f"{name}: median {low:.2f} s, 95% below {high:.2f} s, {len(found)} of them")


def start(command: list[str], address: str) -> Any:
    return subprocess.Popen([*command, address], stdout=subprocess.PIPE, text=True)


def end(client: Any) -> list[tuple[int, float]]:
    client.terminate()
    text = client.communicate()[0]
    lines = [line.split() for line in text.splitlines()]
    # the first one may be old: a client that comes gets the newest that there is
    return [(int(step), float(at)) for step, at in lines[1:]]


if __name__ == "__main__":
    main(*sys.argv[1:])
