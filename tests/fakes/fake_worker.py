"""A fake worker: records commands, and sends the events that a test gives."""

from __future__ import annotations

from typing import Any

from verdigris.core.worker.client.client import WELL, Health
from verdigris.core.worker.protocol.messages import Message


class FakeWorker:
    """One worker process. Commands are real ones, which check their values."""

    log = ""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.arrived: list[Message] = []
        self.now = Health(WELL)
        self.ended = ""

    def send(self, command: Any) -> None:
        self.sent.append(command)

    def poll(self) -> list[Message]:
        found, self.arrived = self.arrived, []
        return found

    def health(self) -> Health:
        return self.now

    def close(self) -> None:
        self.ended = "closed"

    def kill(self) -> None:
        self.ended = "killed"

    def emit(self, event: str, **fields: Any) -> None:
        self.arrived.append(Message({"event": event, **fields}))

    def commands(self) -> list[str]:
        return [type(each).__name__ for each in self.sent]
