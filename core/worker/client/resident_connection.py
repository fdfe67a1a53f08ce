"""The connection to a resident worker: a bake there, and whether the worker still lives."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from verdigris.core.baking.bake_job import BakeJob
from verdigris.core.baking.state.options import BakeControl
from verdigris.core.base import errors
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.process.vitals import Vitals, is_stopped
from verdigris.core.progress import Checkpointed, Event, Finished, Kept, event_of
from verdigris.core.worker.protocol.messages import Decoder, Fault, encode
from verdigris.core.worker.resident.place import COMMAND, Address, proof
from verdigris.core.worker.resident.wire import CHUNK, peer_of

# Seconds for an answer, and of silence before the process is looked at.
ANSWER, _SILENCE = 0.7, 0.7
POLL = 0.1
# Seconds without an answer and without CPU time: a compiler is silent, too, but computes.
LONGEST_IDLE = 2.0
# Seconds until a killed process has ended.
_END = 1.0


class LostWorkerError(VerdigrisError):
    """The resident worker has ended, hangs, or has given the bake back."""


class Resident:
    """A connection to a resident worker that is free."""

    def __init__(self, opened: socket.socket, address: Address, nonce: str) -> None:
        self._opened, self._address, self._nonce = opened, address, nonce
        self.has_checkpoint = False
        """Whether the bake has written a checkpoint, from which it can go on."""
        self.slower: dict[str, str] = {}
        """By bundle: why the material is slower than its graph, if it is."""

    @property
    def may_be_replaced(self) -> bool:
        """Whether nobody else starts it again."""
        return self._address.kind == COMMAND

    def bake(
        self, job: BakeJob, control: BakeControl, continues: bool, checks_speed: bool
    ) -> Generator[Event, None, None]:
        """The events of a bake. Raises LostWorkerError if the worker does not end it. A caller that
        leaves cancels the bake."""
        asked = {"command": "bake", "job": job.absolute().as_json(), "continues": continues}
        asked |= {"checks_speed": checks_speed, "proof": self._proof}
        # a bake of this process would name its results as the caller names files
        is_relative = not Path(job.folder or job.files[0]).is_absolute()
        below = f"{Path().absolute()}{os.sep}" if is_relative else ""
        with self._opened:
            try:
                self._opened.sendall(encode(asked))
                for line in self._lines(control):
                    if line.get("event") == "slower":
                        texts = dict(line["texts"])
                        self.slower = {each.removeprefix(below): texts[each] for each in texts}
                    elif line.get("event") == "done":
                        return
                    elif line.get("event") == "error":
                        raise _error_of(line)
                    elif line.get("event") in ("busy", "gone"):
                        raise LostWorkerError(str(line.get("text", "it is busy")))
                    elif (event := event_of(line)) is not None:
                        self.has_checkpoint |= isinstance(event, Checkpointed)
                        yield _named_from(below, event)
            except OSError:
                pass
        raise LostWorkerError("it has ended")

    def host(self) -> socket.socket | None:
        """Asks for a session, as for a panel. The connection, if the worker is still free: events
        come, and commands may go, from now on."""
        try:
            self._opened.sendall(encode({"command": "panel", "proof": self._proof}))
            line = b""
            while not line.endswith(b"\n") and (each := self._opened.recv(1)):
                line += each
            if line == encode({"event": "welcome"}):
                self._opened.settimeout(None)
                return self._opened
        except OSError:
            pass
        self._opened.close()
        return None

    def end(self) -> None:
        """Asks the worker to end, after its bake."""
        with contextlib.suppress(OSError), self._opened:
            self._opened.sendall(encode({"command": "quit", "proof": self._proof}))
            # until it has heard
            self._opened.settimeout(ANSWER)
            self._opened.recv(1)

    def leave(self) -> None:
        self._opened.close()

    @property
    def _proof(self) -> str:
        return proof(self._address.token, "guest", self._nonce)

    def _lines(self, control: BakeControl) -> Iterator[dict[str, Any]]:
        """The messages of the worker, until its connection ends."""
        decoder, vitals = Decoder(), Vitals(self._address.process)
        heard, is_told = time.monotonic(), False
        self._opened.settimeout(POLL)
        while not decoder.is_broken:
            if control.stop_requested and not is_told:
                self._opened.sendall(encode({"command": "finish"}))
                is_told = True
            try:
                data = self._opened.recv(CHUNK)
            except TimeoutError:
                silence = time.monotonic() - heard
                if silence > _SILENCE and self._hangs(vitals):
                    kill(self._opened, self._address)
                    raise LostWorkerError("it does not respond") from None
                continue
            if not data:
                return
            heard = time.monotonic()
            vitals.reset()
            for found in decoder.feed(data):
                if not isinstance(found, Fault):
                    yield found.header

    def _hangs(self, vitals: Vitals) -> bool:
        idle = vitals.idle_seconds()
        return is_stopped(self._address.process) or (idle is not None and idle > LONGEST_IDLE)


def _named_from(below: str, event: Event) -> Event:
    """The event with paths as from a working folder, whose name is left out."""
    if isinstance(event, Checkpointed):
        return replace(event, path=event.path.removeprefix(below))
    if isinstance(event, Kept):
        return replace(event, results=tuple(each.removeprefix(below) for each in event.results))
    if isinstance(event, Finished):
        textures = tuple(
            {name: path.removeprefix(below) for name, path in each.items()}
            for each in event.textures
        )
        results = tuple(each.removeprefix(below) for each in event.results)
        return replace(event, results=results, textures=textures)
    return event


def kill(opened: socket.socket, address: Address) -> bool:
    """Kills a worker that hangs. Not one whose number another process may have by now."""
    if sys.platform == "win32" or peer_of(opened)[0] != address.process:
        return False
    with contextlib.suppress(OSError):
        os.kill(address.process, signal.SIGKILL)
    end = time.monotonic() + _END
    while not is_stopped(address.process) and time.monotonic() < end:
        time.sleep(0.01)
    return True


def _error_of(line: dict[str, Any]) -> VerdigrisError:
    """The error that ended the bake, as the caller would have raised it."""
    kind = getattr(errors, str(line.get("kind")), VerdigrisError)
    is_plain = isinstance(kind, type) and issubclass(kind, VerdigrisError)
    text = str(line.get("text"))
    with contextlib.suppress(TypeError):
        return kind(text) if is_plain else VerdigrisError(text)
    return VerdigrisError(text)
