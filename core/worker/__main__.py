"""python -m verdigris.core.worker: bakes as it is told on standard input. See docs/PROTOCOL.md."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import threading
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from verdigris.core.base.device import close_device
from verdigris.core.base.termination import Terminated, Termination
from verdigris.core.worker.protocol.heartbeat import Heartbeat
from verdigris.core.worker.protocol.messages import VERSION
from verdigris.core.worker.protocol.streams import Inbox, Outbox, take_standard_streams
from verdigris.core.worker.protocol.worker_events import Hello, Pixels
from verdigris.core.worker.session.session import Session

if TYPE_CHECKING:
    from typing import BinaryIO

    from verdigris.core.progress.events import Event

# What a worker whose parent is gone has yet for what it was told last.
_GRACE = 1.0
_FLUSH = 1.0


def main() -> None:
    """Serves until told to quit, until nobody is there to tell it, or until a signal ends it."""
    incoming, outgoing = take_standard_streams()
    outbox = Outbox(outgoing)

    def post(event: Event) -> None:
        if isinstance(event, Pixels):
            outbox.post(event.as_json(), event.payload(), event.replaces)
        else:
            outbox.post(event.as_json())

    post(Hello(VERSION, _version(), platform.python_version(), os.getpid()))
    inbox, ending = Inbox(), Termination()
    heartbeat = Heartbeat(post)
    session = Session(post)
    with contextlib.suppress(Terminated):
        listener = threading.Thread(target=_listen, args=(inbox, incoming, ending), daemon=True)
        listener.start()
        while not session.is_ended:
            item = inbox.take(waits=not session.has_work)
            heartbeat.touch()
            if item is not None:
                session.handle(item)
            else:
                session.work()
            heartbeat.touch(is_idle=not session.has_work)
    ending.settle()
    session.close()
    heartbeat.end()
    outbox.close(_FLUSH)
    sys.stderr.flush()
    ending.end_by_force()
    close_device()
    ending.leave()


def _listen(inbox: Inbox, stream: BinaryIO, ending: Termination) -> None:
    try:
        inbox.read(stream)
    finally:
        # The parent is gone. The session is told to quit; where it is in the middle of something
        # long, there is nobody left to wait for it.
        ending.request_end(_GRACE)


def _version() -> str:
    try:
        return version("verdigris")
    except PackageNotFoundError:
        return "unknown"


if __name__ == "__main__":
    main()
