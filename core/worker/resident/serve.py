"""python -m verdigris.core.worker.resident.serve DEVICE IDLE: a worker that bakes for the programs
that find it, and ends when nobody has needed it for IDLE seconds."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Generator

from verdigris.core.base.adapters import begin_driver
from verdigris.core.base.device import close_device
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.process.processor import resident_bytes, share_one_heap
from verdigris.core.base.process.termination import Terminated, Termination
from verdigris.core.worker.resident.listener import Listener
from verdigris.core.worker.resident.place import COMMAND, Place

# Seconds of a wait: a signal that comes just before a wait is handled after it.
_LONGEST_WAIT = 0.2
# Seconds after a bake in which the program waits for the next one: it keeps the materials, and
# loads no kernels meanwhile.
_REST = 20.0
# The most bytes by which the worker may grow after its first bake.
_MOST_GROWTH = 1 << 30
_DONE = object()


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
    rests_until = 0.0
    loaded: set[str] = set()
    warming = _warm(device, loaded)
    since = time.monotonic()
    while time.monotonic() - since < idle and not (
        listener.is_asked_to_end and listener.guest is None
    ):
        if listener.guest is None:
            if time.monotonic() < rests_until:
                listener.wait(_LONGEST_WAIT)
                continue
            listener.kept.forget()
            # between two parts a guest may come
            if next(warming, _DONE) is _DONE:
                listener.wait(_LONGEST_WAIT)
            continue
        # two bakes do not mix
        warming.close()
        listener.work()
        since = time.monotonic()
        if listener.guest is None:
            rests_until = since + _REST
            warming = _warm(device, loaded)
            held = resident_bytes()
            first = first or held
            if held is not None and first is not None and held > first + _MOST_GROWTH:
                return


def _warm(device: str, loaded: set[str]) -> Generator[None, None, None]:
    """Does what every bake needs first. A GPU's kernels of all presets are compiled and loaded;
    `loaded` are those that are."""
    from verdigris.core.baking.prepare import open_to_bake
    from verdigris.core.baking.state.trainers import choose_trainer
    from verdigris.core.baking.warm_up import warm_up
    from verdigris.core.settings.presets import PRESETS

    # a device that cannot be opened is reported by the bakes
    with contextlib.suppress(VerdigrisError):
        opened = open_to_bake(device)
        yield
        presets = () if opened.is_software else PRESETS[choose_trainer(opened)]
        for preset in presets:
            if preset not in loaded:
                yield from warm_up(opened, [preset], is_always=True)
                loaded.add(preset)


if __name__ == "__main__":
    main()
