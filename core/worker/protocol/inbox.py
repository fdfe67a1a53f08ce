"""Commands that wait to be done, filled by a thread that reads them."""

from __future__ import annotations

import threading
from collections import deque
from typing import BinaryIO

from verdigris.core.worker.protocol.commands import Command, Quit, SetImportance, View, parse
from verdigris.core.worker.protocol.messages import (
    Decoder,
    Fault,
    Message,
    ProtocolError,
    command_named,
)

_CHUNK = 1 << 16
# Of these only the newest of those that follow each other is worth doing.
_REPLACEABLE = (View, SetImportance)


class Inbox:
    """What came in, in its order: commands, and faults instead of what could not be read."""

    def __init__(self) -> None:
        self._items: deque[Command | Fault] = deque()
        self._changed = threading.Condition()

    def read(self, stream: BinaryIO) -> None:
        """Reads until the other side closes its end, which ends the worker, as does a fault of the
        reader itself."""
        try:
            self._read(stream)
        finally:
            self.put(Quit())

    def _read(self, stream: BinaryIO) -> None:
        decoder = Decoder()
        while not decoder.is_broken:
            try:
                data = stream.read(_CHUNK)
            except OSError:
                break
            if not data:
                break
            for found in decoder.feed(data):
                self.put(found if isinstance(found, Fault) else _parsed(found))
        left = decoder.end()
        if left is not None:
            self.put(left)

    def put(self, item: Command | Fault) -> None:
        with self._changed:
            last = self._items[-1] if self._items else None
            if isinstance(item, _REPLACEABLE) and type(last) is type(item):
                self._items.pop()
            self._items.append(item)
            self._changed.notify_all()

    def take(self, waits: bool) -> Command | Fault | None:
        """The next one; without waiting, None if there is none."""
        with self._changed:
            while waits and not self._items:
                self._changed.wait()
            return self._items.popleft() if self._items else None


def _parsed(message: Message) -> Command | Fault:
    try:
        return parse(message)
    except ProtocolError as failure:
        return Fault(str(failure), command=command_named(message.header))
