"""What a live picture costs the processor: drawn from the trainer's arrays, and by the device.

python docs/benchmarks/bench_live_pictures.py examples/copper_tray.mtlx
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

os.environ["VERDIGRIS_DEVICE"] = "software"

from verdigris.core.worker.drawing import painter as painting
from verdigris.core.worker.protocol import commands as say
from verdigris.core.worker.protocol.messages import VERSION
from verdigris.core.worker.session.session import Session

SIZES = (64, 96, 128, 192)
TIMES = 8
SHARE = 0.1


def milliseconds(draw: Callable[[], Any]) -> float:
    """Of all threads of this process."""
    draw()
    begun = time.process_time()
    for _ in range(TIMES):
        draw()
    return 1000 * (time.process_time() - begun) / TIMES


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = Session(lambda _: None)
        session.handle(say.Hello(VERSION))
        session.handle(say.Open(path=sys.argv[1]))
        session.handle(say.Start(folder=folder))
        while (
            session._job is None
            or session._job.run is None
            or session._show is None
            or not session._show.has_student
        ):
            session.work()
        session.work()
        run, painter = session._job.run, session._show._painter
        for size in SIZES:
            painting.LIVE_SIZES = (size,)
            here, student = run.learner.trainer.live(), run.learner.current_student()
            numpy = milliseconds(lambda here=here: painter.draw_live(here, 1, 0.01))
            device = milliseconds(lambda student=student: painter.draw_live(student, 1, 0.01))
            rate = 1000 * SHARE / numpy
            print(
                f"{size:4} x {size}: {numpy:5.1f} ms, {1e3 * numpy / size**2:.2f} us a pixel, "
                f"{rate:.1f} a second at {SHARE:.0%}; by the device {device:5.1f} ms"
            )
        session.close()


if __name__ == "__main__":
    main()
