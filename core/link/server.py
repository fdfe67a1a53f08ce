"""The server of a live link: one thread with an event loop, beside a bake or a window.

Each client has a task of its own, which sends the newest snapshot when the client has shown the one
before. A slow client therefore skips, and no client waits for another one. What a client does wrong
ends its own link only.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import secrets
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit
from weakref import WeakSet

from verdigris.core.base.errors import reason
from verdigris.core.base.text import version
from verdigris.core.link.protocol import (
    BAD_MESSAGE,
    NEXT,
    NO_MATERIAL,
    PIECE,
    STATE,
    TOO_MANY,
    VERSION,
    WRONG_ORIGIN,
    WRONG_TOKEN,
    WRONG_VERSION,
    LinkError,
    Snapshot,
    Wanted,
    encode_head,
    encode_snapshot,
)
from verdigris.core.publish import make_page

PORT = 8748
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_CLIENTS = 64
# What a client may send.
_LARGEST_REQUEST = 4096
# Seconds between pings, and until a client without an answer is dropped.
_PING, _PATIENCE = 15.0, 30.0
_CLOSING = 3.0
_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    # its address holds the token
    "Referrer-Policy": "no-referrer",
}


@dataclass(eq=False)
class _Client:
    wanted: Wanted
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    known: dict[str, str] = field(default_factory=dict)
    """Digests of the files that the client has, of the material that it shows."""
    shown: tuple[int, Snapshot] | None = None
    state: bytes = b""
    is_ready: bool = True
    """Whether the client has shown what it was sent."""


class LinkServer:
    """Serves snapshots. All methods may be called from any thread."""

    def __init__(
        self,
        host: str = LOOPBACK[0],
        port: int = PORT,
        token: str = "",
        origins: Sequence[str] = (),
        on_clients: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`port` 0 chooses a free one. `origins` of pages may connect beside those of this
        machine. `on_clients` gets the number of clients after each change, in the server's
        thread."""
        self.token = token or secrets.token_urlsafe(16)
        self.host, self.port = host, port
        self._origins, self._on_clients = tuple(origins), on_clients
        self._newest: dict[str, tuple[int, Snapshot]] = {}
        self._chosen = ""
        self._state: dict[str, Any] = {}
        self._number = 0
        self._clients: set[_Client] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        self._page = ""
        self._fault: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="link", daemon=True)

    def start(self) -> LinkServer:
        """Begins to listen. Raises LinkError if the port cannot be had."""
        _require_library()
        begun = threading.Event()
        self._begun = begun
        self._thread.start()
        begun.wait()
        if self._fault is not None:
            fault = reason(self._fault) if isinstance(self._fault, Exception) else "ended"
            raise LinkError(
                f"the link cannot listen at {self.host}:{self.port} ({fault}): choose another port"
            )
        return self

    @property
    def address(self) -> str:
        """The address for clients."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"ws://{host}:{self.port}/?token={quote(self.token)}"

    @property
    def page(self) -> str:
        """The address of a page that shows the material in a browser."""
        return self.address.replace("ws://", "http://")

    @property
    def clients(self) -> int:
        """Number of clients that are connected."""
        return len(self._clients)

    @property
    def is_awaited(self) -> bool:
        """Whether a client has shown all that there is, and waits for a snapshot."""
        return any(each.is_ready and each.shown is self._due(each) for each in set(self._clients))

    def publish(self, snapshot: Snapshot) -> None:
        """Shows a snapshot to the clients of its material. The first material is chosen until
        `choose` chooses another."""
        self._call(self._put, snapshot)

    def choose(self, material: str) -> None:
        """The material for clients that name none."""
        self._call(self._set_chosen, material)

    def tell(self, **state: Any) -> None:
        """Tells facts to all clients: `live` are values by name of an input, `phase` is a text."""
        self._call(self._set_state, state)

    def close(self) -> None:
        """Ends all links. Waits a moment, so that clients get the newest snapshot."""
        self._call(self._finish)
        self._thread.join(3 * _CLOSING)

    def __enter__(self) -> LinkServer:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, do: Any, *values: Any) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(do, *values)

    # in the thread of the server

    def _put(self, snapshot: Snapshot) -> None:
        self._number += 1
        self._newest[snapshot.material] = self._number, snapshot
        self._chosen = self._chosen or snapshot.material
        self._wake()

    def _set_chosen(self, material: str) -> None:
        self._chosen = material
        self._wake()

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self._state = {**self._state, **state}
        self._wake()

    def _finish(self) -> None:
        if self._end is not None:
            self._end.set()

    def _wake(self) -> None:
        for client in self._clients:
            client.changed.set()

    def _due(self, client: _Client) -> tuple[int, Snapshot] | None:
        return self._newest.get(client.wanted.material or self._chosen)

    def _is_sending(self) -> bool:
        return any(client.shown is not self._due(client) for client in self._clients)

    def _state_for(self, client: _Client) -> bytes:
        chosen = client.wanted.material or self._chosen
        return encode_head(
            STATE, {"material": chosen, "materials": sorted(self._newest), **self._state}
        )

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as failure:  # noqa: BLE001
            self._fault = failure
        finally:
            self._loop = None
            self._begun.set()

    async def _serve(self) -> None:
        from websockets.asyncio.server import ServerConnection, serve
        from websockets.protocol import State

        connections: WeakSet[Any] = WeakSet()

        def connect(*values: Any, **options: Any) -> Any:
            made = ServerConnection(*values, **options)
            connections.add(made)
            return made

        logger = logging.getLogger("verdigris.link")
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
        self._end = asyncio.Event()
        async with serve(
            self._handle,
            self.host,
            self.port,
            process_request=self._answer,
            compression=None,
            max_size=_LARGEST_REQUEST,
            max_queue=1,
            open_timeout=10,
            ping_interval=_PING,
            ping_timeout=_PATIENCE,
            close_timeout=1,
            logger=logger,
            server_header=None,
            create_connection=connect,
        ) as server:
            self.port = next(iter(server.sockets)).getsockname()[1]
            self._loop = asyncio.get_running_loop()
            self._begun.set()
            await self._end.wait()
            # what was published before is put by now
            until = time.monotonic() + _CLOSING
            while self._is_sending() and time.monotonic() < until:
                await asyncio.sleep(0.02)
            server.close()
            # whoever has sent no whole request would keep the server for `open_timeout`
            for each in connections:
                transport = getattr(each, "transport", None)
                if transport is not None and each.state not in (State.OPEN, State.CLOSING):
                    transport.abort()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(server.wait_closed(), _CLOSING)

    def _answer(self, connection: Any, request: Any) -> Any:
        """The page, for a browser that asks for no WebSocket; None for one that does."""
        if "Upgrade" in request.headers:
            return None
        if urlsplit(request.path).path != "/":
            return connection.respond(404, "there is only /\n")
        if not self._is_token(Wanted.of(request.path).token):
            return connection.respond(403, "the token is wrong: copy the whole address\n")
        if not self._page:
            self._page = make_page((), "Live link", f"verdigris {version()}", is_link=True).decode()
        answer = connection.respond(200, self._page)
        for name, value in _HEADERS.items():
            answer.headers.pop(name, None)
            answer.headers[name] = value
        return answer

    def _is_token(self, found: str) -> bool:
        return hmac.compare_digest(found.encode(), self.token.encode())

    async def _handle(self, connection: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        wanted = Wanted.of(connection.request.path)
        fault = self._find_fault(wanted, connection.request.headers)
        if fault:
            await connection.close(*fault)
            return
        opened = connection.transport.get_extra_info("socket")
        # what waits in the system's buffer can no longer be skipped
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PIECE)
        client = _Client(wanted)
        self._clients.add(client)
        self._on_clients(len(self._clients))
        sending = asyncio.create_task(self._send(connection, client))
        try:
            # until the client ends, or says something else
            with contextlib.suppress(ConnectionClosed):
                while await connection.recv() == NEXT:
                    client.is_ready = True
                    client.changed.set()
                await connection.close(BAD_MESSAGE, "clients of a link say only next")
        finally:
            self._clients.discard(client)
            self._on_clients(len(self._clients))
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionClosed):
                await sending

    def _find_fault(self, wanted: Wanted, headers: Any) -> tuple[int, str] | None:
        """Why a client is refused: a code and a text; None if it is welcome."""
        origin = headers.get("Origin")
        if origin is not None and not self._is_known_origin(origin):
            return WRONG_ORIGIN, f"the page's origin {origin} is not known: allow it at the server"[
                :120
            ]
        if not self._is_token(wanted.token):
            return WRONG_TOKEN, "the token is wrong: copy the whole address of the link"
        if wanted.version != str(VERSION):
            return WRONG_VERSION, f"the link has version {VERSION}: update the client"
        if wanted.material and self._newest and wanted.material not in self._newest:
            known = ", ".join(sorted(self._newest))
            return NO_MATERIAL, f"there is no such material: use one of {known}"[:120]
        if len(self._clients) >= MOST_CLIENTS:
            return TOO_MANY, f"there are {MOST_CLIENTS} clients already: close some"
        return None

    def _is_known_origin(self, origin: str) -> bool:
        if origin in self._origins:
            return True
        try:
            found = urlsplit(origin)
            return found.scheme in ("http", "https") and (found.hostname or "") in LOOPBACK
        except ValueError:
            return False

    async def _send(self, connection: Any, client: _Client) -> None:
        """Sends what is new, one message at a time."""
        while True:
            client.changed.clear()
            state = self._state_for(client)
            if state != client.state:
                client.state = state
                await connection.send(state)
            due = self._due(client)
            if due is not None and due is not client.shown and client.is_ready:
                number, snapshot = due
                client.is_ready = False
                await connection.send(_one_by_one(encode_snapshot(snapshot, number, client.known)))
                client.known, client.shown = snapshot.digests, due
            else:
                await client.changed.wait()


def place_of(text: str) -> tuple[str, int]:
    """Host and port of HOST:PORT, of which each may be left out. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    if not colon and not port.isdecimal():
        host, port = port, ""
    number = int(port or PORT)
    if not 0 <= number <= 65535:
        raise ValueError(text)
    return host.strip("[]") or LOOPBACK[0], number


async def _one_by_one(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The fragments of a message. Each is made when the last one has left."""
    for piece in pieces:
        yield piece


def _require_library() -> None:
    try:
        import websockets.asyncio.server  # noqa: F401
    except ImportError:
        raise LinkError(
            "the package websockets is missing, which the live link needs: "
            "run pip install 'verdigris[link]'"
        ) from None


__all__ = ["LOOPBACK", "MOST_CLIENTS", "PORT", "LinkServer", "place_of"]
