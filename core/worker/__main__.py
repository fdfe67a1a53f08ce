"""python -m verdigris.core.worker [lends]: bakes by commands on standard input. See
docs/PROTOCOL.md. A worker that lends itself bakes for the command, too, while it is free."""

from __future__ import annotations

import contextlib
import sys
import threading
from importlib.util import find_spec
from typing import TYPE_CHECKING

from verdigris.core.base.adapters import begin_driver
from verdigris.core.base.device import close_device
from verdigris.core.base.errors import BROKEN_PIPE
from verdigris.core.base.process.processor import share_one_heap
from verdigris.core.base.process.termination import Terminated, Termination
from verdigris.core.base.process.worker_environment import NEEDED
from verdigris.core.worker.protocol.commands import Quit
from verdigris.core.worker.protocol.streams import Inbox, take_standard_streams
from verdigris.core.worker.resident.listener import Listener
from verdigris.core.worker.resident.place import LENDS, PANEL, Place, ResidentError, is_off
from verdigris.core.worker.session.conversation import Conversation

if TYPE_CHECKING:
    from typing import BinaryIO

    from verdigris.core.worker.session.session import Session

# Seconds for the last commands after the parent has ended.
_GRACE = 1.0
# The exit code of a program whose output is closed, as that of `bake --json`.
_OUTPUT_CLOSED = 128 + BROKEN_PIPE


def main() -> None:
    """Handles commands until a quit, the end of the input, or a signal."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        sys.exit(f"verdigris worker: {sys.executable} has no {', '.join(missing)}")
    share_one_heap()
    begin_driver()
    incoming, outgoing = take_standard_streams()

    def end_without_reader() -> None:
        # nobody waits for a bake whose output is closed, even if the input stays open
        ending.code = _OUTPUT_CLOSED
        inbox.put(Quit())
        threading.Thread(target=ending.request_end, args=(_GRACE,), daemon=True).start()

    conversation = Conversation(outgoing, end_without_reader)
    inbox, session = conversation.inbox, conversation.session
    lending = _listener(inbox) if LENDS in sys.argv[1:] else None
    # signals are handled from here on, and a reader sends them from the first message on
    ending = Termination()
    with contextlib.suppress(Terminated):
        conversation.greet()
        listener = threading.Thread(target=_listen, args=(inbox, incoming, ending), daemon=True)
        listener.start()
        while not session.is_ended:
            conversation.advance(waits=lending is None or lending.guest is None)
            if lending is not None:
                _lend(lending, session)
            conversation.rest()
    ending.settle()
    if lending is not None:
        lending.close()
    conversation.end()
    sys.stderr.flush()
    ending.end_by_force()
    close_device()
    ending.leave()


def _listener(inbox: Inbox) -> Listener | None:
    """Lets guests in; None if another worker does."""
    if is_off():
        return None
    try:
        listener = Listener(Place.of(), PANEL)
    except ResidentError:
        return None
    listener.wake = inbox.wake
    return None if listener.open() else listener


def _lend(listener: Listener, session: Session) -> None:
    """Advances the bake of a guest, which gives way to one of the panel."""
    listener.has_room = not session.is_busy
    if session.is_busy:
        listener.dismiss("the panel bakes")
    else:
        listener.work()


def _listen(inbox: Inbox, stream: BinaryIO, ending: Termination) -> None:
    try:
        inbox.read(stream)
    finally:
        # The parent has ended: the session gets a quit, and nobody waits for long work.
        ending.request_end(_GRACE)


if __name__ == "__main__":
    main()
