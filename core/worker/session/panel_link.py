"""The live link of a panel: it shows what the panel bakes or shows, with its live values."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.progress import Finished, Kept
from verdigris.core.worker.protocol.worker_events import Linked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from verdigris.core.link.server import LinkServer
    from verdigris.core.link.training import TrainingLink
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.progress import Event
    from verdigris.core.worker.protocol.commands import Link
    from verdigris.core.worker.session.job import Job


class PanelLink:
    """A switch, and what the link shows while it is on. It may be switched at any time."""

    def __init__(self, post: Callable[[Event], None]) -> None:
        self._post = post
        self._server: LinkServer | None = None
        self._training: TrainingLink | None = None
        self._job: Job | None = None
        self._shown = ""
        """The bundle that the panel shows."""
        self._live: dict[str, float] = {}
        self._closing: threading.Thread | None = None

    def switch(self, command: Link) -> None:
        """Opens or ends the link. The answer is an event."""
        if not command.is_on:
            self._close()
        elif self._server is None:
            try:
                self._server = self._open(command)
            except VerdigrisError as failure:
                self._post(Linked(problem=str(failure)))
                return
            self._server.tell(live=self._live)
            self._follow()
        self._tell_clients()

    def begin(self, job: Job) -> None:
        """Follows a bake."""
        self.end()
        self._job, self._shown = job, ""
        self._follow()

    def look(self, event: Event) -> None:
        if isinstance(event, Finished | Kept) and event.results:
            self._shown = str(event.results[0])
            if self._training is None:
                self._follow()
        if self._training is not None:
            self._training.look(event)

    def show(self, bundle: str) -> None:
        """Shows a bundle that the panel shows."""
        self._shown = bundle
        self._follow()

    def tell_live(self, teacher: Teacher | None, values: Sequence[float]) -> None:
        """Tells live values, which are from 0 to 1."""
        inputs = teacher.live_inputs if teacher else ()
        if len(inputs) == len(values):
            found = zip(inputs, values, strict=True)
            before = self._live
            self._live = {each.name: each.value_of(at) for each, at in found}
            if self._server is not None and self._live != before:
                self._server.tell(live=self._live)

    def end(self) -> None:
        """Ends a bake. The server stays."""
        self._job = None
        if self._training is not None:
            self._training.close()
            self._training = None

    def _follow(self) -> None:
        """Shows the bake, or the bundle."""
        if self._server is None:
            return
        if self._job is not None and not self._shown:
            from verdigris.core.link.training import TrainingLink

            self._training = TrainingLink(self._server, self._job.control, self._job.run)
        elif self._shown:
            from verdigris.core.link.snapshot import snapshot_of_bundle

            # it may have been moved away meanwhile
            with contextlib.suppress(VerdigrisError):
                snapshot = snapshot_of_bundle(Path(self._shown))
                self._server.publish(snapshot)
                self._server.choose(snapshot.material)

    def _open(self, command: Link) -> LinkServer:
        from verdigris.core.link.server import LinkServer, place_of

        if self._closing is not None:
            # it may still have the port
            self._closing.join()
        try:
            host, port = place_of(command.at)
        except ValueError:
            raise VerdigrisError(f"link: at is {command.at!r}: use HOST:PORT") from None
        values = command.token, (), self._note_clients
        try:
            return LinkServer(host, port, *values).start()
        except VerdigrisError:
            if command.at:
                raise
        # another panel or command has the usual port
        return LinkServer(host, 0, *values).start()

    def _close(self) -> None:
        """Ends the link. Clients may take a moment, for which the worker does not wait."""
        if self._training is not None:
            self._training.close()
            self._training = None
        server, self._server = self._server, None
        if server is not None:
            self._closing = threading.Thread(target=server.close, name="link end", daemon=True)
            self._closing.start()

    def _note_clients(self, _count: int) -> None:
        # in the server's thread
        self._tell_clients()

    def _tell_clients(self) -> None:
        server = self._server
        if server is None:
            self._post(Linked())
        else:
            self._post(Linked(server.address, server.page, server.clients))
