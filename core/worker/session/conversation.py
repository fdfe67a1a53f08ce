"""A panel's session with its streams: commands come in, events go out."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from verdigris.core.worker.protocol.messages import VERSION
from verdigris.core.worker.protocol.streams import Heartbeat, Inbox, Outbox
from verdigris.core.worker.protocol.worker_events import Hello, Pixels
from verdigris.core.worker.session.session import Session

if TYPE_CHECKING:
    from typing import BinaryIO

    from verdigris.core.progress import Event

# Seconds for the last events.
_FLUSH = 1.0


class Conversation:
    """Advances a session. All but the inbox is for one thread."""

    def __init__(self, outgoing: BinaryIO, on_closed: Callable[[], None]) -> None:
        self.inbox = Inbox()
        self._outbox = Outbox(outgoing, on_closed)
        self._heartbeat = Heartbeat(self._post)
        self.session = Session(self._post)

    def greet(self) -> None:
        """Sends the first event."""
        python = platform.python_version()
        self._post(Hello(VERSION, _version(), python, os.getpid()))

    def advance(self, waits: bool = True) -> None:
        """Handles a command, or does a part of the work. With neither, waits for a command."""
        session = self.session
        item = self.inbox.take(waits=waits and not session.has_work)
        self._heartbeat.touch()
        if item is not None:
            session.handle(item)
        elif session.has_work:
            session.work()

    def rest(self) -> None:
        """Notes that a turn has ended."""
        self._heartbeat.touch(is_idle=not self.session.has_work)

    def end(self) -> None:
        self.session.close()
        self._heartbeat.end()
        self._outbox.close(_FLUSH)

    def _post(self, event: Event) -> None:
        if isinstance(event, Pixels):
            self._outbox.post(event.as_json(), event.payload(), event.replaces)
        else:
            self._outbox.post(event.as_json())


def _version() -> str:
    try:
        return version("verdigris")
    except PackageNotFoundError:
        return "unknown"
