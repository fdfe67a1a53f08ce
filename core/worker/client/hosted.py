"""A resident worker in the place of a panel's own, whose process it looks like."""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import sys
import threading
from typing import IO, TYPE_CHECKING, cast

from verdigris.core.base.process.vitals import is_stopped
from verdigris.core.worker.resident.place import COMMAND, Place, ResidentError, is_off

if TYPE_CHECKING:
    from verdigris.core.worker.resident.place import Address


def find_hosted() -> HostedWorker | None:
    """A resident worker that is free for a panel; None without one."""
    if is_off():
        return None
    try:
        address = Place.of().read()
    except ResidentError:
        return None
    if address is None or address.kind != COMMAND:
        return None
    from verdigris.core.worker.client.resident import find_this

    found = find_this(address)
    opened = found.host() if found is not None else None
    return HostedWorker(opened, address) if opened is not None else None


class HostedWorker:
    """A connection to a resident worker, with the parts of `subprocess.Popen` that a client
    needs."""

    def __init__(self, opened: socket.socket, address: Address) -> None:
        self.pid = address.process
        self._opened = opened
        self._has_ended = threading.Event()
        self.stdin = cast(IO[bytes], opened.makefile("wb", buffering=0))
        self.stdout = cast(IO[bytes], _Output(opened, self._has_ended))
        self.stderr: IO[bytes] = io.BytesIO()

    def poll(self) -> int | None:
        """None while the connection lasts, as for a process that runs."""
        if not self._has_ended.is_set():
            return None
        killed = -int(getattr(signal, "SIGKILL", 9))
        return killed if is_stopped(self.pid) else 0

    def wait(self, timeout: float | None = None) -> int | None:
        if not self._has_ended.wait(timeout):
            raise subprocess.TimeoutExpired("worker", timeout or 0.0)
        return self.poll()

    def terminate(self) -> None:
        """Leaves the worker, which ends the session."""
        self._has_ended.set()
        try:
            self._opened.shutdown(socket.SHUT_RDWR)
        except OSError:
            # the worker has left
            return

    def kill(self) -> None:
        """Kills a worker that hangs."""
        is_lost = self._has_ended.is_set()
        self.terminate()
        if not is_lost and sys.platform != "win32":
            try:
                os.kill(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                return


class _Output:
    """What the worker sends."""

    def __init__(self, opened: socket.socket, has_ended: threading.Event) -> None:
        self._opened, self._has_ended = opened, has_ended

    def read(self, count: int) -> bytes:
        try:
            data = self._opened.recv(count)
        except OSError:
            data = b""
        if not data:
            self._has_ended.set()
        return data
