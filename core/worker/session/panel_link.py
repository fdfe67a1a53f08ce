"""The live link of a panel: it shows what the panel bakes or shows, with its live values.

It is opened when something is shown for the first time: few panels have one, and their other
workers show nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.progress import Warning

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from verdigris.core.link.server import LinkServer
    from verdigris.core.link.training import TrainingLink
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.progress import Event
    from verdigris.core.worker.session.job import Job

AT, TOKEN = "VERDIGRIS_LINK_AT", "VERDIGRIS_LINK_TOKEN"


class PanelLink:
    """Serves where the environment variable VERDIGRIS_LINK_AT says; without it, nothing happens."""

    def __init__(self, post: Callable[[Event], None]) -> None:
        self._post = post
        self._wanted = os.environ.get(AT)
        self._server: LinkServer | None = None
        self._training: TrainingLink | None = None

    def begin(self, job: Job) -> None:
        """Follows a bake."""
        self.end()
        if (server := self._open()) is not None:
            from verdigris.core.link.training import TrainingLink

            self._training = TrainingLink(server, job.control)

    def look(self, event: Event) -> None:
        if self._training is not None:
            self._training.look(event)

    def show(self, bundle: str) -> None:
        """Shows a bundle that the panel shows."""
        if (server := self._open()) is not None:
            from verdigris.core.link.snapshot import snapshot_of_bundle

            snapshot = snapshot_of_bundle(Path(bundle))
            server.publish(snapshot)
            server.choose(snapshot.material)

    def tell_live(self, teacher: Teacher | None, values: Sequence[float]) -> None:
        """Tells live values, which are from 0 to 1."""
        inputs = teacher.live_inputs if teacher else ()
        if self._server is not None and inputs and len(inputs) == len(values):
            live = {each.name: each.value_of(at) for each, at in zip(inputs, values, strict=True)}
            self._server.tell(live=live)

    def end(self) -> None:
        """Ends a bake. The server stays until the worker ends."""
        if self._training is not None:
            self._training.close()
            self._training = None

    def _open(self) -> LinkServer | None:
        """The server, if one is wanted and can be had."""
        if self._wanted is not None and self._server is None:
            from verdigris.core.link.server import LinkServer, place_of

            wanted, self._wanted = self._wanted, None
            try:
                server = LinkServer(*place_of(wanted), os.environ.get(TOKEN, ""))
                self._server = server.start()
            except (VerdigrisError, ValueError) as failure:
                self._post(Warning(f"there is no live link at {wanted}: {failure}"))
        return self._server
