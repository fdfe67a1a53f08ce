"""Lets programs of the same user in, one bake at a time. Each program is a guest of the worker."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from verdigris.core.base.errors import VerdigrisError, reason
from verdigris.core.base.files import remove_file
from verdigris.core.base.lock import HeldError, locked
from verdigris.core.worker.protocol.messages import VERSION, encode
from verdigris.core.worker.resident.guest import Guest
from verdigris.core.worker.resident.hosted_panel import HostedPanel
from verdigris.core.worker.resident.kept import KeptTeachers
from verdigris.core.worker.resident.place import (
    COMMAND,
    Address,
    Place,
    code_stamp,
    environment_stamp,
    is_proof,
    new_token,
    proof,
)
from verdigris.core.worker.resident.wire import peer_of, read_messages

# Seconds for a program to say who it is.
_GREETING = 5.0
_WAITING = 16


class Listener:
    """Listens at the place of a device. Guests are taken in the worker's own thread."""

    def __init__(self, place: Place, kind: str, idle: float = 0.0) -> None:
        self._place, self._kind, self._idle = place, kind, idle
        self._token = new_token()
        self._held = contextlib.ExitStack()
        self._changed = threading.Condition()
        self._guest: Guest | HostedPanel | None = None
        self._is_taken = False
        self._asked_to_end = False
        self.kept = KeptTeachers()
        """Materials of the last guest."""
        self.has_room = True
        """Whether a guest may come now. A panel's own bakes come first."""
        self.wake: Callable[[], None] = lambda: None
        """Called in another thread when there is something to do."""

    def open(self) -> str:
        """Begins to listen. Returns why not, such as that another worker has the place."""
        try:
            self._held.enter_context(locked(self._place.folder, self._place.name))
            server, address = self._bind()
            self._held.callback(server.close)
            self._place.write(
                Address(
                    address, self._token, os.getpid(), code_stamp(), environment_stamp(),
                    self._kind, self._place.device, self._idle,
                )
            )  # fmt: skip
            self._held.callback(self._place.remove, self._token)
        except HeldError:
            self._held.close()
            return "another worker has the place: end that one first"
        except (OSError, VerdigrisError) as failure:
            self._held.close()
            return reason(failure)
        threading.Thread(target=self._accept, args=(server,), name="guests", daemon=True).start()
        return ""

    @property
    def guest(self) -> Guest | HostedPanel | None:
        """The guest that has the worker."""
        return self._guest

    @property
    def _is_busy(self) -> bool:
        return self._is_taken or self._asked_to_end or not self.has_room

    @property
    def is_asked_to_end(self) -> bool:
        return self._asked_to_end

    def wait(self, seconds: float) -> None:
        """Waits until there is a guest or a request to end, for at most so long."""
        with self._changed:
            if self._guest is None and not self._asked_to_end:
                self._changed.wait(seconds)

    def work(self) -> None:
        """Advances the bake of the guest."""
        if self._guest is not None and not self._guest.work():
            self.dismiss()

    def dismiss(self, why: str = "") -> None:
        """Ends the bake of the guest, which bakes on by itself from its checkpoint."""
        guest = self._guest
        if guest is None:
            return
        guest.end(why)
        with self._changed:
            self._guest, self._is_taken = None, False
        guest.close()

    def close(self) -> None:
        self.dismiss("the worker ends")
        self._held.close()

    def _bind(self) -> tuple[socket.socket, str]:
        if hasattr(socket, "AF_UNIX") and sys.platform != "win32":
            server = socket.socket(socket.AF_UNIX)
            path = self._place.socket
            remove_file(path)
            server.bind(str(path))
            path.chmod(0o600)
            address = str(path)
        else:
            server = socket.socket(socket.AF_INET)
            server.bind(("127.0.0.1", 0))
            address = str(server.getsockname()[1])
        server.listen(_WAITING)
        return server, address

    def _accept(self, server: socket.socket) -> None:
        while True:
            try:
                opened, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=self._greet, args=(opened,), name="guest", daemon=True).start()

    def _greet(self, opened: socket.socket) -> None:
        """Lets a program in that proves that it can read the file of the token."""
        with contextlib.suppress(OSError, StopIteration), opened:
            if peer_of(opened)[1] not in (None, _own_user()):
                return
            opened.settimeout(_GREETING)
            lines = read_messages(opened)
            hello = next(lines)
            nonce = new_token()
            own = proof(self._token, "worker", str(hello.get("nonce")))
            answer = {"event": "hello", "protocol": VERSION, "process": os.getpid()}
            answer |= {"busy": self._is_busy, "nonce": nonce, "proof": own}
            opened.sendall(encode(answer))
            asked = next(lines)
            if not is_proof(asked.pop("proof", None), self._token, "guest", nonce):
                return
            if asked.get("command") == "quit":
                self._end()
            elif asked.get("command") == "bake":
                self._take(opened, asked, lines)
            elif asked.get("command") == "panel" and self._kind == COMMAND:
                self._host(opened)

    def _end(self) -> None:
        with self._changed:
            self._asked_to_end = True
            self._changed.notify_all()
        self.wake()

    def _host(self, opened: socket.socket) -> None:
        """Takes a panel in, whose commands and events follow on the connection."""
        if not self._is_free_for(opened):
            return
        opened.sendall(encode({"event": "welcome"}))
        panel = HostedPanel(opened)
        self.wake = panel.wake
        self._begin(panel)
        with contextlib.suppress(OSError, ValueError):
            panel.read()
        panel.ended.wait()

    def _is_free_for(self, opened: socket.socket) -> bool:
        """Takes the worker for a guest, unless there is another one."""
        with self._changed:
            if self._is_busy:
                opened.sendall(encode({"event": "busy"}))
                return False
            self._is_taken = True
        opened.settimeout(None)
        return True

    def _begin(self, guest: Guest | HostedPanel) -> None:
        with self._changed:
            self._guest = guest
            self._changed.notify_all()
        self.wake()

    def _take(
        self, opened: socket.socket, asked: dict[str, Any], lines: Iterator[dict[str, Any]]
    ) -> None:
        if not self._is_free_for(opened):
            return
        # a panel's worker has materials of its own on the device
        kept = self.kept if self._kind == COMMAND else KeptTeachers()
        guest = Guest(opened, asked, self._place.device, kept)
        self._begin(guest)
        # until the connection ends
        with contextlib.suppress(OSError):
            for line in lines:
                guest.hear(line)
        guest.leave()
        guest.ended.wait()


def _own_user() -> int | None:
    return os.getuid() if sys.platform != "win32" else None
