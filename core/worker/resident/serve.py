"""python -m verdigris.core.worker.resident.serve DEVICE IDLE: a worker that bakes for the programs
that find it, and ends when nobody has needed it for IDLE seconds."""

from __future__ import annotations

import contextlib
import sys
import time

from verdigris.core.base.adapters import begin_driver
from verdigris.core.base.device import close_device
from verdigris.core.base.process.processor import resident_bytes, share_one_heap
from verdigris.core.base.process.termination import Terminated, Termination
from verdigris.core.worker.resident.listener import Listener
from verdigris.core.worker.resident.place import COMMAND, Place

# Seconds of a wait: a signal that comes just before a wait is handled after it.
_LONGEST_WAIT = 0.2
# The most bytes by which the worker may grow after its first bake.
_MOST_GROWTH = 1 << 30


def main() -> None:
    """Serves until it is idle, is asked to end, or gets a signal."""
    device, idle = sys.argv[1], float(sys.argv[2])
    share_one_heap()
    begin_driver(device)
    ending = Termination()
    listener = Listener(Place.of(device), COMMAND, idle)
    if why := listener.open():
        sys.exit(f"verdigris serve: {why}")
    with contextlib.suppress(Terminated):
        _serve(listener, device, idle)
    ending.settle()
    listener.close()
    sys.stderr.flush()
    ending.end_by_force()
    close_device(device)
    ending.leave()


def _serve(listener: Listener, device: str, idle: float) -> None:
    first: int | None = None
    _warm(device)
    since = time.monotonic()
    while time.monotonic() - since < idle and not (
        listener.is_asked_to_end and listener.guest is None
    ):
        if listener.guest is None:
            listener.wait(_LONGEST_WAIT)
            continue
        listener.work()
        since = time.monotonic()
        if listener.guest is None:
            held = resident_bytes()
            first = first or held
            if held is not None and first is not None and held > first + _MOST_GROWTH:
                return


def _warm(device: str) -> None:
    """Does what every bake needs first."""
    from verdigris.core.baking.prepare import open_to_bake
    from verdigris.core.material.load.mtlx_document import load_document  # noqa: F401

    # a device that cannot be opened is reported by the bakes
    with contextlib.suppress(Exception):
        open_to_bake(device)


if __name__ == "__main__":
    main()
