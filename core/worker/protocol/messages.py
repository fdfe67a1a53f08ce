"""Messages between worker and panel: a line of JSON, and the raw bytes that it announces. See
docs/PROTOCOL.md. Invalid input becomes a `Fault`, and reading continues at the next line where
possible."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.json_fields import load_json

VERSION = 2
LONGEST_LINE = 1 << 20
LARGEST_PAYLOAD = 1 << 28
COMMAND, BYTES = "command", "bytes"
_SHOWN = 80


class ProtocolError(VerdigrisError):
    """An invalid message, or one in another version of the protocol."""


@dataclass(frozen=True)
class Message:
    """A header, and the pixels or text behind it."""

    header: dict[str, Any]
    payload: bytes = b""


@dataclass(frozen=True)
class Fault:
    """Input that cannot be read."""

    text: str
    is_fatal: bool = False
    """Whether reading cannot continue."""
    command: str = ""
    """The name of the command, if it is known."""


def command_named(header: dict[str, Any]) -> str:
    """The command name in a header; empty without one. The command may be unknown."""
    name = header.get(COMMAND)
    return name if isinstance(name, str) else ""


def encode(header: dict[str, Any], payload: bytes = b"") -> bytes:
    """A message as bytes."""
    if BYTES in header:
        raise ProtocolError(f"a header has its own {BYTES!r}: the reader would wait for a payload")
    if payload:
        header = {**header, BYTES: len(payload)}
    return json.dumps(header, allow_nan=False).encode() + b"\n" + payload


class Decoder:
    """Splits a stream of bytes into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._scanned = 0
        self._header: dict[str, Any] | None = None
        self._wanted = 0
        self._is_skipping = False
        self.is_broken = False

    def feed(self, data: bytes) -> Iterator[Message | Fault]:
        """The messages that these bytes complete."""
        self._buffer += data
        while not self.is_broken:
            found = self._take_payload() if self._header is not None else self._take_line()
            if found is None:
                return
            if isinstance(found, Fault):
                self.is_broken = found.is_fatal
            if not isinstance(found, _Nothing):
                yield found

    def end(self) -> Fault | None:
        """A fault if the stream ends inside a message."""
        if self.is_broken or not (self._buffer or self._header is not None):
            return None
        what = "a line has no end"
        if self._header is not None:
            what = f"{self._wanted - len(self._buffer)} bytes of pixels are missing"
        return Fault(f"the stream was closed inside a message: {what}")

    def _take_payload(self) -> Message | None:
        assert self._header is not None
        if len(self._buffer) < self._wanted:
            return None
        message = Message(self._header, bytes(self._buffer[: self._wanted]))
        del self._buffer[: self._wanted]
        self._header = None
        return message

    def _take_line(self) -> Message | Fault | _Nothing | None:
        end = self._buffer.find(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(self._buffer)
            if self._is_skipping or len(self._buffer) <= LONGEST_LINE:
                if self._is_skipping:
                    self._forget(len(self._buffer))
                return None
            self._is_skipping = True
            self._forget(len(self._buffer))
            return _too_long()
        line = bytes(self._buffer[:end])
        self._forget(end + 1)
        if self._is_skipping:
            self._is_skipping = False
            return _Nothing()
        if not line.strip():
            return _Nothing()
        # how a line is split into reads must not matter
        return _too_long() if len(line) > LONGEST_LINE else self._read_line(line)

    def _forget(self, count: int) -> None:
        del self._buffer[:count]
        self._scanned = 0

    def _read_line(self, line: bytes) -> Message | Fault | _Nothing:
        try:
            header = load_json(line, _shown(line), ProtocolError)
        except ProtocolError as failure:
            return Fault(str(failure))
        if not isinstance(header, dict):
            return Fault(f"{_shown(line)}: must be a JSON object")
        count, command = header.pop(BYTES, 0), command_named(header)
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            text = f"{BYTES} is {str(count)[:_SHOWN]!r}: use a whole number from 0 up"
            return Fault(text, command=command)
        if count > LARGEST_PAYLOAD:
            text = f"{BYTES} is {str(count)[:_SHOWN]}: at most {LARGEST_PAYLOAD}"
            return Fault(text, is_fatal=True, command=command)
        if not count:
            return Message(header)
        self._header, self._wanted = header, count
        return _Nothing()


class _Nothing:
    """A line without a message."""


def _too_long() -> Fault:
    return Fault(f"a line is longer than {LONGEST_LINE} bytes and is ignored: send a shorter line")


def _shown(line: bytes) -> str:
    text = line[:_SHOWN].decode(errors="replace")
    return repr(text) + ("…" if len(line) > _SHOWN else "")
