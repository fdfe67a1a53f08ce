"""What an artist waits for in the viewport, in seconds of an otherwise idle machine.

python docs/benchmarks/bench_live_pictures.py examples/copper_tray.mtlx

The clock is that of the worker's budget, which a busy machine hardly changes. A new view during
training: seconds to its first picture, and to one of 192 pixels. At rest: seconds to the first
picture of the reference.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

os.environ["VERDIGRIS_DEVICE"] = "software"

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.worker.protocol import commands as say
from verdigris.core.worker.protocol.messages import VERSION
from verdigris.core.worker.session.budget import ProcessClock
from verdigris.core.worker.session.session import Session

VIEW = {"size": 620, "aspect": 1.4, "lit_by": "studio", "shows": "wipe"}
SHARP = 192
TURNS = 4


class Watched:
    """A session, and the sizes of its pictures of the student."""

    def __init__(self, document: str) -> None:
        self.sizes: list[int] = []
        self.clock = ProcessClock()
        self.session = Session(self._note)
        for command in (say.Hello(VERSION), say.SetView(**VIEW), say.Open(path=document)):
            self.session.handle(command)

    def _note(self, event: Any) -> None:
        found = event.as_json()
        if found["event"] == "picture" and found["part"] == "neural":
            self.sizes.append(min(found["shape"][:2]))

    def look(self, number: int, **changes: Any) -> float:
        """Seconds to the first picture of another view."""
        begun = self.clock()
        self.session.handle(say.SetView(number=number, turn=20.0 * number, **VIEW, **changes))
        return self.clock() - begun

    def work_until_sharp(self) -> float:
        """Seconds of training to a picture of the student that is large enough."""
        self.sizes.clear()
        begun = self.clock()
        while not any(size >= SHARP for size in self.sizes):
            self.session.work()
        return self.clock() - begun


def shown(values: list[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


def main() -> None:
    watched = Watched(sys.argv[1])
    # the first one compiles
    at_rest = [watched.look(number + 1) for number in range(TURNS + 1)][1:]
    on_ball = [watched.look(number + 9, shape="ball") for number in range(TURNS + 1)][1:]
    print(f"at rest: a new view after {shown(at_rest)} s, of the shader ball {shown(on_ball)} s")
    with tempfile.TemporaryDirectory() as folder:
        changes = {"iterations": 1_000_000, "starts": 1}
        watched.session.handle(
            say.Start(folder, request=BakeRequest(preset="draft", changes=changes))
        )
        begun = watched.clock()
        while not watched.sizes:
            watched.session.work()
        print(f"first picture of the student after {watched.clock() - begun:.2f} s")
        for _ in range(TURNS):
            watched.session.work()
        first, sharp = [], []
        for number in range(TURNS):
            first.append(watched.look(number + 20))
            sharp.append(watched.work_until_sharp())
        watched.session.close()
    print(f"training: a new view after {shown(first)} s, {SHARP} pixels after {shown(sharp)} s")


if __name__ == "__main__":
    main()
