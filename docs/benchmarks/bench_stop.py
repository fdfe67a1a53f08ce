"""What an artist waits for after *Stop and keep*, in seconds of an otherwise idle machine.

python docs/benchmarks/bench_stop.py [FILE] [--preset standard] [--phase "small texture"]

Bakes like the panel, stops in the named phase, and prints the seconds until the bundle lies on the
disk, until the pictures show it, and until all figures are in it. The clock is that of the worker's
budget, which a busy machine hardly changes. Pauses between events are those in which a bar that
waits for events would stand still.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("VERDIGRIS_DEVICE", "software")

from runs import EXAMPLES

from verdigris.core.worker.protocol import commands as say
from verdigris.core.worker.protocol import worker_events
from verdigris.core.worker.protocol.messages import VERSION
from verdigris.core.worker.session.budget import ProcessClock
from verdigris.core.worker.session.session import Session

VIEW = {"size": 620, "aspect": 1.4, "lit_by": "studio", "shows": "wipe"}


class Watched:
    """A session, and what it posts."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.session = Session(lambda event: self.events.append(event.as_json()))

    def do(self, *commands: Any) -> None:
        for command in commands:
            self.session.handle(command)

    def last(self, name: str) -> dict[str, Any]:
        return next((each for each in reversed(self.events) if each["event"] == name), {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", default=str(EXAMPLES / "copper_tray.mtlx"))
    parser.add_argument("--preset", default="standard")
    parser.add_argument("--phase", default="small texture")
    parser.add_argument("--seconds", type=float, default=8.0, help="of that phase before the stop")
    parser.add_argument("--whole", action="store_true", help="until all figures are measured")
    options = parser.parse_args()
    watched, clock = Watched(), ProcessClock()
    session = watched.session
    watched.do(say.Hello(VERSION), say.SetView(**VIEW), say.Open(path=options.file))
    with tempfile.TemporaryDirectory() as folder:
        watched.do(say.Start(folder=folder, preset=options.preset))
        while watched.last("phase").get("name") != options.phase:
            session.work()
        begun = clock()
        while clock() - begun < options.seconds:
            session.work()
        assert watched.last("phase")["name"] == options.phase, "the phase is over"
        print(f"stopped at step {watched.last('step').get('step')}")
        begun, elapsed = clock(), time.perf_counter()
        longest, written, kept = 0.0, None, None
        watched.do(say.Finish())
        ended = (worker_events.DONE, worker_events.FAILED)
        ended = ended if options.whole else (*ended, worker_events.REFINING)
        while session.state not in ended:
            before = clock()
            session.work()
            longest = max(longest, clock() - before)
            if written is None and any(Path(folder).glob("*.vdg/manifest.json")):
                written = clock() - begun
            if kept is None and session.state == worker_events.REFINING:
                kept = clock() - begun
        done = clock() - begun
        print(watched.last("error").get("text", ""))
        print(
            f"bundle after {written or done:.1f} s, the panel is free after {kept or done:.1f} s, "
            f"all figures after {done:.1f} s"
        )
        print(f"elapsed {time.perf_counter() - elapsed:.1f} s, longest part {longest:.1f} s")
        session.close()


if __name__ == "__main__":
    main()
