"""The session of a panel that has found the worker, and needs none of its own."""

from __future__ import annotations

import contextlib
import gc
import socket
import threading
from typing import Any, BinaryIO, cast

from verdigris.core.base.process.processor import return_freed_memory
from verdigris.core.worker.protocol.commands import Quit
from verdigris.core.worker.session.conversation import Conversation


class HostedPanel:
    """Takes its turns as a `Guest` does, until the panel quits or its connection ends."""

    def __init__(self, opened: socket.socket) -> None:
        self._opened = opened
        self._stream = cast(BinaryIO, opened.makefile("wb", buffering=0))
        self._conversation = Conversation(self._stream, self.leave)
        self.ended = threading.Event()
        self._conversation.greet()

    def wake(self) -> None:
        """Ends a wait for commands."""
        self._conversation.inbox.wake()

    def read(self) -> None:
        """Reads commands up to the end of the connection."""
        with cast(BinaryIO, self._opened.makefile("rb", buffering=0)) as incoming:
            self._conversation.inbox.read(incoming)

    def hear(self, line: dict[str, Any]) -> None:
        """Commands do not come this way."""

    def leave(self) -> None:
        self._conversation.inbox.put(Quit())

    def work(self) -> bool:
        """Advances the session. False at its end."""
        self._conversation.advance()
        self._conversation.rest()
        return not self._conversation.session.is_ended

    def end(self, why: str = "") -> None:
        """Ends the session. The panel starts a worker of its own."""

    def close(self) -> None:
        self._conversation.end()
        self._stream.close()
        with contextlib.suppress(OSError):
            self._opened.shutdown(socket.SHUT_RDWR)
        self.ended.set()
        gc.collect()
        return_freed_memory()
