"""A bake for another program, whose connection gets the events."""

from __future__ import annotations

import gc
import socket
import sys
import threading
import traceback
from collections.abc import Generator
from typing import Any, BinaryIO, cast

from verdigris.core.baking.bake_job import BakeJob, with_speeds
from verdigris.core.baking.state.options import BakeControl
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.json_fields import Fields
from verdigris.core.base.process.processor import return_freed_memory
from verdigris.core.progress import Event
from verdigris.core.worker.protocol.messages import ProtocolError
from verdigris.core.worker.protocol.streams import Heartbeat, Outbox
from verdigris.core.worker.resident.kept import KeptTeachers

_FLUSH = 2.0


class Guest:
    """The bake of one program. All but `hear` and `leave` are called in the worker's own thread."""

    def __init__(
        self, opened: socket.socket, asked: dict[str, Any], device: str, kept: KeptTeachers
    ) -> None:
        self._stream = cast(BinaryIO, opened.makefile("wb", buffering=0))
        self._outbox = Outbox(self._stream, self.leave)
        self._heartbeat = Heartbeat(lambda event: self._outbox.post(event.as_json()))
        self._asked, self._device, self._kept = asked, device, kept
        self._control = BakeControl()
        self._has_left = False
        self._last: dict[str, Any] = {"event": "done"}
        self._events = self._bake()
        self.ended = threading.Event()

    def hear(self, line: dict[str, Any]) -> None:
        """A further message of the program."""
        if line.get("command") == "finish":
            self._control.stop()

    def leave(self) -> None:
        """The program has ended, or does not want the bake any more."""
        self._has_left = True

    def work(self) -> bool:
        """Advances the bake. False at its end."""
        if self._has_left:
            return False
        self._heartbeat.touch()
        try:
            event = next(self._events, None)
        except VerdigrisError as failure:
            self._last = {"event": "error", "text": str(failure), "kind": type(failure).__name__}
            return False
        except Exception as failure:  # noqa: BLE001 - a fault of a bake must not end the worker
            traceback.print_exception(failure, file=sys.stderr)
            self._last = {"event": "error", "text": f"internal error: {failure!r}", "kind": ""}
            return False
        if event is not None:
            self._outbox.post(event.as_json())
        return event is not None

    def end(self, why: str = "") -> None:
        """Ends the bake, and releases what it holds. With a reason, the program bakes on by
        itself."""
        self._events.close()
        if why:
            self._last = {"event": "gone", "text": why}

    def close(self) -> None:
        """Tells the program how its bake has ended: it may ask for another one at once."""
        self._outbox.post(self._last)
        self._heartbeat.end()
        self._outbox.close(_FLUSH)
        self._stream.close()
        self.ended.set()
        # what it held on the device is released with it
        gc.collect()
        return_freed_memory()

    def _say(self, **values: Any) -> None:
        self._outbox.post(values)

    def _bake(self) -> Generator[Event, None, None]:
        from verdigris.core.baking.prepare import open_to_bake

        job = Fields("bake", "", dict(self._asked.get("job") or {}), ProtocolError)
        opened = BakeJob.from_json(job).open()
        prepared = self._kept.prepare(opened, open_to_bake(self._device))
        run = prepared.continued if self._asked.get("continues") else prepared.bake
        slower: dict[str, str] | None = {} if self._asked.get("checks_speed") else None
        for event in with_speeds(run(self._control), prepared.teachers, slower):
            if slower:
                self._say(event="slower", texts=slower)
            yield event
