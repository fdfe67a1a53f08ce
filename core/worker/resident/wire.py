"""A connection to a resident worker: its messages, and who is at the other end."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from typing import Any

from verdigris.core.worker.protocol.messages import Decoder, Message

CHUNK = 1 << 16


def read_messages(opened: socket.socket) -> Iterator[dict[str, Any]]:
    """The headers of the messages of a connection, up to its end."""
    decoder = Decoder()
    while not decoder.is_broken:
        data = opened.recv(CHUNK)
        if not data:
            return
        yield from (each.header for each in decoder.feed(data) if isinstance(each, Message))


def peer_of(opened: socket.socket) -> tuple[int | None, int | None]:
    """Process and user at the other end; None where the system does not tell."""
    credentials = getattr(socket, "SO_PEERCRED", None)
    if credentials is None or opened.family != getattr(socket, "AF_UNIX", None):
        return None, None
    size = struct.calcsize("3i")
    process, user, _ = struct.unpack("3i", opened.getsockopt(socket.SOL_SOCKET, credentials, size))
    return process, user
